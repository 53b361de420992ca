#!/bin/bash
# Shows on a real control plane that crds/ and manifests/ are accepted and mean what they say: needs what
# tools/cluster needs. Not part of ctest.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(mktemp -d)
readonly ROOT WORK
readonly NODES=compute-domain-nodes

cluster() { "$ROOT/tools/cluster" --dir "$WORK/cluster" "$@"; }
kubectl() { "$WORK/cluster/kubectl" "$@"; }

clean_up() {
  cluster down || true
  rm -rf "$WORK"
}
trap clean_up EXIT

passed=0

# The first failure is the last test.
fail() {
  echo "FAILED: $*" >&2
  echo "$passed passed, 1 failed"
  exit 1
}

refused() {
  local message=$1 output
  shift
  if output=$("$@" 2>&1); then fail "'$*' was not refused"; fi
  [[ $output == *"$message"* ]] || fail "'$*' was refused without '$message': $output"
}

# Within 20 s: an admission policy takes effect some time after it is created.
eventually_refused() {
  local attempt
  for attempt in {1..40}; do
    if ! "${@:2}" >/dev/null 2>&1; then break; fi
    sleep 0.5
  done
  refused "$@"
}

# As the agent in the pod of node $1; the token of a pod tells the API server the pod's node.
as_agent_of() {
  local node=$1
  shift
  kubectl "$@" --token="$(<"$WORK/token-$node")" --kubeconfig="$WORK/anonymous"
}

# As the agent does it: kubectl would read the object first, which an agent has no right to.
report_boot() { # WHOSE TOKEN, NODE, BOOT
  local cluster
  cluster=$(jq '.clusters[].cluster' "$WORK/anonymous")
  jq -r '."certificate-authority-data"' <<<"$cluster" | base64 -d >"$WORK/ca"
  curl --silent --show-error --fail-with-body --cacert "$WORK/ca" -X PATCH \
    -H "Authorization: Bearer $(<"$WORK/token-$1")" -H 'Content-Type: application/merge-patch+json' \
    --data "{\"status\": {\"bootID\": \"$3\"}}" \
    "$(jq -r .server <<<"$cluster")/apis/resource.nvidia.com/v1beta1/computedomainnodes/$2/status"
}

report() {
  printf '{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomainNode, metadata: {name: %s, annotations: {%s}}}' \
    "$1" "${2:-}"
}

slice() { # NODE DRIVER [POOL]
  printf '{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: %s}, spec: {driver: %s, nodeName: %s,
    pool: {name: %s, generation: 1, resourceSliceCount: 1}, devices: []}}' "$1-$2" "$2" "$1" "${3:-$1}"
}

create() { # $1: the object, $2…: who does it
  local object=$1
  shift
  "$@" create -f - <<<"$object" >/dev/null
}

set_up() {
  cluster up >/dev/null
  kubectl apply --server-side -k "$ROOT" >/dev/null
  kubectl wait --for=condition=Established crd --all --timeout=30s >/dev/null
  kubectl config view --raw --minify -o json | jq '.users[].user = {}' >"$WORK/anonymous"
  local node
  for node in n1 n2; do
    kubectl create -f - >/dev/null <<<"{apiVersion: v1, kind: Node, metadata: {name: $node}}"
    kubectl create -f - >/dev/null <<END
{apiVersion: v1, kind: Pod, metadata: {name: agent-$node, namespace: $NODES},
 spec: {serviceAccountName: compute-domain-agent, nodeName: $node, containers: [{name: agent, image: none}]}}
END
    kubectl create token compute-domain-agent -n "$NODES" --bound-object-kind Pod \
      --bound-object-name "agent-$node" >"$WORK/token-$node"
  done
  kubectl create token compute-domain-agent -n "$NODES" >"$WORK/token-unbound"
}

expressions_of_policies_have_their_types() {
  local problems
  problems=$(kubectl get validatingadmissionpolicies -o json | jq -r '.items[].status.typeChecking.expressionWarnings // [] | .[].warning')
  [ -z "$problems" ] || fail "$problems"
}

an_agent_reports_of_its_own_node_only() {
  eventually_refused 'may not write the ComputeDomainNode' create "$(report other)" as_agent_of n1
  refused 'may not write the ComputeDomainNode n2' create "$(report n2)" as_agent_of n1
  refused 'may not write the ComputeDomainNode' create "$(report n1)" as_agent_of unbound
  create "$(report n1)" as_agent_of n1
  report_boot n1 n1 b1 >/dev/null
  refused 'may not write the ComputeDomainNode n1' report_boot n2 n1 b2
}

