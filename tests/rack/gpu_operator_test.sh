#!/usr/bin/env bash
# The driver in a container that is replaced, as the GPU Operator's: /run/nvidia/driver is a mount of its own, and after
# each restart another one. The pod of compute-domain-imex sees the next one without being replaced. Prints a line per
# check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

driver=/run/nvidia/driver
start_driver() { # NODE NAME: what its container mounts
  on_node "$1" mount -t tmpfs tmpfs $driver &&
    on_node "$1" cp -a /var/lib/compute-domain-driver/. $driver &&
    on_node "$1" sh -c "echo $2 >$driver/name"
}
end_driver() { on_node "$1" umount --lazy $driver; }
start_drivers() { for node in n01 n02; do start_driver "$node" "$1" || return 1; done; }
replace_drivers() { for node in n01 n02; do end_driver "$node" || return 1; done && start_drivers "$1"; }
# On both nodes.
pods_see() { # NAME
  local node
  for node in n01 n02; do
    prints "$1" on_node "$node" sh -c "cat /proc/\$(pgrep -of /usr/bin/compute-domain-imex)/root/driver-root/driver/name" || return 1
  done
}
pods() { node_programs get pods -l 'app in (compute-domain-agent, imex-daemon)' -o 'jsonpath={.items[*].metadata.uid}'; }

with_components gpu-operator
make_driver_root
check "a cluster of 2 nodes" start_cluster --nodes 2
check "with a driver container on each" start_drivers first
install_operator 2
check "the pods see the driver" pods_see first
form_train n01 n02
check "the domain goes" dissolve train
before=$(pods)
check "the driver containers are replaced" replace_drivers second
check "the pods see the new driver" eventually 20 pods_see second
form_train n01 n02
check "the domain goes" dissolve train
check "no pod has been replaced" [ "$(pods)" = "$before" ]
check_requests
finish_checks
