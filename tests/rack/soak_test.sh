#!/usr/bin/env bash
# What takes too long for every change, on four real kubelets with the operator as it is shipped: an agent that is killed
# again and again beside pods that run, formations on the same nodes, a node that is cut off for minutes, and a token
# that kubelet has replaced. Some 25 minutes. Prints a line per check and their count.
#
# AGENTS, RACK_FORMATIONS: how many (100, 20); CUT_SECONDS: how long (240); TOKEN_SECONDS: the life of a token (600, the
# least that Kubernetes gives).
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

agents=${AGENTS:-100} formations=${RACK_FORMATIONS:-20} cut_seconds=${CUT_SECONDS:-240} token_seconds=${TOKEN_SECONDS:-600}

# A short-lived token instead of the one that Kubernetes adds, which lives for an hour.
with_short_tokens() {
  node_programs patch daemonset compute-domain-agent --type=strategic --patch "
spec:
  template:
    spec:
      automountServiceAccountToken: false
      containers:
      - name: agent
        volumeMounts:
        - {name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
      volumes:
      - name: token
        projected:
          sources:
          - serviceAccountToken: {path: token, expirationSeconds: $token_seconds}
          - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
          - downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]}
" && node_programs rollout status daemonset/compute-domain-agent --timeout=180s
}
token_on() { # NODE: a hash of the agent's
  on_node "$1" sh -c 'cat /var/lib/kubelet/pods/*/volumes/kubernetes.io~projected/token/token | sha256sum'
}
token_has_changed() { [ "$(token_on n01)" != "$token" ]; }
# The tokens that the API server has seen of the agent of n01 since it was asked for.
tokens_seen() {
  jq -r --arg pod "$(agent_pod n01)" 'select(.user.extra["authentication.kubernetes.io/pod-name"] == [$pod]) |
    .user.extra["authentication.kubernetes.io/credential-id"][0]' "$work/cluster/audit.log" | sort -u | wc -l
}
agent_pod() {
  node_programs get pods -l app=compute-domain-agent --field-selector "spec.nodeName=$1,status.phase=Running" \
    -o 'jsonpath={.items[0].metadata.name}'
}
# Nothing changes, so it has nothing to ask the API server: its report is deleted, and it writes another.
uses_another_token() {
  kubectl delete computedomainnode n01 >/dev/null && sleep 5
  [ "$(tokens_seen)" -ge 2 ]
}

agent_of() { on_node "$1" pgrep -f bin/compute-domain-agent; }
has_other_agent() { local now; now=$(agent_of "$1") && [ "$now" != "$2" ]; }
kill_agents_of() { # NODE COUNT
  local i pid
  for ((i = 0; i < $2; i++)); do
    pid=$(agent_of "$1") || return 1
    on_node "$1" kill -KILL $pid
    eventually 30 has_other_agent "$1" "$pid" || return 1
    # Long enough for it to do what it does at its start, at a time that is another one each time.
    sleep "0.$((RANDOM % 10))"
  done
}
form_again() { # COUNT
  local i
  for ((i = 0; i < $1; i++)); do
    form again n03 n04 && is_ready again && pods_run again && dissolve again || return 1
  done
}
keeps_its_pods() { # SECONDS
  local end=$((SECONDS + $1))
  while [ "$SECONDS" -lt "$end" ]; do
    nothing_has_ended || return 1
    sleep 10
  done
}

set_up_rack 4
check "agents get tokens of $token_seconds s" with_short_tokens
check "and run" eventually 120 all_ready daemonset compute-domain-agent 4
form_train n01 n02
before=$(state)
token=$(token_on n01)

check "a node is cut off from the API server for $cut_seconds s" cluster node n02 cut --from api
check "its pod and its daemon go on" keeps_its_pods "$cut_seconds"
check "it is back" cluster node n02 heal
check "the domain is Ready" is_ready train
check "$formations formations beside it" form_again "$formations"
check "kubelet has replaced the token" eventually "$token_seconds" token_has_changed
check "the agent uses the new one" eventually 120 uses_another_token
check "the domain is Ready" is_ready train
check "no daemon and no container has ended" nothing_has_ended

check "an agent is killed $agents times" kill_agents_of n01 "$agents"
check "no daemon and no container has ended" nothing_has_ended
check "the domain is Ready" is_ready train
check "its pod still has its channel" has_channel train-n01
check "it goes" dissolve train
finish_checks