only_an_administrator_says_that_a_node_is_fenced() {
  refused 'may not set resource.nvidia.com/fenced' create "$(report n2 'resource.nvidia.com/fenced: b')" as_agent_of n2
  refused 'cannot patch resource "computedomainnodes"' as_agent_of n1 annotate cdn n1 resource.nvidia.com/fenced=b1
  kubectl annotate cdn n1 resource.nvidia.com/fenced=b1 >/dev/null
  report_boot n1 n1 b3 >/dev/null
}

an_agent_publishes_slices_of_its_own_node_only() {
  eventually_refused 'may not write ResourceSlices of another node' \
    create "$(slice n2 compute-domain.nvidia.com)" as_agent_of n1
  refused 'of compute-domain.nvidia.com only' create "$(slice n1 other.example.com)" as_agent_of n1
  refused 'may not publish devices in the pool "n2"' create "$(slice n1 compute-domain.nvidia.com n2)" as_agent_of n1
  create "$(slice n1 compute-domain.nvidia.com)" as_agent_of n1
  refused 'may not write ResourceSlices of another node' \
    as_agent_of n2 delete resourceslice n1-compute-domain.nvidia.com
  as_agent_of n1 delete resourceslice n1-compute-domain.nvidia.com >/dev/null
}

# All that a kustomization has, as the API server would store it.
stored() { kubectl apply --server-side --dry-run=server -k "$ROOT/manifests/$1" -o json; }

# The default with these components, in a directory of its own, as users have it.
stored_with() {
  local manifests components
  mkdir -p "$WORK/with-$1"
  manifests=$(realpath --relative-to "$WORK/with-$1" "$ROOT/manifests")
  components=$(printf ", $manifests/%s" "$@")
  echo "{resources: [$manifests/default], components: [${components#, }]}" >"$WORK/with-$1/kustomization.yaml"
  kubectl apply --server-side --dry-run=server -k "$WORK/with-$1" -o json
}

# The names that the device classes of a List on stdin give their devices.
extended_names() {
  jq -r '.items[] | select(.kind == "DeviceClass" and .spec.extendedResourceName) | "\(.metadata.name)=\(.spec.extendedResourceName)"'
}

every_kustomization_for_this_version_is_accepted() {
  local name
  for name in default test; do
    stored "$name" >"$WORK/$name.json" 2>"$WORK/warnings" || fail "$name: $(<"$WORK/warnings")"
    [ ! -s "$WORK/warnings" ] || fail "$name: $(<"$WORK/warnings")"
  done
}

# The Prometheus operator's CustomResourceDefinitions, of the module in tests/monitoring/definitions whose go.mod is $1.
define_monitors() {
  local definitions
  definitions=$("$ROOT/tests/monitoring/definitions/folder" "$1")
  kubectl delete crd --ignore-not-found {servicemonitors,prometheusrules}.monitoring.coreos.com >/dev/null
  kubectl create -f "$definitions/monitoring.coreos.com_servicemonitors.yaml" -f "$definitions/monitoring.coreos.com_prometheusrules.yaml" >/dev/null
  kubectl wait --for=condition=Established crd --all --timeout=30s >/dev/null
}

# A command that succeeds, and of which the API server does not complain.
quietly() {
  "$@" >/dev/null 2>"$WORK/warnings" || fail "$*: $(<"$WORK/warnings")"
  [ ! -s "$WORK/warnings" ] || fail "$*: $(<"$WORK/warnings")"
}

every_component_is_accepted() {
  local name
  define_monitors go.mod
  for name in gpu-clique-label shared-claims compute-domain-cliques extended-resource gpu-operator isolation-channel host-managed imex-tls imex-metrics \
    monitoring metrics-tls debug-page without-pods-api; do
    stored_with "$name" >"$WORK/with-$name.json" 2>"$WORK/warnings" || fail "$name: $(<"$WORK/warnings")"
    [ ! -s "$WORK/warnings" ] || fail "$name: $(<"$WORK/warnings")"
  done
  quietly stored_with imex-metrics metrics-tls imex-metrics/tls
}

