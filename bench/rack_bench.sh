#!/usr/bin/env bash
# rack_bench.sh NODES RUNS: rack_bench.py on a cluster of its own with the operator as it is shipped.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/smoke/check.sh
. tests/rack/rack.sh

{
  make_driver_root
  cluster up --nodes "$1" --driver-root "$work/driver"
  load_images
  kubectl apply --server-side -k manifests/test
  for part in compute-domain-imex compute-domain-agent; do eventually 120 all_ready daemonset "$part" "$1"; done
} >&2
bench/rack_bench.py "$work/cluster/identities/admin.kubeconfig" "$work/cluster/audit.log" "$1" "$2"
