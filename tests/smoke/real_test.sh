#!/usr/bin/env bash
# The controller and simulated nodes on a real control plane: etcd, kube-apiserver,
# kube-controller-manager and kube-scheduler. First what a user would do with kubectl, then all
# scenarios. Prints a line per check or scenario and their count. KUBERNETES=1.33: an older one.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/smoke/scenarios.sh

work=$(mktemp -d)
cluster=(tools/cluster --dir "$work/cluster")
pids=()
cleanup() {
  stop_controller
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  "${cluster[@]}" down >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT

ready=$("${cluster[@]}" up ${KUBERNETES:+--version "$KUBERNETES"} | tail -1)
export KUBECONFIG=${ready#ready: KUBECONFIG=}
kubectl() { "$work/cluster/kubectl" "$@"; }

check "the control plane is up" prints "default" kubectl get namespaces
# Two racks of 19 nodes, a node more than a group has slots.
all_publish() { [ "$(kubectl get resourceslices -o name | grep -vc /clique-)" -eq 38 ]; }
# Before Kubernetes 1.34 a DeviceClass is v1beta1 or v1beta2.
apply_manifests() {
  { kubectl kustomize . && echo --- && cat manifests/shared-claims/device-class.yaml && echo --- &&
    cat manifests/compute-domain-cliques/owner.yaml; } >"$work/manifests.yaml"
  [ -z "${KUBERNETES:-}" ] || sed -i 's|^apiVersion: resource.k8s.io/v1$|apiVersion: resource.k8s.io/v1beta1|' "$work/manifests.yaml"
  kubectl apply --server-side -f "$work/manifests.yaml"
}
check "the manifests apply" apply_manifests
join_nodes() { # ISOLATION
  timeout 3600 build/release/bin/compute-domain-sandbox nodes --kubeconfig "$KUBECONFIG" --racks 2 \
    --nodes-per-rack 19 --isolation "$1" >"$work/nodes.out" 2>>"$work/nodes.log" &
  nodes=$!
  pids+=("$nodes")
}
join_nodes domain
start_controller "$work" --shared-claims-enabled --compute-domain-cliques-enabled
check "the simulated nodes join" eventually 60 prints "38 nodes" cat "$work/nodes.out"
check "they publish their seats" eventually 60 all_publish
check "a domain of two nodes applies" kubectl apply -f manifests/examples/two-nodes.yaml
check "it gets Ready" kubectl wait --for=condition=Ready computedomain/two-nodes --timeout=60s
check "it says 2/2" prints "2/2" kubectl get computedomains
check "describe shows it" prints "AllNodesReady" kubectl describe computedomain two-nodes
cliques() { kubectl get computedomaincliques -n compute-domain-operator "$@"; }
# The scheduler of Kubernetes 1.33 puts the pods into different cliques as often as not, that of 1.37 into one.
check "its ComputeDomainCliques have two daemons" eventually 30 prints "Ready Ready" \
  cliques -o 'jsonpath={.items[*].daemons[*].status}'
check "it goes with its pods" kubectl delete -f manifests/examples/two-nodes.yaml --timeout=90s
check "nothing is left" eventually 30 is_empty kubectl get resourceclaimtemplates,resourceclaims -o name
check "no node list is left" eventually 30 is_empty kubectl get configmaps -n compute-domain-operator \
  -l resource.nvidia.com/computeDomainGroup -o name
check "no ComputeDomainClique is left" eventually 30 is_empty cliques -o name
# A real garbage collector looks for owners that are nowhere, and takes their pods: the StatefulSets of a
# LeaderWorkerSet, and MPIJobs once the recipe has defined their kind.
play_scenarios "$work/scenarios" \
  Workloads.EachGroupOfALeaderWorkerSetHasADomain:Workloads.TheWorkersOfAnMpiJobHaveADomainAndItsLauncherHasNone
# The same nodes, told to isolate by channel, do so as they are drained.
kill "$nodes"
wait "$nodes" 2>/dev/null
join_nodes channel
by_channel() {
  [ "$(kubectl get computedomainnodes -o 'jsonpath={range .items[?(@.status.isolation=="channel")]}x{end}')" = \
    "$(printf 'x%.0s' {1..38})" ]
}
check "all nodes isolate by channel" eventually 60 by_channel
play_channels "$work/channels"
slices_of_cliques() { kubectl get resourceslices -o name | grep /clique- || true; }
check "the cliques have slices for shared claims" prints /clique- slices_of_cliques
check "their class goes" kubectl delete deviceclass compute-domain-shared-channel.nvidia.com
check "and the slices with it" eventually 60 is_empty slices_of_cliques
[ "$failed" -eq 0 ] || tail -n 20 "$work/controller.log" "$work/nodes.log"
finish_checks
