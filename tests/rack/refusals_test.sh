#!/usr/bin/env bash
# What cannot be served, and says why, on eight real kubelets with the operator as it is shipped: an nvidia-imex that is
# missing, ends at once, is never READY, or does not end at SIGTERM; and eight domains that form while the
# leader is killed. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

pod_says() { # NAMESPACE POD REASON TEXT
  prints "$4" kubectl get events --namespace "$1" --field-selector "involvedObject.name=$2,reason=$3" \
    -o 'jsonpath={range .items[*]}{.message}{"\n"}{end}'
}
is_pending() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase}')" = Pending ]; }

# with_option KEY=VALUE NODE: the node's IMEX supervisor starts anew, and gives its daemon this option; '' : none.
with_option() {
  local before args
  args=$(jq -c --arg option "$1" 'if $option == "" then . else . + ["--imex-option=" + $option] end' <<<"$imex_args")
  node_programs patch daemonset compute-domain-imex --type=json \
    --patch "[{\"op\": \"replace\", \"path\": \"/spec/template/spec/containers/0/args\", \"value\": $args}]" || return 1
  before=$(supervisor_on "$2")
  node_programs delete pod "$before" --timeout=60s && eventually 60 is_followed "$2" "$before"
}
supervisor_on() {
  node_programs get pods -l app=imex-daemon --field-selector "spec.nodeName=$1" \
    -o 'jsonpath={.items[0].metadata.name}'
}
is_followed() { # NODE POD
  local now
  now=$(supervisor_on "$1") && [ "$now" != "$2" ] && node_programs wait --for=condition=Ready "pod/$now" --timeout=1s
}

has_no_imex() { ! imex "$1"; }
eight() {
  local node
  for node in n01 n02 n03 n04 n05 n06 n07 n08; do form "of-$node" "$node" || return 1; done
  operator delete pod "$(leader)" --grace-period=0 --force
}
all_ready_within() {
  local node
  for node in n01 n02 n03 n04 n05 n06 n07 n08; do is_ready "of-$node" "$1" || return 1; done
}
all_go() {
  local node
  for node in n01 n02 n03 n04 n05 n06 n07 n08; do dissolve "of-$node" || return 1; done
}

set_up_rack 8
imex_args=$(node_programs get daemonset compute-domain-imex -o 'jsonpath={.spec.template.spec.containers[0].args}')
form_train n01

# --- nvidia-imex
check "the nodes lose nvidia-imex" mv "$work/driver/usr/bin/nvidia-imex" "$work/nvidia-imex"
check "a domain on n03" form missing n03
check "is told what is missing" eventually 60 says missing ImexFailed 'nvidia-imex'
check "and so is the pod, or its claim waits" is_pending missing-n03
check "nvidia-imex is back" mv "$work/nvidia-imex" "$work/driver/usr/bin/nvidia-imex"
check "the domain forms" is_ready missing 150
check "it goes" dissolve missing

check "an nvidia-imex that ends at once" with_option STAND_IN_DEVICES=/dev/nowhere n04
check "a domain there" form ends n04
check "is told with its last words" eventually 60 says ends ImexFailed 'no device /dev/nowhere'
check "it goes" dissolve ends

check "an nvidia-imex that is never READY" with_option STAND_IN_READY_DELAY_MS=3600000 n05
check "a domain there" form never n05
check "is not Ready" eventually 30 says never Starting 'READY'
check "the pod is told after 40 s" eventually 90 pod_says default never-n05 FailedPrepareDynamicResources 'READY'
check "it goes" dissolve never

check "an nvidia-imex that does not end when it is told to" with_option STAND_IN_SHUTDOWN_DELAY_MS=3600000 n06
check "a domain there" form stays n06
check "is Ready" is_ready stays
check "it goes" dissolve stays
check "and its daemon with it, by force" eventually 20 has_no_imex n06

# --- eight at once
check "the first domain goes" dissolve train
check "nvidia-imex is as it was on n04" with_option "" n04
check "and on n05" with_option "" n05
check "and on n06" with_option "" n06
check "eight domains form while the leader is killed" eight
check "all are Ready" all_ready_within 90
check "all go" all_go
check_requests
finish_checks
