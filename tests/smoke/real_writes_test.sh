#!/usr/bin/env bash
# What a formation of 18 nodes costs a real API server, by its audit log. Prints a line per check and
# their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

work=$(mktemp -d)
cluster=(tools/cluster --dir "$work/cluster")
controller=
cleanup() {
  [ -z "$controller" ] || kill "$controller" 2>/dev/null
  "${cluster[@]}" down >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT

ready=$("${cluster[@]}" up | tail -1)
kubeconfig=${ready#ready: KUBECONFIG=}
check "the manifests apply" "$work/cluster/kubectl" apply --server-side -k .
timeout 600 build/release/bin/compute-domain-controller --kubeconfig "$kubeconfig" \
  --metrics-listen "" --log-level warning >"$work/controller.log" 2>&1 &
controller=$!

# Each line: a figure, its spread, its target and whether it is met.
is_met() { [ "$(grep -F "$1" "$work/figures" | cut -f 9)" = met ]; }
form() {
  timeout 500 build/release/bench/bench_real "$kubeconfig" "$work/cluster/audit.log" "${RUNS:-3}" 2>&1 |
    tee "$work/figures"
}
check "18 nodes form, three times" form
check "each costs at most 3 N + 10 writes" is_met "writes for 18 nodes"
check "none of them is refused" is_met "of them refused"
[ "$failed" -eq 0 ] || cat "$work/figures" "$work/controller.log"
finish_checks
