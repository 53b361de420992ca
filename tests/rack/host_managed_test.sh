#!/usr/bin/env bash
# IMEX daemons that the hosts start, on real kubelets with the operator as it is shipped: they are asked, and never started
# or stopped; domains of theirs are Ready while they are. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

driver=/run/nvidia/driver
settings=$driver/etc/nvidia-imex # a host's own, though the nodes of a test share their driver

address() { kubectl get node "$1" -o 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'; }
configure_host() { # NODE
  on_node "$1" mount -t tmpfs tmpfs "$settings" &&
    { for node in n01 n02; do address "$node"; echo; done; } | on_node "$1" sh -c "cat >$settings/nodes.cfg" &&
    on_node "$1" sh -c "cat >$settings/config.cfg" <<END
IMEX_NODE_CONFIG_FILE=$settings/nodes.cfg
BIND_INTERFACE_IP=$(address "$1")
IMEX_CMD_UNIX_DOMAIN_PATH=$settings/imex_ctrl.sock
END
}
configure_hosts() { for node in n01 n02; do configure_host "$node" || return 1; done; }
start_daemon() { # NODE
  on_node "$1" sh -c "mkdir -p /run/nvidia-imex; setsid $driver/usr/bin/nvidia-imex -c $settings/config.cfg >/run/nvidia-imex.log 2>&1 </dev/null &"
  eventually 10 imex "$1"
}
has_no_daemon() { ! imex "$1"; }
kill_daemon() { on_node "$1" pkill -KILL -x nvidia-imex; }
daemons_are_the_same() { [ "$(daemons n01 n02)" = "$before" ]; }
tells() { prints "$1" kubectl get computedomain train -o wide --no-headers; }

mkdir -p "$work/driver/etc/nvidia-imex"
with_components host-managed
make_driver_root
check "a cluster of 2 nodes" start_cluster --nodes 2
check "whose hosts have their IMEX domain" configure_hosts
for node in n01 n02; do check "and start its daemon on $node" start_daemon "$node"; done
install_operator 2
before=$(daemons n01 n02)

form_train n01 n02
for node in n01 n02; do check "the container on $node has its channel" starts_with_channel "train-$node"; done
check "no daemon has been started or stopped" daemons_are_the_same
check "the domain says whose they are" tells host

check "a host's daemon that is killed" kill_daemon n02
check "is told" eventually 20 tells "nvidia-imex"
check "the domain is not Ready" eventually 20 tells NotReady
check "nobody else starts it" has_no_daemon n02
check "its host starts it" start_daemon n02
check "and the domain is Ready" is_ready train
before=$(daemons n01 n02)
check "IMEX supervisors that start anew" node_programs delete pod -l app=imex-daemon --wait=false
check "come" eventually 90 all_ready daemonset compute-domain-imex 2
check "and the domain is Ready" is_ready train
check "the domain goes" dissolve train
check "and no daemon has ended with it, or with them" daemons_are_the_same
check_requests
finish_checks
