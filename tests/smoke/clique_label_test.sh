#!/usr/bin/env bash
# The label nvidia.com/gpu.clique on a real control plane, with the rights and the policy that are shipped: it follows
# the node's ResourceSlice, and what somebody else has written is left. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=${CDOM_BUILD:-build/release}/bin
work=$(mktemp -d)
controller=
cleanup() {
  [ -z "$controller" ] || kill "$controller" 2>/dev/null
  tools/cluster --dir "$work/cluster" down >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT
kubectl() { "$work/cluster/kubectl" "$@"; }

install() {
  local manifests
  manifests=$(realpath --relative-to "$work" manifests)
  cat >"$work/kustomization.yaml" <<YAML
resources: [$manifests/default]
components: [$manifests/gpu-clique-label]
YAML
  kubectl apply --server-side -k "$work" && kubectl wait --for=condition=Established crd --all --timeout=30s
}
publish() { # CLIQUE
  kubectl apply --server-side -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-compute-domain.nvidia.com}
spec:
  driver: compute-domain.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: channel-0, attributes: {type: {string: channel}, id: {int: 0}, clique: {string: $1}}}]
YAML
}
# As the pod of the Deployment does: with its ServiceAccount and what its container is told.
start_controller() {
  local token
  token=$(kubectl create token compute-domain-controller -n compute-domain-operator) || return 1
  kubectl config view --raw --minify -o json | jq --arg token "$token" '.users[].user = {token: $token}' >"$work/kubeconfig"
  GPU_CLIQUE_LABEL_ENABLED=$(kubectl get deployment compute-domain-controller -n compute-domain-operator \
    -o 'jsonpath={.spec.template.spec.containers[0].env[?(@.name=="GPU_CLIQUE_LABEL_ENABLED")].value}') \
    timeout 300 "$bin/compute-domain-controller" --kubeconfig "$work/kubeconfig" --metrics-listen "" \
    >"$work/controller.log" 2>&1 &
  controller=$!
}
clique() { kubectl get node n1 -o 'jsonpath={.metadata.labels.nvidia\.com/gpu\.clique} {.metadata.annotations.resource\.nvidia\.com/gpu\.clique}'; }
is() { [ "$(clique)" = "$1" ] || { clique; return 1; }; }

check "a cluster" tools/cluster --dir "$work/cluster" up
[ "$failed" -eq 0 ] || finish_checks || exit 1
check "the operator with the component" install
check "a node and its slice" eval "kubectl create -f - <<<'{apiVersion: v1, kind: Node, metadata: {name: n1}}' && publish u.1"
check "the controller" start_controller
check "the label is the slice's clique, and ours" eventually 30 is "u.1 u.1"
check "the slice has another" publish u.2
check "so has the label" eventually 10 is "u.2 u.2"
check "somebody else writes the label" kubectl label node n1 --overwrite nvidia.com/gpu.clique=theirs
check "and has it from now on" eventually 10 is "theirs "
check "the slice has another" publish u.3
check "that label is taken away" kubectl label node n1 nvidia.com/gpu.clique-
check "then it is ours" eventually 10 is "u.3 u.3"
check "the slice goes" kubectl delete resourceslice n1-compute-domain.nvidia.com
check "and the label" eventually 10 is " "
refusals() { jq -c 'select((.user.username | endswith(":compute-domain-controller")) and .responseStatus.code >= 400 and
  .objectRef.resource == "nodes")' "$work/cluster/audit.log"; }
check "nothing has been refused" is_empty refusals
[ "$failed" -eq 0 ] || cat "$work/controller.log"
finish_checks
