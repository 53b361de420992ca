#!/usr/bin/env bash
# older_bench.sh COMMIT RUNS NODES: what a formation on real kubelets costs the operator of an earlier commit, and this one: two
# clusters of their own, side by side, and older_bench.py in turns on both.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
commit=$(git rev-parse --short "$1^{commit}")
. tests/rack/older.sh

rack_of() { # older|newer
  work=$both/$1
  mkdir -p "$work"
  make_driver_root
  # Before 0.1.0 the supervisor looked for it.
  touch "$work/driver/usr/lib/$("${CXX:-g++}" -print-multiarch)/libnvidia-imex.so.1"
  cluster up --nodes "$2" --driver-root "$work/driver"
  for number in $(seq -f %02g 1 "$2"); do give_fabric_file "n$number"; done
  if [ "$1" = older ]; then load_older_images; else load_images; fi
  install "$1" "$1" "$1"
  for part in compute-domain-imex compute-domain-agent; do
    eventually 180 all_ready_anywhere "$part" "$2"
  done
}
# Before 0.1.0 the agent read it, where NVML is not played.
give_fabric_file() { # NODE
  local gpu
  {
    printf 'driver: 580.65.06\ngpus:\n'
    for gpu in 0 1 2 3; do
      echo "- {uuid: GPU-$1-$gpu, state: completed, health: healthy, clusterUUID: 6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10, cliqueID: 1}"
    done
  } >"$work/fabric.yaml"
  on_node "$1" cp "$work/fabric.yaml" /etc/compute-domain-test/fabric.yaml
}
all_ready_anywhere() { # DAEMONSET COUNT
  [ "$(kubectl get daemonset -A --field-selector "metadata.name=$1" -o 'jsonpath={.items[0].status.numberReady}')" = "$2" ]
}
both=$work
cleanup() {
  tools/cluster --dir "$both/older/cluster" down || true
  tools/cluster --dir "$both/newer/cluster" down || true
  rm -rf "$both"
}

{
  build_older
  rack_of older "$3"
  rack_of newer "$3"
} >&2
bench/rack/older_bench.py "$both/older/cluster/audit.log" "$both/newer/cluster/audit.log" "${@:2}"
