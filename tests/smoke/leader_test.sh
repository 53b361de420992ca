#!/usr/bin/env bash
# Two controllers on one cluster: one works, and the other takes over when it leaves, hangs or freezes.
# Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=${CDOM_BUILD:-build/release}/bin
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig
declare -A controller
cleanup() {
  for pid in "${controller[@]}"; do kill -CONT "$pid" 2>/dev/null; kill "$pid" 2>/dev/null; done
  kill "$sandbox" 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work"
}
"$bin/compute-domain-sandbox" --racks 1 --nodes-per-rack 2 --run-controller=false \
  --kubeconfig "$KUBECONFIG" >"$work/out" 2>"$work/log" &
sandbox=$!
trap cleanup EXIT

start() { # NAME
  POD_NAME=$1 "$bin/compute-domain-controller" --metrics-listen "" --leader-election-enabled \
    --leader-election-lease-duration 10s --leader-election-renew-deadline 8s \
    --leader-election-retry-period 500ms >"$work/$1.log" 2>&1 &
  controller[$1]=$!
}
holder() {
  kubectl get lease compute-domain-controller -n compute-domain-operator -o 'jsonpath={.spec.holderIdentity}'
}
exits_with() { # CODE NAME
  local code=0
  wait "${controller[$2]}" || code=$?
  unset "controller[$2]"
  [ "$code" -eq "$1" ]
}
is_ready() { # DOMAIN
  kubectl wait --for=condition=Ready "computedomain/$1" --timeout=60s
}
form() { # DOMAIN
  sed "s/two-nodes/$1/g" manifests/examples/two-nodes.yaml | kubectl apply -f - && is_ready "$1"
}
dissolve() { # DOMAIN
  sed "s/two-nodes/$1/g" manifests/examples/two-nodes.yaml | kubectl delete --timeout=60s -f -
}

check "the sandbox gets ready" eventually 30 grep -q '^ready: KUBECONFIG=' "$work/out"
start first
check "the first controller leads" eventually 20 prints "first-" holder
start second
check "the second waits" eventually 20 grep -q 'another process leads.*first-' "$work/second.log"
check "a domain forms" form one
kill "${controller[first]}"
check "a leader that ends does so cleanly" exits_with 0 first
check "and the other leads before its lease ends" eventually 8 prints "second-" holder
check "which takes the domain down" dissolve one

start third
check "a third waits" eventually 20 grep -q 'another process leads.*second-' "$work/third.log"
kill -STOP "${controller[second]}"
check "a frozen leader is replaced" eventually 40 prints "third-" holder
check "a domain forms" form two
kill -CONT "${controller[second]}"
check "the frozen one ends when it goes on" exits_with 1 second
check "and says why" grep -q "another process may lead now" "$work/second.log"
check "the domain is as it was" is_ready two
check "the third still leads" prints "third-" holder
check "no sanitizer has complained" no_sanitizer_complains "$work"/*.log
[ "$failed" -eq 0 ] || tail -n 20 "$work"/*.log
finish_checks
