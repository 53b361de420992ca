#!/usr/bin/env bash
# The scenarios on a sandbox process, over a socket, with a controller of its own. Prints a line per
# scenario and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/smoke/scenarios.sh

work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig
timeout 900 build/release/src/bin/compute-domain-sandbox --racks 2 --nodes-per-rack 19 \
  --run-controller=false --kubeconfig "$KUBECONFIG" >"$work/out" 2>"$work/log" &
sandbox=$!
trap 'stop_controller; kill $sandbox 2>/dev/null; wait $sandbox 2>/dev/null; rm -rf "$work"' EXIT

check "the sandbox gets ready" eventually 60 grep -q '^ready: KUBECONFIG=' "$work/out"
start_controller "$work"
play_scenarios "$work/scenarios"
[ "$failed" -eq 0 ] || tail -n 20 "$work/controller.log" "$work/log"
finish_checks
