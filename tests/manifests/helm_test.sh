#!/bin/bash
# Helm 3 and 4 install, upgrade, roll back and uninstall the chart on a real control plane, as docs/install.md and docs/upgrade.md
# say: needs what tools/cluster needs. What the chart renders is tests/manifests/chart_test.py's. Not part of ctest.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(mktemp -d)
readonly ROOT WORK
readonly NAME=compute-domain-operator
readonly NODES=compute-domain-nodes

cluster() { "$ROOT/tools/cluster" --dir "$WORK/cluster" "$@"; }
kubectl() { "$WORK/cluster/kubectl" "$@"; }
helm() { "$ROOT/tools/helm" "$major" "$@"; }

clean_up() {
  cluster down || true
  rm -rf "$WORK"
}
trap clean_up EXIT

passed=0
major=

# The first failure is the last test.
fail() {
  echo "FAILED: ${major:+Helm $major: }$*" >&2
  echo "$passed passed, 1 failed"
  exit 1
}

refused() {
  local message=$1 output code=0
  shift
  output=$("$@" 2>&1) || code=$?
  is_equal "the exit code of '$*'" 1 "$code"
  [[ $output == *"$message"* ]] || fail "'$*' was refused without '$message': $output"
}

# A Helm command that succeeds, and of which neither Helm nor the API server complains.
helm_quietly() {
  helm "$@" >"$WORK/out" 2>"$WORK/warnings" || fail "helm $*: $(<"$WORK/warnings")"
  [ ! -s "$WORK/warnings" ] || fail "helm $*: $(<"$WORK/warnings")"
}

# The commands of a block of a page: the first one with the word $2.
commands_of() { # PAGE WORD
  awk -v word="$2" '/^```/ { if (inside && index(block, word)) { printf "%s", block; exit } inside = !inside; block = ""; next }
                    inside { block = block $0 "\n" }' "$ROOT/$1"
}

# One after the other, until one fails.
run_commands_of() { # PAGE WORD
  local commands command
  commands=$(commands_of "$1" "$2" | sed -e ':join' -e '/\\$/ { N; s/\\\n//; b join }' -e 's/  *#.*//')
  [ -n "$commands" ] || fail "$1 has no block with $2"
  pushd "$WORK/checkout" >/dev/null
  while IFS= read -r command; do
    eval "$command" >"$WORK/out" 2>"$WORK/errors" </dev/null || fail "$1: $command: $(<"$WORK/errors")"
  done <<<"$commands"
  popd >/dev/null
}

