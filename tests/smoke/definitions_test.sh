#!/usr/bin/env bash
# A CustomResourceDefinition that an older one has replaced, on the embedded cluster with a real kubectl: the controller
# tells of it and goes on. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=${CDOM_BUILD:-build/release}/bin
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig
timeout 300 "$bin/compute-domain-sandbox" --racks 1 --nodes-per-rack 4 --run-controller=false \
  --kubeconfig "$KUBECONFIG" >"$work/out" 2>"$work/log" &
sandbox=$!
controller=
trap 'kill $controller $sandbox 2>/dev/null; wait $sandbox 2>/dev/null; rm -rf "$work"' EXIT
start_controller() {
  timeout 300 "$bin/compute-domain-controller" --kubeconfig "$KUBECONFIG" --metrics-listen "" >"$work/$1" 2>&1 &
  controller=$!
}
# As an older release has it.
older() { sed 's/^\( *\)pendingClaims:$/\1older:/' crds/computedomainnodes.yaml; }
outdated() { kubectl get events -n default --field-selector reason=DefinitionOutdated "$@"; }

check "the sandbox gets ready" eventually 30 grep -q '^ready: KUBECONFIG=' "$work/out"
check "an older definition replaces one" eval "older | kubectl replace -f -"
start_controller first.log
check "the log names the field" eventually 20 grep -q 'lacks field status.pendingClaims' "$work/first.log"
check "and the definition" grep -q 'definition=computedomainnodes.resource.nvidia.com' "$work/first.log"
check "an Event does, with the remedy" eventually 20 prints "kubectl apply --server-side --force-conflicts -k crds" \
  outdated -o 'jsonpath={.items[*].message}'
check "it is on the definition" prints "CustomResourceDefinition/computedomainnodes.resource.nvidia.com" \
  outdated -o 'jsonpath={.items[*].involvedObject.kind}/{.items[*].involvedObject.name}'
check "the controller serves domains" kubectl apply -f manifests/examples/two-nodes.yaml
check "one gets Ready" kubectl wait --for=condition=Ready computedomain/two-nodes --timeout=60s
kill "$controller"
wait "$controller" 2>/dev/null
check "the Event is deleted" kubectl delete events -n default --field-selector reason=DefinitionOutdated
check "the remedy" kubectl apply --server-side --force-conflicts -k crds
start_controller second.log
check "the controller starts again" eventually 20 grep -q 'all watches are synced' "$work/second.log"
sleep 2
check "and has nothing to tell" eval "! grep -q lacks '$work/second.log'"
check "nor an Event" is_empty outdated -o name
check "no sanitizer has complained" no_sanitizer_complains "$work"/*.log
[ "$failed" -eq 0 ] || tail -n 20 "$work"/*.log
finish_checks
