#!/usr/bin/env bash
# What happens around the operator, on three real kubelets with the operator as it is shipped: kubelet, containerd and the
# API server start again, a node is cut off from the API server, a pod is deleted by force and its node wanted at
# once. IMEX and the pods that use it do not notice. Prints a line per check and their count. KUBERNETES=1.36: an older one,
# whose kubelets do not say which containers have ended.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

warnings_of() { kubectl get events --field-selector "type=Warning,involvedObject.kind=ComputeDomain,involvedObject.name=$1" -o name; }
forms_and_goes() { # on the node that is left
  form late n03 && is_ready late && pods_run late && has_channel late-n03 && dissolve late
}

kill_on() { # NODE PROGRAM
  local before after
  before=$(on_node "$1" pgrep -x "$2") || return 1
  on_node "$1" pkill -KILL -x "$2"
  has_successor() { after=$(on_node "$1" pgrep -x "$2") && [ "$after" != "$before" ]; }
  eventually 20 has_successor "$1" "$2"
}

set_up_rack 3
form_train n01 n02
before=$(state)

# --- kubelet and containerd
# The program of the kubelet is called so.
check "the kubelet of n01 starts again" kill_on n01 kubernetes
check "containerd of n02 starts again" kill_on n02 containerd
check "the kubelet of n03 starts again" kill_on n03 kubernetes
check "a domain forms on n03 and goes" forms_and_goes
check "no daemon and no container has ended" nothing_has_ended
check "a pod on n02 still has its channel" eventually 20 has_channel train-n02

# --- the API server
restarted=$(date --utc +%FT%TZ)
check "the API server is killed and starts again" cluster restart kube-apiserver
check "the domain is Ready" eventually 20 is_ready train 5
check "a domain forms and goes" forms_and_goes
check "no daemon and no container has ended" nothing_has_ended
check "nobody was told of any trouble of the domain" is_empty warnings_of train

# --- a node without the API server, and its agent starts again there
kill_agent() { on_node "$1" pkill -KILL -f bin/compute-domain-agent; }
agent_runs() { on_node "$1" pgrep -f bin/compute-domain-agent; }
check "n02 is cut off from the API server" cluster node n02 cut --from api
check "its agent is killed" kill_agent n02
check "and comes back" eventually 20 agent_runs n02
check "the domain says that the node is silent" eventually 40 says train NodeUnknown n02
check "why pod says how to fence its machine" prints 'node.kubernetes.io/out-of-service=nodeshutdown' plugin why pod train-n02
check "n02 is back" cluster node n02 heal
check "the domain is Ready again" is_ready train
check "no daemon and no container has ended" nothing_has_ended

# --- a node that is wanted while the last pod still ends
# Once a minute kubelet unprepares the claims of pods that the API server has forgotten, also while their containers run: here
# one whose shim hangs, so that nobody can kill it. Its PodsAPI tells the agent of their end.
check "that domain goes" dissolve train
stubborn() { worker_command='[sh, -c, "trap : TERM; while :; do sleep 1; done"]' form old n01 n02; }
workers() { on_node n01 pgrep -f 'trap : TERM'; }
overlaps() { # whether a worker of the old domain has ever been beside the new one's daemon
  kubectl get pod next-n01 -o 'jsonpath={.status.containerStatuses[0].state.running.startedAt}' | grep -q . && workers
}
deleted_by_force() {
  shim=$(on_node n01 ps -o ppid= -p "$(workers | head -1)") && on_node n01 kill -STOP $shim &&
    kubectl delete computedomain old --wait=false && apply_domain next 2 &&
    kubectl delete pod -l domain=old --grace-period=0 --force
}
checkpoint=/var/lib/kubelet/plugins/compute-domain.nvidia.com/checkpoint
is_unprepared() { # by kubelet on n01, while the worker runs
  workers && on_node n01 cat "$checkpoint" | jq -e '[.checkpoint.claims[] | select(.phase == "Ending")] | length == 1'
}
follows_at_once() {
  apply_pods next n01 n02 && on_node n01 kill -CONT $shim || return 1
  until kubectl get pod next-n01 next-n02 -o 'jsonpath={.items[*].status.phase}' | grep -q 'Running Running'; do
    if overlaps; then echo "the next pod runs beside the old one"; return 1; fi
    [ "$SECONDS" -lt "$1" ] || { kubectl describe pod -l domain=next | tail -20; return 1; }
    sleep 0.3
  done
  ! overlaps
}
check "a domain whose pods do not end at once" stubborn
check "is Ready" is_ready old
check "its pods run" pods_run old
before=$(daemons n01)
check "they are deleted by force, and one does not end" deleted_by_force
if [ "${KUBERNETES:-1.37}" = 1.37 ]; then
  check "kubelet unprepares the claim of a pod that runs" eventually 75 is_unprepared
  keeps_daemon() { [ "$(daemons n01)" = "$before" ]; }
  check "its daemon stays" keeps_daemon
  check "the node's report says why" eventually 20 prints "kubelet has not reported that its pod has ended" \
    kubectl get computedomainnode n01 -o 'jsonpath={.status.groups[*].message}'
  check "the next domain has its pods when the others have ended" follows_at_once $((SECONDS + 60))
else
  # Without PodsAPI the agent has kubelet's word alone: the limit that docs/security.md tells of.
  is_forgotten() { workers && on_node n01 cat "$checkpoint" | jq -e '.checkpoint.claims == {}'; }
  check "kubelet unprepares the claim of a pod that runs, and the agent ends it" eventually 75 is_forgotten
  check "the pod that did not end can" on_node n01 kill -CONT $shim
  check "the next domain has its pods" eval 'apply_pods next n01 n02 && eventually 60 pods_run next'
fi
check "it is Ready" is_ready next
check "with its channel" starts_with_channel next-n01
check "over one daemon" test "$(imex n01 | wc -l)" -eq 1
check "the old domain has gone" kubectl wait --for=delete computedomain/old --timeout=20s
check "the next one goes" dissolve next
check_requests "restart=$restarted"
finish_checks
