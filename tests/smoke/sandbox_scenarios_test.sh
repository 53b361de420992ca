#!/usr/bin/env bash
# The scenarios on a sandbox process, over a socket, with a controller of its own. Prints a line per
# scenario and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/smoke/scenarios.sh

work=$(mktemp -d)
start_sandbox() { # ISOLATION
  mkdir "$work/$1"
  export KUBECONFIG=$work/$1/kubeconfig
  timeout 900 build/release/bin/compute-domain-sandbox --racks 2 --nodes-per-rack 19 \
    --isolation "$1" --run-controller=false --kubeconfig "$KUBECONFIG" \
    >"$work/$1/out" 2>"$work/$1/log" &
  sandbox=$!
  check "the sandbox gets ready, isolation by $1" \
    eventually 60 grep -q '^ready: KUBECONFIG=' "$work/$1/out"
  start_controller "$work/$1" --shared-claims-enabled
}
stop_sandbox() {
  stop_controller
  kill "$sandbox" 2>/dev/null
  wait "$sandbox" 2>/dev/null
}
trap 'stop_sandbox; rm -rf "$work"' EXIT

start_sandbox domain
play_scenarios "$work/scenarios"
stop_sandbox
start_sandbox channel
play_channels "$work/channels"
[ "$failed" -eq 0 ] || tail -n 20 "$work"/*/controller.log "$work"/*/log
finish_checks
