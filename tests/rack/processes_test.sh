#!/usr/bin/env bash
# What happens to processes, on four real kubelets with the operator as it is shipped: daemons die and hang, agents
# and the leader are killed, pods and domains are deleted while they are in use. Prints a line per check and their
# count. KUBERNETES=1.34: an older one, whose kubelets do not say whether a device is healthy.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

# Watches the domain in the background while a fault happens; milliseconds from the fault until
# `kubectl get computedomains` shows it.
# Milliseconds from the moment that COMMAND prints, to the first NotReady that a watch tells.
time_to_not_ready() { # DOMAIN COMMAND…
  local domain=$1 seen=$work/seen start watcher
  shift
  : >"$seen"
  timeout 60 "$work/cluster/kubectl" get computedomain "$domain" --watch \
    -o 'jsonpath={.status.status}{"\n"}' | while read -r status; do echo "$(date +%s%3N) $status"; done >"$seen" &
  watcher=$!
  eventually 10 grep -q Ready "$seen"
  start=$("$@")
  eventually 45 grep -q NotReady "$seen"
  pkill -P "$watcher" 2>/dev/null
  kill "$watcher" 2>/dev/null
  awk -v start="$start" '/NotReady/ { print $1 - start; exit }' "$seen"
}

# What kubelet says of the channel in the pod's status, as the agent has told it. Kubelet does from Kubernetes 1.36 on: before, the
# feature gate ResourceHealthStatus is off where nobody switches it on.
kubelet_tells_health() { [[ ${KUBERNETES:-} != 1.3[2345] ]]; }
told_health() {
  kubectl get pod train-n02 -o 'jsonpath={range .status.containerStatuses[0].allocatedResourcesStatus[*].resources[*]}{.resourceID} {.health} {.message}{"\n"}{end}'
}
pod_has_channel() { prints "channel-0 $1" told_health; } # HEALTH

daemon_pids() { for node in n01 n02 n03 n04; do imex "$node"; done || true; }
kill_imex() { on_node "$1" sh -c 'date +%s%3N; exec pkill -KILL -x nvidia-imex'; } # prints when
hang_imex() { on_node "$1" pkill -STOP -x nvidia-imex; }
wake_imex() { on_node "$1" pkill -CONT -x nvidia-imex; }

# What kubelets, the scheduler and the operator have written, read in either encoding.
same_in_both_encodings() {
  env HAS_A_DOMAIN=1 KUBECONFIG="$work/cluster/identities/admin.kubeconfig" "$build/tests/kube/real_api_test" \
    --gtest_brief=1 --gtest_filter='*GivesTheSame*'
}

set_up_rack 4
form_train n01 n02 n03
check "all objects are the same in protobuf and in JSON" same_in_both_encodings

check "kubectl compute-domain finds the install healthy" prints healthy plugin check

# --- the daemon
took=$(time_to_not_ready train kill_imex n02)
check "a daemon that dies is told within a second ($took ms)" test "${took:-9999}" -le 1000
check "by an Event that names the node" eventually 10 has_event ImexFailed n02
check "and is READY again" is_ready train
check "why names the pod that has lost its memory" eventually 20 \
  prints 'kubectl delete pod train-n02 -n default' plugin why pod train-n02
hang_imex n02
check "a daemon that hangs is told" eventually 30 says train ImexFailed n02
check "why pod says how to end it" prints 'elete the compute-domain-imex pod on n02 to restart it' plugin why pod train-n02
if kubelet_tells_health; then
  check "and its pod says that its channel is unhealthy" eventually 60 pod_has_channel Unhealthy
fi
wake_imex n02
check "and is READY again" is_ready train
if kubelet_tells_health; then
  check "and its pod that its channel is healthy" eventually 60 pod_has_channel Healthy
else
  check "its pod says nothing of its channel" is_empty told_health
fi

# --- the agent
daemons=$(daemons n01 n02 n03)
kill_agents() {
  local node
  for node in n01 n02 n03; do on_node "$node" pkill -KILL -f bin/compute-domain-agent; done
}
same_daemons() { [ "$(daemons n01 n02 n03)" = "$daemons" ] || { daemons n01 n02 n03; echo "before: $daemons"; return 1; }; }
check "agents that are killed" kill_agents
check "come back" eventually 60 all_ready daemonset compute-domain-agent 4
check "with the daemons that there were" same_daemons
check "the domain is Ready" is_ready train
# The record that a real kubelet keeps of its claims.
checkpoint=/var/lib/kubelet/plugins/compute-domain.nvidia.com/checkpoint
lose_checkpoint() { on_node n02 pkill -KILL -f bin/compute-domain-agent && on_node n02 rm "$checkpoint"; }
knows_claim() {
  on_node n02 cat "$checkpoint" |
    jq -e '[.checkpoint.claims[] | select(.namespace == "default" and (.name | startswith("train-n02-channel")))] | length == 1'
}
check "the checkpoint of an agent is lost" lose_checkpoint
check "the next one has the claim's name from kubelet's record" eventually 30 knows_claim
check "and the daemons that there were" same_daemons
check "the domain is Ready" is_ready train
# Kubelet asks again when it looks at the pod the next time, which is after 60 to 90 s.
prepare_killed() {
  form late n04
  sleep 0.5
  on_node n04 pkill -KILL -f bin/compute-domain-agent || true
  is_ready late 120 && pods_run late
}
check "an agent that is killed while it prepares goes on" prepare_killed
check "a pod of another domain waits for that node" form other n04
check "why says who has it" eventually 30 prints 'whose device default/late has' plugin why pod other-n04
check "it goes" dissolve other
check "that domain goes" dissolve late
# --- deletion
check "a domain that is deleted under its pods" kubectl delete computedomain train --wait=false
check "says for whom it waits" eventually 20 says train Deleting "train-n01"
check "and keeps its daemons" same_daemons
check "it goes with its pods" kubectl delete pod -l domain=train --timeout=60s
check "when they have gone" kubectl wait --for=delete computedomain/train --timeout=60s
check "no daemon is left" eventually 20 is_empty daemon_pids

# --- again and again
again() {
  local i
  for i in 1 2 3 4 5; do form again n01 n02 n03 n04 && is_ready again && dissolve again || return 1; done
}
check "five formations on the same nodes" again
forms_without_leader() {
  form one n01 n02 && form two n03 n04 && operator delete pod "$(leader)" --grace-period=0 --force
  is_ready one 90 && is_ready two 90
}
check "domains form while the leader is killed" forms_without_leader
check "they go" eval 'dissolve one && dissolve two'
check_requests
finish_checks
