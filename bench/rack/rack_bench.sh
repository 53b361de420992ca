#!/usr/bin/env bash
# rack_bench.sh RUNS AGAIN SIZE…: rack_bench.py on a cluster of its own, of as many nodes as the greatest SIZE, with the
# operator as it is shipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh

nodes=$(printf '%s\n' "${@:3}" | sort -n | tail -1)
{
  make_driver_root
  cluster up --nodes "$nodes" --driver-root "$work/driver"
  load_images
  kubectl apply --server-side -k manifests/test
  for part in compute-domain-imex compute-domain-agent; do eventually 120 all_ready daemonset "$part" "$nodes"; done
} >&2
bench/rack/rack_bench.py "$work/cluster/identities/admin.kubeconfig" "$work/cluster/audit.log" "$@"
