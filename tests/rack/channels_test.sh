#!/usr/bin/env bash
# Isolation by channel on real kubelets, with the operator as it is shipped: two domains on the same nodes, whose
# containers see a channel each, and daemons that know nothing of who comes and goes. Prints a line per check and their
# count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

four=(n01 n02 n03 n04)
daemons_run() { for node in "${four[@]}"; do imex "$node" >/dev/null || return 1; done; }
all_isolate_by_channel() {
  [ "$(kubectl get computedomainnodes -o 'jsonpath={.items[*].status.isolation}')" = "channel channel channel channel" ]
}
all_daemons_ready() {
  [ "$(kubectl get computedomainnodes -o 'jsonpath={.items[*].status.groups[0].state}')" = "Ready Ready Ready Ready" ]
}
channel_of() { of "$1" '{.status.nodes[0].channel}'; }
channels_differ() { [ "$(channel_of blue)" != "$(channel_of green)" ] && [ "$(channel_of blue)" -gt 0 ]; }
# Of the only channel that each container of the domain sees: its device has that number.
sees_its_own_only() { # DOMAIN
  local number pod
  number=$(channel_of "$1")
  for pod in "${four[@]/#/$1-}"; do
    [ "$(kubectl exec "$pod" -- ls /dev/nvidia-caps-imex-channels)" = "channel$number" ] || return 1
    kubectl exec "$pod" -- ls -l /dev/nvidia-caps-imex-channels |
      grep -qE "^crw-rw-rw- .* 235, +$number .* channel$number$" || return 1
  done
}
daemons_are_the_same() { [ "$(daemons "${four[@]}")" = "$before" ]; }
offers_eight() {
  [ "$(kubectl get resourceslices -o 'jsonpath={range .items[*]}{.spec.devices[*].name}{"\n"}{end}' | grep -c 'channel-7$')" = 4 ]
}
# A node whose GPU driver is about to be replaced, as an administrator and the GPU Operator write it.
has_no_daemon() { ! on_node "$1" pgrep -x nvidia-imex; }
offers_nothing() {
  [ -z "$(kubectl get resourceslices --field-selector "spec.nodeName=$1" -o 'jsonpath={.items[*].spec.devices[*].name}')" ]
}
pause_driver_of() { kubectl label node "$1" nvidia.com/gpu.deploy.client=paused-for-driver-upgrade; }
give_driver_back() { kubectl label node "$1" nvidia.com/gpu.deploy.client- && kubectl uncordon "$1"; }

with_components isolation-channel
set_up_rack 4

check "all nodes isolate by channel" eventually 60 all_isolate_by_channel
check "their daemons run before there is a workload" eventually 60 daemons_run
check "and are READY" eventually 60 all_daemons_ready
check "each node offers eight seats" eventually 30 offers_eight
before=$(daemons "${four[@]}")
check "a domain of four nodes" form blue "${four[@]}"
check "is Ready" is_ready blue
check "and another one on the same nodes" form green "${four[@]}"
check "is Ready too" is_ready green
check "their pods run" pods_run blue
check "of both" pods_run green
check "they have a channel each" channels_differ
check "a container of the first sees its own alone" sees_its_own_only blue
check "and one of the second" sees_its_own_only green
check "no daemon has been started for them" daemons_are_the_same
check "the first goes" dissolve blue
check "the other one is Ready still" is_ready green 5
check "and its containers see what they saw" sees_its_own_only green
check "an agent that is killed" node_programs delete pod -l app=compute-domain-agent --grace-period=0 --force
check "comes again" eventually 60 all_ready daemonset compute-domain-agent 4
check "and the domain stays" is_ready green
check "the second goes" dissolve green
check "and no daemon has ended with it" daemons_are_the_same
check "a node is cordoned" kubectl cordon n04
check "says so" eventually 30 prints Cordoned kubectl get cdn n04 -o wide
check "and has no daemon that holds its driver" eventually 10 has_no_daemon n04
check "its driver is paused" pause_driver_of n04
check "as it says" eventually 30 prints DriverPaused kubectl get cdn n04 -o wide
check "it offers nothing" eventually 10 offers_nothing n04
check "the driver comes back" give_driver_back n04
check "with the daemon" eventually 60 all_daemons_ready
check "and the seats" eventually 30 offers_eight
check_requests
finish_checks
