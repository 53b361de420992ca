#!/usr/bin/env bash
# What happens to machines, on three real kubelets with the operator as it is shipped: networks that are cut, power
# that is lost, of one node and of all. The domain says what is wrong, and heals by itself.
# Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh

make_manifest() { # a domain, and a pod of it on each node
  cat <<'END_OF_DOMAIN'
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: run}
spec:
  numNodes: 3
  channel: {resourceClaimTemplate: {name: run-channel}}
END_OF_DOMAIN
  local node
  for node in n01 n02 n03; do
    cat <<END_OF_POD
---
apiVersion: v1
kind: Pod
metadata: {name: $node}
spec:
  terminationGracePeriodSeconds: 1
  nodeSelector: {kubernetes.io/hostname: $node}
  # What a node without power is to lose is up to whoever runs a real one.
  tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists}]
  containers:
  - name: worker
    image: docker.io/local/busybox:1
    command: [sleep, "1000000"]
    resources: {claims: [{name: channel}]}
  resourceClaims: [{name: channel, resourceClaimTemplateName: run-channel}]
END_OF_POD
  done
}

domain() { kubectl get computedomain run -o "jsonpath=$1"; }
is_ready() { [ "$(domain '{.status.conditions[?(@.type=="Ready")].status} {.status.readyNodes}')" = "True 3/3" ]; }
says() { # TEXT…: the domain is not Ready, and its message has all of them
  local said text
  said=$(domain '{.status.conditions[?(@.type=="Ready")].status} {.status.conditions[?(@.type=="Ready")].message}')
  for text in "False " "$@"; do [[ $said == *"$text"* ]] || { echo "$said"; return 1; }; done
}
slots() { domain '{range .status.nodes[*]}{.name} {.index}{"\n"}{end}' | sort; }
restarts() { kubectl get pods n01 n02 n03 -o 'jsonpath={.items[*].status.containerStatuses[0].restartCount}'; }
boot_of_report() { kubectl get computedomainnode "$1" -o 'jsonpath={.status.bootID}'; }
slots_are() { [ "$(slots)" = "$1" ] || { slots; return 1; }; }
restarts_are() { [ "$(restarts)" = "$1" ] || { restarts; return 1; }; }
reports_its_boot() { [ "$(boot_of_report "$1")" = "$(on_node "$1" cat /proc/sys/kernel/random/boot_id)" ]; }
all_lose_power() {
  local node
  for node in n01 n02 n03; do cluster node "$node" kill || return 1; done
}
all_get_power() {
  local node
  for node in n01 n02 n03; do cluster node "$node" reboot --no-wait || return 1; done
}

set_up_rack 3
make_manifest >"$work/run.yaml"
check "a domain and its pods apply" kubectl apply -f "$work/run.yaml"
check "it gets Ready" eventually 60 is_ready
slots=$(slots)

check "two nodes are cut off from each other" cluster node n01 cut --from n02
check "the domain says which" eventually 60 says n01 n02
check "the network is back" cluster node n01 heal
check "the domain is Ready again" eventually 60 is_ready

check "a node is cut off from the API server" cluster node n02 cut --from api
check "the domain says so" eventually 60 says n02 kubelet
check "the network is back" cluster node n02 heal
check "the domain is Ready again" eventually 60 is_ready
check "no container has ended" restarts_are "0 0 0"

check "a node loses its power" cluster node n03 kill
check "the domain says so" eventually 60 says n03
check "it boots" cluster node n03 reboot
check "the domain is Ready again" eventually 90 is_ready
check "with the same slots" slots_are "$slots"
check "the report is of the new boot" eventually 30 reports_its_boot n03
check "one container has started anew" restarts_are "0 0 1"
check "and has its channel" has_channel n03

check "all nodes lose their power, with the controllers" all_lose_power
check "all boot" all_get_power
for node in n01 n02 n03; do
  check "the report of $node is of the new boot" eventually 120 reports_its_boot "$node"
  check "its pod has its channel" eventually 120 has_channel "$node"
done
check "the domain is Ready again" eventually 120 is_ready
check "with the same slots" slots_are "$slots"
check "each container has started anew" restarts_are "1 1 2"

check "the domain goes with its pods" kubectl delete -f "$work/run.yaml" --timeout=90s
check_requests
finish_checks