of_workload() { # KIND/NAME JQ-FILTER, of its container
  local namespace=$NODES
  [[ $1 != deployment/* ]] || namespace=$NAME
  kubectl get "$1" -n "$namespace" -o json | jq -r ".spec.template.spec.containers[0] | $2"
}

is_equal() { # WHAT WANTED GOT
  [ "$2" = "$3" ] || fail "$1: wanted '$2', got '$3'"
}

replicas() { kubectl get deployment compute-domain-controller -n "$NAME" -o 'jsonpath={.spec.replicas}'; }

# Everything in the cluster that the release's labels name.
of_the_release() {
  local kinds
  kinds=$(kubectl api-resources --verbs=list -o name | grep -vx -e 'events.*' -e componentstatuses -e endpoints | paste -sd,)
  kubectl get "$kinds" --all-namespaces --ignore-not-found -o name -l "app.kubernetes.io/instance=$NAME"
}

set_up() {
  export KUBECONFIG
  KUBECONFIG=$(cluster up | tail -1)
  KUBECONFIG=${KUBECONFIG#*KUBECONFIG=}
  mkdir -p "$WORK/checkout"
  ln -s "$ROOT/manifests" "$WORK/checkout/manifests"
  # As Helm has it, its caches and settings are below HOME.
  export HELM_CACHE_HOME=$WORK/helm HELM_CONFIG_HOME=$WORK/helm HELM_DATA_HOME=$WORK/helm
}

the_page_installs_it() {
  run_commands_of docs/install.md "helm install"
  grep -q "rollout status -n $NAME deployment/compute-domain-controller" "$WORK/out" || fail "its notes: $(<"$WORK/out")"
  kubectl wait --for=condition=Established crd/computedomains.resource.nvidia.com --timeout=30s >/dev/null
  is_equal "the image" registry.example.com/compute-domain-agent:0.2.0 "$(of_workload daemonset/compute-domain-agent .image)"
  is_equal "the level of $NAME" restricted \
    "$(kubectl get namespace "$NAME" -o 'jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}')"
  kubectl create -f - >/dev/null <<<"{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, metadata: {name: kept}, spec: {numNodes: 2}}"
}

an_upgrade_with_a_wrong_value_changes_nothing() {
  refused "additional properties 'replica' not allowed" helm upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --set controller.replica=3
  refused "imex.isolation=channel needs gpuCliqueLabel.enabled=false" \
    helm upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --reuse-values --set imex.isolation=channel
  is_equal "the controllers" 2 "$(replicas)"
}

# Of the daemons, that is: Helm deletes what the values do not name any more.
an_upgrade_that_would_end_them_all_is_refused() {
  local before
  before=$(uids)
  refused "namespaces.nodes.name is other, but this release's IMEX daemons run in the namespace $NODES" \
    helm upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --reuse-values --set namespaces.nodes.name=other
  refused "namespaces.nodes.create is false, but this release has made the namespace $NODES" \
    helm upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --reuse-values --set namespaces.nodes.create=false
  kubectl annotate namespace "$NODES" helm.sh/resource-policy=keep >/dev/null
  helm_quietly upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --reuse-values --set namespaces.nodes.create=false
  is_equal "Deployment and DaemonSets" "$before" "$(uids)"
  is_equal "the namespace" Active "$(kubectl get namespace "$NODES" -o 'jsonpath={.status.phase}')"
  kubectl annotate namespace "$NODES" helm.sh/resource-policy- >/dev/null
  helm_quietly upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --reuse-values --set namespaces.nodes.create=true
}

an_upgrade_does_what_the_values_say() {
  helm_quietly upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --reuse-values --set controller.replicas=3 \
    --set gpuCliqueLabel.enabled=false --set imex.isolation=channel --set metrics.tls.enabled=true --set sharedClaims.enabled=true
  is_equal "the controllers" 3 "$(replicas)"
  is_equal "the isolation" channel "$(of_workload daemonset/compute-domain-agent '.env[] | select(.name == "IMEX_ISOLATION").value')"
  is_equal "the scheme" HTTPS "$(of_workload deployment/compute-domain-controller .livenessProbe.httpGet.scheme)"
  kubectl get clusterrole compute-domain-metrics-auth >/dev/null
  kubectl get deviceclass compute-domain-shared-channel.nvidia.com >/dev/null
  is_equal "the image" registry.example.com/compute-domain-agent:0.2.0 "$(of_workload daemonset/compute-domain-agent .image)"
}

a_rollback_takes_it_back() {
  helm_quietly rollback "$NAME" 1 -n "$NAME"
  is_equal "the controllers" 2 "$(replicas)"
  is_equal "the isolation" "" "$(of_workload daemonset/compute-domain-agent '.env[] | select(.name == "IMEX_ISOLATION").value')"
  is_equal "the scheme" HTTP "$(of_workload deployment/compute-domain-controller .livenessProbe.httpGet.scheme)"
  refused "not found" kubectl get clusterrole compute-domain-metrics-auth
  refused "not found" kubectl get deviceclass compute-domain-shared-channel.nvidia.com
}

uninstalling_leaves_the_crds_and_the_domains() {
  local left
  helm uninstall "$NAME" -n "$NAME" >/dev/null 2>&1
  kubectl wait --for=delete "namespace/$NODES" --timeout=60s >/dev/null
  left=$(of_the_release | sort | paste -sd' ')
  is_equal "what is left" "$(printf 'customresourcedefinition.apiextensions.k8s.io/%s.resource.nvidia.com ' \
    computedomaincliques computedomainnodes computedomains | sed 's/ $//')" "$left"
  kubectl get computedomain kept >/dev/null
}

what_was_left_belongs_to_the_next_release() {
  helm_quietly install "$NAME" "$WORK"/checkout/*.tgz -n "$NAME"
  kubectl get computedomain kept >/dev/null
  kubectl delete computedomain kept >/dev/null
}

# Nothing of the operator is left.
clean() {
  helm uninstall "$NAME" -n "$NAME" >/dev/null 2>&1
  kubectl wait --for=delete "namespace/$NODES" --timeout=60s >/dev/null
  kubectl delete crd --all >/dev/null
  kubectl delete namespace "$NAME" >/dev/null
}

uids() { kubectl get deployments,daemonsets --all-namespaces -o 'jsonpath={.items[*].metadata.uid}'; }

what_kustomize_has_installed_becomes_a_release() {
  local before
  mkdir "$WORK/my-cluster"
  echo '{resources: [../checkout/manifests/default], components: [../checkout/manifests/metrics-tls]}' >"$WORK/my-cluster/kustomization.yaml"
  kubectl apply --server-side -k "$WORK/my-cluster" >/dev/null
  before=$(uids)
  refused "invalid ownership metadata" helm install "$NAME" "$WORK"/checkout/*.tgz -n "$NAME"
  major=3 helm_quietly install "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --take-ownership --dry-run=server
  run_commands_of docs/upgrade.md "take-ownership"
  is_equal "Deployment and DaemonSets" "$before" "$(uids)"
  is_equal "who manages them" Helm "$(kubectl get daemonset compute-domain-imex -n "$NODES" -o 'jsonpath={.metadata.labels.app\.kubernetes\.io/managed-by}')"
  run_commands_of docs/upgrade.md 'eq "Helm"'
  is_equal "Deployment and DaemonSets" "$before" "$(uids)"
  is_equal "what the values do not have" "" "$(of_workload daemonset/compute-domain-agent '.env[].name | select(startswith("METRICS_TLS"))')"
  is_equal "who has applied it" helm "$(kubectl get daemonset compute-domain-agent -n "$NODES" -o 'jsonpath={.metadata.managedFields[?(@.operation=="Apply")].manager}' --show-managed-fields)"
}

a_release_of_helm_3_is_upgraded_by_helm_4() {
  helm_quietly upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME" --set controller.replicas=3
  is_equal "the controllers" 3 "$(replicas)"
}

# As a release from Kubernetes 1.33 is stored: its device classes are in a version that this API server does not serve.
make_the_release_older() {
  local secret
  secret=$(kubectl get secrets -n "$NAME" -l owner=helm,status=deployed -o name)
  kubectl get "$secret" -n "$NAME" -o json | python3 -c '
import base64, gzip, json, sys
release = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(json.load(sys.stdin)["data"]["release"]))))
release["manifest"] = release["manifest"].replace("resource.k8s.io/v1\n", "resource.k8s.io/v1beta1\n")
stored = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(release).encode()))).decode()
print(json.dumps({"data": {"release": stored}}))' >"$WORK/older"
  kubectl patch "$secret" -n "$NAME" --type merge --patch-file "$WORK/older" >/dev/null
}

a_release_of_kubernetes_1_33_becomes_one_of_this_version() {
  local before
  before=$(uids)
  make_the_release_older
  refused 'no matches for kind "DeviceClass" in version "resource.k8s.io/v1beta1"' helm upgrade "$NAME" "$WORK"/checkout/*.tgz -n "$NAME"
  run_commands_of docs/upgrade.md "owner=helm"
  is_equal "Deployment and DaemonSets" "$before" "$(uids)"
  is_equal "the controllers" 3 "$(replicas)"
}

run() { # TEST…
  local test
  for test in "$@"; do
    "$test"
    passed=$((passed + 1))
    echo "ok      Helm $major: $test"
  done
}

the_life_of_a_release() {
  run the_page_installs_it an_upgrade_with_a_wrong_value_changes_nothing an_upgrade_that_would_end_them_all_is_refused an_upgrade_does_what_the_values_say a_rollback_takes_it_back \
    uninstalling_leaves_the_crds_and_the_domains what_was_left_belongs_to_the_next_release
}

set_up
major=3
the_life_of_a_release
major=4
run a_release_of_helm_3_is_upgraded_by_helm_4 a_release_of_kubernetes_1_33_becomes_one_of_this_version
clean
the_life_of_a_release
clean
run what_kustomize_has_installed_becomes_a_release
echo "$passed passed, 0 failed"
