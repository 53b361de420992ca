#!/usr/bin/env bash
# faults_bench.sh KILLS LOSSES: faults_bench.py on a cluster of its own, of three nodes with the operator as it is shipped.
# Kubernetes takes longer to miss a node than the slowest daemon.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh

{
  make_driver_root
  cluster up --nodes 3 --node-grace 60 --driver-root "$work/driver"
  load_images
  kubectl apply --server-side -k manifests/test
  for part in compute-domain-imex compute-domain-agent; do eventually 120 all_ready daemonset "$part" 3; done
} >&2
bench/rack/faults_bench.py "$work/cluster/audit.log" "$@"
