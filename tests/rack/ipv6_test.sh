#!/usr/bin/env bash
# A cluster without IPv4: nodes, pods and services have IPv6 addresses only. The operator as it is shipped is installed there,
# a domain forms over two real kubelets, its status names a peer that is cut off, and everything goes.
# Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

# all_are_ipv6 COUNT COMMAND…: it prints so many addresses, and each is one of this cluster's.
all_are_ipv6() {
  local count=$1 printed
  shift
  printed=$("$@") && [ "$(grep -c . <<<"$printed")" -eq "$count" ] &&
    ! grep -qvE '^fd00:10:[0-9a-f:]+$' <<<"$printed" || { echo "$printed"; return 1; }
}
# each KIND PATH [OPTION…]: what all of them have there, a line each.
each() { kubectl get "$1" "${@:3}" -o "jsonpath={range .items[*]}{$2}{'\n'}{end}"; }
of_nodes() { each nodes '.status.addresses[?(@.type=="InternalIP")].address'; }
of_pods() { each pods '.status.podIPs[*].ip' --all-namespaces; }
of_services() { each services '.spec.clusterIPs[*]' --all-namespaces | grep -v None; } # those that have one
of_reports() { each computedomainnodes .status.address; }
of_members() { of train '{range .status.nodes[*]}{.ipAddress}{"\n"}{end}'; }
listed() {
  operator get configmaps -l resource.nvidia.com/computeDomainGroup -o 'jsonpath={range .items[*]}{.data.nodes}{"\n"}{end}' |
    awk '/^nodes: slot node address / { is_row = 1; next } /^$/ { is_row = 0 } is_row { print $3 }'
}

# What the daemon of a node sees: its hosts file, and its connections with the others' port 50000, as proc(5) has them.
of_daemon() { # NODE FILE
  on_node "$1" sh -c "cat /proc/\$(pgrep -x nvidia-imex)/$2"
}
names() { of_daemon "$1" root/etc/hosts | sed -n '/compute-domain-imex: begin/,/: end/p' | grep fd00 | cut -f 1; }
connections() { of_daemon "$1" "net/$2" | awk '$4 == "01" && ($2 ~ /:C350$/ || $3 ~ /:C350$/)'; }
has_connection() { [ -n "$(connections "$1" tcp6)" ] && [ -z "$(connections "$1" tcp)" ]; }
# The interfaces that have an address of IPv4, on a node and in its pod.
with_ipv4() {
  { on_node "$1" ip -4 -oneline address && kubectl exec "train-$1" -- ip -4 -o address; } | awk '{ print $2 }' | xargs
}
restart_counts() { each pods '.status.containerStatuses[*].restartCount' --all-namespaces | sort -u; }
are() { # EXPECTED COMMAND…
  local printed
  printed=$("${@:2}") && [ "$printed" = "$1" ] || { echo "$printed"; return 1; }
}

set_up_rack 2 --ip-family ipv6
check "two controllers run" operator rollout status deployment/compute-domain-controller --timeout=60s
check "nodes have IPv6 addresses" all_are_ipv6 2 of_nodes
check "so does the API server, to pods" all_are_ipv6 1 of_services
check "and agents report theirs" eventually 20 all_are_ipv6 2 of_reports

form_train n01 n02
check "its pods have their channel" starts_with_channel train-n01
check "all pods have IPv6 addresses" all_are_ipv6 8 of_pods
check "no node and no pod has one of IPv4" are "lo lo" with_ipv4 n01
check "its status has the members' addresses" all_are_ipv6 2 of_members
check "its node list too" all_are_ipv6 2 listed
for node in n01 n02; do
  check "its daemon on $node has both names in its hosts file" all_are_ipv6 2 names "$node"
  check "and is connected over IPv6" has_connection "$node"
done
check "no probe has had anything restarted" are 0 restart_counts
before=$(state)

check "two nodes are cut off from each other" cluster node n01 cut --from n02
check "the domain says so" eventually 40 says train Unreachable n02
check "the network is back" cluster node n01 heal
check "the domain is Ready again" is_ready train
check "no daemon and no container has ended" nothing_has_ended

check "the domain goes" dissolve train
check_requests
check "the rest goes" kubectl delete -k manifests/test --timeout=120s
check "no file, no socket and no daemon is left" eventually 10 is_empty files_left n01 n02
finish_checks