# With each value of the chart's that ServiceMonitors, alerts or dashboard have; by the chart as it is published, without links.
monitoring_by_helm() {
  [ -d "$WORK/chart" ] || "$ROOT/tools/helm" package "$ROOT/manifests/helm/compute-domain-operator" --destination "$WORK/chart" >/dev/null 2>"$WORK/warnings" ||
    fail "helm package: $(<"$WORK/warnings")"
  "$ROOT/tools/helm" template compute-domain-operator "$WORK"/chart/*.tgz --namespace compute-domain-operator --kube-version 1.37 \
    --set metrics.monitors.enabled=true,metrics.monitors.interval=15s,metrics.monitors.labels.release=prometheus \
    --set metrics.rules.enabled=true,metrics.rules.labels.release=prometheus,metrics.rules.runbookUrl=https://wiki.example.com/page.md \
    --set metrics.dashboard.enabled=true "$@"
}

apply_strictly() { kubectl apply --server-side --dry-run=server --validate=strict -f "$1"; }

# The oldest one that docs/monitoring.md names, and the newest.
the_prometheus_operator_knows_every_field() {
  local operator field
  monitoring_by_helm >"$WORK/helm.yaml"
  monitoring_by_helm --set metrics.tls.enabled=true,imex.metrics.enabled=true >"$WORK/helm-tls.yaml"
  for operator in go-0.66.mod go.mod; do
    define_monitors "$operator"
    # metrics-tls changes the ServiceMonitors.
    quietly stored_with imex-metrics monitoring metrics-tls imex-metrics/tls
    quietly apply_strictly "$WORK/helm.yaml"
    quietly apply_strictly "$WORK/helm-tls.yaml"
    # So that a definition which takes everything is no proof.
    for field in interval honorLabels serverName targetLabel keep_firing_for; do
      sed "s/^\( *\(- \)\?$field\):/\1s:/" "$WORK/helm-tls.yaml" >"$WORK/misspelt.yaml"
      refused "${field}s: field not declared in schema" apply_strictly "$WORK/misspelt.yaml"
    done
  done
}

# Not a field that the API server passes over, as it does where the feature gate is off.
the_device_class_has_a_name_for_limits_only_where_that_is_asked_for() {
  local class=compute-domain-default-channel.nvidia.com named
  named=$(extended_names <"$WORK/default.json")
  [ -z "$named" ] || fail "by default: $named"
  named=$(extended_names <"$WORK/with-extended-resource.json")
  [ "$named" = "$class=nvidia.com/compute-domain" ] || fail "with extended-resource: $named"
}

# A pod of the workload $1 of manifests/default, in its namespace or in $2.
pod_of() {
  jq --arg name "$1" --arg namespace "${2:-}" '.items[] | select(.metadata.name == $name and .spec.template) |
      {apiVersion: "v1", kind: "Pod", metadata: (.metadata | {name, namespace: (if $namespace == "" then .namespace else $namespace end)}),
       spec: (.spec.template.spec | del(.serviceAccountName, .serviceAccount, .priorityClassName))}' "$WORK/default.json"
}
create_dry() { kubectl create --dry-run=server -f - <<<"$1"; }

# As Pod Security admission has it.
each_namespace_admits_its_own_pods_only() {
  local name
  kubectl wait --for=create serviceaccount/default -n compute-domain-operator --timeout=30s >/dev/null
  for name in controller agent imex; do create_dry "$(pod_of "compute-domain-$name")" >/dev/null; done
  for name in agent imex; do
    refused 'violates PodSecurity "restricted:latest"' create_dry "$(pod_of "compute-domain-$name" compute-domain-operator)"
  done
}

every_example_is_accepted() {
  local example
  # The MPI Operator's CustomResourceDefinition, or what stands for it.
  kubectl apply -f "$ROOT/tests/workloads/mpijob-definition.yaml" >/dev/null
  kubectl wait --for=condition=Established crd/mpijobs.kubeflow.org --timeout=30s >/dev/null
  for example in "$ROOT"/manifests/examples/*.yaml "$ROOT"/manifests/examples/recipe/*.yaml; do
    kubectl apply --dry-run=server -f "$example" >/dev/null
  done
}

set_channel() {
  kubectl patch cd "$1" --type merge -p "{\"spec\": {\"channel\": $2}}"
}

# A domain of team-a's: NAME, and the rest of its spec. Gives what kubectl prints.
applied() { kubectl apply -f - 2>&1 <<<"{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, metadata: {name: $1}, spec: {$2}}"; }
template() { echo "channel: {resourceClaimTemplate: {name: $1}}"; }
warned() { # TEXT OUTPUT
  [[ $2 == *Warning:*"$1"* ]] || fail "no warning '$1': $2"
}
# Within 20 s, as eventually_refused: kubectl is asked until it warns.
eventually_warned() { # TEXT COMMAND…
  local attempt output=
  for attempt in {1..40}; do
    output=$("${@:2}" 2>&1)
    if [[ $output == *"$1"* ]]; then break; fi
    sleep 0.5
  done
  warned "$1" "$output"
}

people_are_warned_of_what_they_may_not_mean() {
  local output
  echo '{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, metadata: {name: none}, spec: {numNodes: 0}}' >"$WORK/none.yaml"
  eventually_warned 'spec.numNodes is 0, so the domain is Ready as soon as' kubectl create --dry-run=server -f "$WORK/none.yaml"
  output=$(applied advised "numNodes: 0, $(template advised-channel)")
  warned 'spec.numNodes is 0' "$output"
  output=$(kubectl label cd advised team=a 2>&1)
  [[ $output != *Warning* ]] || fail "a label is warned of: $output"
  output=$(applied advised "numNodes: 2, $(template advised-channel)")
  [[ $output == *configured* && $output != *Warning* ]] || fail "with numNodes: $output"
  output=$(applied misnamed "numNodes: 1, $(template Train_Channel)")
  warned 'cannot be the name of a ResourceClaimTemplate' "$output"
  [[ $output == *created* ]] || fail "a warning refuses: $output"
}

who_deletes_a_domain_in_use_is_warned() {
  local output
  applied used "numNodes: 1, $(template used-channel)" >/dev/null
  output=$(kubectl delete cd used --dry-run=server 2>&1)
  [[ $output != *Warning* ]] || fail "a domain without nodes: $output"
  kubectl patch cd used --subresource status --type merge \
    -p '{"status": {"nodes": [{"name": "n1", "ipAddress": "10.0.0.1", "cliqueID": "c", "index": 0, "status": "Ready"}]}}' >/dev/null
  eventually_warned '1 node is in ComputeDomain used: it stays until the pods there' kubectl delete cd used --dry-run=server
}

one_clique_needs_a_number_of_nodes() {
  echo "{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, metadata: {name: alone}, spec: {placement: {clique: Single}}}" >"$WORK/alone.yaml"
  eventually_refused 'spec.placement.clique=Single requires spec.numNodes' kubectl create --dry-run=server -f "$WORK/alone.yaml"
  applied alone "numNodes: 2, placement: {clique: Single}, $(template alone-channel)" >/dev/null
  refused 'requires spec.numNodes' kubectl patch cd alone --type merge -p '{"spec": {"numNodes": 0}}'
}

the_channel_of_a_domain_is_immutable() {
  kubectl apply -f "$ROOT/manifests/examples/two-nodes.yaml" >/dev/null
  kubectl patch cd two-nodes --type merge -p '{"spec": {"numNodes": 3}}' >/dev/null
  refused 'spec.channel is immutable' set_channel two-nodes '{"allocationMode": "All"}'
  refused 'spec.channel is immutable' set_channel two-nodes null
  refused 'spec cannot be taken away' kubectl patch cd two-nodes --type merge -p '{"spec": null}'
}

a_domain_may_do_without_a_channel_and_a_spec_may_come_later() {
  local kind='apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain'
  local channel='{"resourceClaimTemplate": {"name": "x"}}'
  create "{$kind, metadata: {name: bare}, spec: {numNodes: 2}}" kubectl
  refused 'spec.channel is immutable' set_channel bare "$channel"
  create "{$kind, metadata: {name: later}}" kubectl
  set_channel later "$channel" >/dev/null
}

set_up
for test in \
  expressions_of_policies_have_their_types \
  an_agent_reports_of_its_own_node_only \
  only_an_administrator_says_that_a_node_is_fenced \
  an_agent_publishes_slices_of_its_own_node_only \
  every_kustomization_for_this_version_is_accepted \
  every_component_is_accepted \
  the_prometheus_operator_knows_every_field \
  the_device_class_has_a_name_for_limits_only_where_that_is_asked_for \
  each_namespace_admits_its_own_pods_only \
  every_example_is_accepted \
  people_are_warned_of_what_they_may_not_mean \
  who_deletes_a_domain_in_use_is_warned \
  one_clique_needs_a_number_of_nodes \
  the_channel_of_a_domain_is_immutable \
  a_domain_may_do_without_a_channel_and_a_spec_may_come_later; do
  "$test"
  passed=$((passed + 1))
  echo "ok      $test"
done
echo "$passed passed, 0 failed"
