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
check_requests
finish_checks
