#!/usr/bin/env bash
# One ResourceClaim that pods on many real kubelets name, with the operator as it is shipped on two racks: the pods of
# one clique are one domain, those that find no room in it wait and say why, another domain's node says so, and nothing is
# left. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

apply_claim() {
  kubectl apply -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: $1}
spec:
  devices:
    requests: [{name: channel, exactly: {deviceClassName: compute-domain-shared-channel.nvidia.com}}]
YAML
}
share() { # CLAIM NODE…
  local claim=$1 node
  shift
  for node in "$@"; do pod_yaml "$claim" "$node"; done |
    sed "s/resourceClaimTemplateName: $claim-channel/resourceClaimName: $claim/" | kubectl apply -f -
}
delete_recipe() { kubectl delete -f manifests/examples/recipe/05-coordinator-and-workers.yaml --timeout=90s; }
labels() { kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.labels.nvidia\.com/gpu\.clique}{"\n"}{end}'; }
nodes_have_labels() { [ "$(labels | grep -c .)" = 8 ] && [ "$(labels | sort -u | wc -l)" = 2 ]; }
slices_of_cliques() {
  kubectl get resourceslices -o 'jsonpath={range .items[*]}{.spec.pool.name}{"\n"}{end}' | grep '^clique/'
}
has_slices() { [ "$(slices_of_cliques | wc -l)" = "$1" ]; }
# The only domain that there is.
domain() { kubectl get computedomains -o 'jsonpath={.items[*].metadata.name}'; }
has_one_domain() { [[ "$(domain)" =~ ^$1-[0-9a-f]{8}$ ]]; }
domain_is_gone() { [ -z "$(domain)" ]; }
has_nodes() { # "NODE…"
  local is
  is=$(of "$(domain)" '{.status.nodes[*].name}') && { [ "$is" = "$1" ] || { echo "its nodes: $is"; return 1; }; }
}
reserved() { kubectl get resourceclaim "$1" -o 'jsonpath={range .status.reservedFor[*]}{.name}{"\n"}{end}' | wc -l; }
is_reserved_for() { [ "$(reserved "$1")" = "$2" ]; }
all_have_channel() { local node; for node in "$@"; do has_channel "mesh-$node" || return 1; done; }
pod_says() { # POD REASON MESSAGE
  prints "$3" kubectl get events --field-selector "involvedObject.name=$1,reason=$2" \
    -o 'jsonpath={range .items[*]}{.message}{"\n"}{end}'
}
is_pending() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = Pending ]; }
controllers_restart() {
  operator delete pod -l app=compute-domain-controller --grace-period=0 --force &&
    eventually 60 has_controllers
}
has_controllers() { [ "$(operator get deployment compute-domain-controller -o 'jsonpath={.status.readyReplicas}')" = 2 ]; }
delete_claim() { kubectl delete resourceclaim "$1" --timeout=60s; }
uninstall() { kubectl delete -k "$manifests" --timeout=120s; }

with_components gpu-clique-label shared-claims
set_up_rack 8 --racks 2

check "the nodes have the labels of their cliques" eventually 30 nodes_have_labels
check "each clique has a slice of its own" eventually 30 has_slices 2

# --- one claim, three nodes
check "a claim that has a name" apply_claim mesh
check "and pods on three nodes that name it" share mesh r1n01 r1n02 r1n03
check "get one domain" eventually 30 has_one_domain mesh
check "which is Ready" is_ready "$(domain)"
check "their pods run" pods_run mesh
check "with their channel" all_have_channel r1n01 r1n02 r1n03
check "the domain has these nodes" has_nodes "r1n01 r1n02 r1n03"
check "the one claim is for all of them" is_reserved_for mesh 3
before=$(daemons r1n01 r1n02)
check "a pod in another clique" share mesh r2n01
check "is told why it waits" eventually 30 pod_says mesh-r2n01 FailedScheduling "resourceclaim not available on the node"
check "and waits" is_pending mesh-r2n01
check "a pod that comes later in the clique" share mesh r1n04
check "runs too" kubectl wait --for=condition=Ready pod/mesh-r1n04 --timeout=60s
check "and brings its node" eventually 30 has_nodes "r1n01 r1n02 r1n03 r1n04"
check "controllers that start anew" controllers_restart
check "leave the domain Ready" is_ready "$(domain)"
check "with its nodes" has_nodes "r1n01 r1n02 r1n03 r1n04"
check "a pod that goes" kubectl delete pod mesh-r1n03 mesh-r1n04 --timeout=60s
check "takes its node along" eventually 30 has_nodes "r1n01 r1n02"
check "no daemon of the others has been started again" [ "$(daemons r1n01 r1n02)" = "$before" ]

# --- a node that serves another domain
check "a domain on another node" form blue r1n04
check "is Ready" is_ready blue
check "a pod there that shares the claim" share mesh r1n04
check "is told what it waits for" eventually 90 pod_says mesh-r1n04 FailedPrepareDynamicResources "still runs the IMEX daemon"
check "and the domain stays" is_ready blue 5
check "until it goes" dissolve blue
check "then the pod runs" kubectl wait --for=condition=Ready pod/mesh-r1n04 --timeout=180s

check "all pods go" kubectl delete pod -l domain=mesh --timeout=60s
check "and the claim" delete_claim mesh
check "and with it its domain" eventually 60 domain_is_gone

# --- the recipe
check "a coordinator and its workers" apply_example examples/recipe/05-coordinator-and-workers
check "have a domain" eventually 30 has_one_domain nvlink-mesh
check "which is Ready" is_ready "$(domain)"
check "of four nodes" prints " 4/4 " kubectl get computedomains --no-headers
check "they go" delete_recipe
check "and their domain" eventually 60 domain_is_gone

check_requests
check "what was installed goes" uninstall
check "and the slices of cliques with it" eventually 60 has_slices 0
finish_checks
