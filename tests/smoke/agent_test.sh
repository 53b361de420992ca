#!/usr/bin/env bash
# compute-domain-agent on a machine without GPUs: the embedded API server with the controller, the supervisor
# of IMEX with a stand-in for nvidia-imex, and a client that calls the plugin's sockets as kubelet does.
# Prints a line per check and their count, and what an idle agent uses. CDOM_SLOW=yes: the programs run under an emulator or
# a sanitizer, which has memory of its own.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

build=${CDOM_BUILD:-build/release}
bin=$build/bin
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig
unset NODE_NAME NAMESPACE POD_UID POD_IP
driver=compute-domain.nvidia.com
socket=$work/kubelet/plugins/$driver/dra.sock
registration=$work/kubelet/plugins_registry/$driver-reg.sock
address=127.120.$((($$ >> 8) & 255)).$(($$ & 255))
agent='' older='' imex='' sandbox=''
cleanup() {
  for pid in $agent $older $imex $sandbox; do
    kill -CONT "$pid" 2>/dev/null
    kill "$pid" 2>/dev/null
  done
  wait 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT

mkdir -p "$work"/kubelet/plugins "$work"/kubelet/plugins_registry "$work"/cdi "$work"/os
tests/imex/stand_in/make_driver_root "$build" "$work/root"
echo boot-1 >"$work/boot_id"
printf '127.0.0.1\tlocalhost\n' >"$work/hosts"
printf 'Character devices:\n235 nvidia-caps-imex-channels\n\nBlock devices:\n' >"$work/devices"
echo 'gpus: [{uuid: GPU-0, state: completed, clusterUUID: 6f0a3c52-1c7e, cliqueID: 7}]' >"$work/fabric.yaml"

start_imex() {
  POD_IP=$address "$bin/compute-domain-imex" --socket "$work/imex.sock" --directory "$work/imex" \
    --driver-root "$work/root" --kubelet-state-file "$work/kubelet/dra_manager_state" --hosts-file "$work/hosts" --persist-file "$work/os/persist.dat" \
    --device-files given --boot-id-file "$work/boot_id" --imex-option "STAND_IN_OS_DIRECTORY=$work/os" \
    --imex-option "STAND_IN_HOSTS_FILE=$work/hosts" --imex-option STAND_IN_READY_DELAY_MS=1500 \
    >>"$work/imex.log" 2>&1 &
  imex=$!
}
declare -A usual=([--node-name]=gpu1 [--kubelet-plugins-dir]=$work/kubelet/plugins [--cdi-root]=$work/cdi
  [--kubelet-registrar-dir]=$work/kubelet/plugins_registry
  [--fabric-file]=$work/fabric.yaml [--imex-socket]=$work/imex.sock [--boot-id-file]=$work/boot_id
  [--alt-proc-devices]=$work/devices [--metrics-listen]='')
flags() { # FLAG VALUE…: the usual ones, of which these differ, in $flags
  local -A now
  local name
  for name in "${!usual[@]}"; do now[$name]=${usual[$name]}; done
  for ((; $# > 0; )); do now[$1]=$2 && shift 2; done
  flags=()
  for name in "${!now[@]}"; do flags+=("$name" "${now[$name]}"); done
}
start_agent() { # FLAG VALUE…
  flags "$@"
  "$bin/compute-domain-agent" "${flags[@]}" >>"$work/agent.log" 2>&1 &
  agent=$!
}
try_agent() { # FLAG VALUE…: never for long
  flags "$@"
  timeout 20 "$bin/compute-domain-agent" "${flags[@]}"
}
stop_agent() { # it ends with code 0
  local code=0
  kill "$agent"
  wait "$agent" || code=$?
  agent=
  [ "$code" -eq 0 ]
}
kill_agent() {
  kill -9 "$agent"
  wait "$agent" 2>/dev/null
  agent=
}
kubelet() { timeout 60 "$build/tests/dra/kubelet-calls" "$@"; }
registers() { eventually 10 prints "DRAPlugin $driver $socket v1.DRAPlugin,v1beta1.DRAPlugin" kubelet register "$registration"; }

# fails CODE TEXT COMMAND…: it ends with this code and one line that holds the text.
fails() {
  local wanted=$1 text=$2 code=0 output
  shift 2
  output=$("$@" 2>&1) || code=$?
  echo "code $code: $output"
  [ "$code" -eq "$wanted" ] && [ "$(wc -l <<<"$output")" -eq 1 ] && [[ $output == *"$text"* ]]
}
refuses() { ! "$@"; }
names_in() { ls "$1"; }
starts_of_imex() { grep -c 'started nvidia-imex' "$work/imex.log"; }
daemon() { sed -n 's/.*started nvidia-imex.* pid=//p' "$work/imex.log" | tail -1; }
claim_field() { # POD FIELD
  kubectl get resourceclaims -o "jsonpath={.items[?(@.metadata.ownerReferences[0].name=='$1')].metadata.$2}"
}
is_allocated() { [ -n "$(kubectl get resourceclaim "$(claim_field "$1" name)" -o 'jsonpath={.status.allocation}')" ]; }
of_claim() { # VERB POD
  kubelet "$1" "$socket" default "$(claim_field "$2" name)" "$(claim_field "$2" uid)"
}

timeout 600 "$bin/compute-domain-sandbox" --racks 0 --kubeconfig "$KUBECONFIG" >"$work/out" 2>"$work/log" &
sandbox=$!
check "the API server gets ready" eventually 30 grep -q '^ready: KUBECONFIG=' "$work/out"

# ---- What is wrong is one line
check "without a node's name" fails 2 "--node-name: missing" "$bin/compute-domain-agent"
check "a flag that does not parse" fails 2 "colour" "$bin/compute-domain-agent" --colour red
check "no kubelet directory" fails 1 "is not a directory here" try_agent --kubelet-plugins-dir /nonexistent
check "no boot id" fails 1 "cannot read a boot id" try_agent --boot-id-file /nonexistent
check "no kubeconfig" fails 2 "there is no such file" try_agent --kubeconfig /nonexistent
check "a kubeconfig that is none" fails 2 "not a Kubernetes object" try_agent --kubeconfig "$work/boot_id"
check "no such node" fails 1 'the cluster has no Node "gpu1"' try_agent
kubectl apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: gpu1}
YAML
kubectl patch node gpu1 --subresource=status --type merge -p '{"status": {"nodeInfo": {"bootID": "boot-1"},
  "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
  "capacity": {"cpu": "8", "pods": "110"}, "allocatable": {"cpu": "8", "pods": "110"}}}' >/dev/null
sed "s/token: .*/token: $(kubectl create token default)/" "$KUBECONFIG" >"$work/nobody"
check "no permission" fails 1 "a permission is missing" try_agent --kubeconfig "$work/nobody"

# ---- fabric
fabric() { "$bin/compute-domain-agent" fabric --fabric-file "$1"; }
fabric_fails() { local code=0; fabric "$1" || code=$?; [ "$code" -eq 1 ]; }
echo 'gpus: [{uuid: GPU-0, state: inProgress}]' >"$work/faulty.yaml"
check "fabric tells the clique" prints "clique: 6f0a3c52-1c7e.7" fabric "$work/fabric.yaml"
check "and ends with 0" fabric "$work/fabric.yaml"
check "fabric tells a fault" prints "has not joined its NVLink fabric" fabric "$work/faulty.yaml"
check "and ends with 1" fabric_fails "$work/faulty.yaml"

# ---- The life of a claim
start_imex
start_agent
check "the slice is published" eventually 20 prints "gpu1-$driver" kubectl get resourceslices
check "with the clique" prints "6f0a3c52-1c7e.7" kubectl get resourceslices -o yaml
check "the report is, with the address of the IMEX supervisor" eventually 10 prints "$address" kubectl get cdn -o wide
check "kubelet registers the plugin" registers
check "the seat is healthy" prints "gpu1/channel-0 Healthy" kubelet health "$socket"
kubectl apply -f - >/dev/null <<'YAML'
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: train}
spec: {numNodes: 1, channel: {resourceClaimTemplate: {name: train-channel}}}
---
apiVersion: v1
kind: Pod
metadata: {name: worker}
spec:
  tolerations: [{operator: Exists}]
  containers:
  - {name: c, image: busybox, resources: {claims: [{name: channel}]}}
  resourceClaims: [{name: channel, resourceClaimTemplateName: train-channel}]
YAML
check "the scheduler allocates the seat" eventually 20 is_allocated worker
file=$work/cdi/k8s.compute-domain.nvidia.com-claim_$(claim_field worker uid).yaml

of_claim prepare worker >"$work/first" 2>&1 &
first=$!
check "IMEX is started for it" eventually 10 grep -q 'started nvidia-imex' "$work/imex.log"
kill_agent
check "a call ends with its agent" refuses wait "$first"
start_agent
registers # what is called earlier is refused
of_claim prepare worker >"$work/second" 2>&1 &
second=$!
unprepared_before_ready() {
  local end=$((SECONDS + 60))
  until grep -q 'state=ready' "$work/imex.log"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    [ -e "$file" ] && ! grep -q 'state=ready' "$work/imex.log" && return 1
    sleep 0.05
  done
}
check "nothing is injected before IMEX is READY" unprepared_before_ready
check "then the claim is prepared" wait "$second"
check "with the device of its file" prints "k8s.compute-domain.nvidia.com/claim=$(claim_field worker uid)-channel-0" cat "$work/second"
check "the file names the channel" prints '"path":"/dev/nvidia-caps-imex-channels/channel0","type":"c"' cat "$file"
check "and its numbers" prints '"fileMode":438,"major":235,"minor":0' cat "$file"
check "the report is READY" eventually 10 prints "Ready" kubectl get cdn gpu1
check "the domain is Ready" kubectl wait --for=condition=Ready computedomain/train --timeout=20s
check "IMEX was started once" prints 1 starts_of_imex

cp "$file" "$work/file"
pid=$(daemon)
kill_agent
check "a killed agent leaves its sockets" test -S "$socket"
start_agent
check "its successor takes them over" registers
check "and answers the same" prints "done $(claim_field worker uid)" of_claim prepare worker
check "with the same file" cmp "$file" "$work/file"
check "IMEX still runs, started once" prints 1 starts_of_imex
check "as the same process" kill -0 "$pid"
check "the report is still READY" prints "Ready" kubectl get cdn gpu1

kill -STOP "$pid"
check "a channel whose IMEX hangs is unhealthy" eventually 15 prints "gpu1/channel-0 Unhealthy" kubelet health "$socket"
kill -CONT "$pid"
check "and healthy when it answers" eventually 15 prints "gpu1/channel-0 Healthy" kubelet health "$socket"

# ---- The API server freezes: it takes what is sent and answers nothing
at_once() { # COMMAND…: within a second; where programs are slow, in less time than a request that gets no answer takes
  local start=${EPOCHREALTIME/./} limit=1000
  [ -z "${CDOM_SLOW:-}" ] || limit=4000
  "$@" || return 1
  local took=$(((${EPOCHREALTIME/./} - start) / 1000))
  echo "took $took ms"
  [ "$took" -lt "$limit" ]
}
worker_name=$(claim_field worker name)
worker_uid=$(claim_field worker uid)
known() { kubelet "$1" "$socket" default "$worker_name" "$worker_uid"; } # asks no API server
kubectl annotate computedomainnode gpu1 seen=yes >/dev/null # the watches are open, and get no rest
kill -STOP "$sandbox"
check "the API server freezes: a claim that is known is prepared at once" at_once prints "done" known prepare
check "unprepared too" at_once prints "done" known unprepare
check "its file is gone" refuses test -e "$file"
check "and IMEX ends" eventually 10 refuses kill -0 "$pid"
check "unprepared again, while the agent waits for an answer to its report" at_once prints "done" known unprepare
sleep 6 # longer than a request may take: now it waits for the next one
check "and again" at_once prints "done" known unprepare
known prepare >"$work/frozen" 2>&1 &
frozen=$!
check "a call that needs the API server does not hold up others" at_once prints "done" kubelet unprepare "$socket" default other other-uid
kill -CONT "$sandbox"
check "which is answered when the API server is back" wait "$frozen"
check "with the claim prepared" prints "done" cat "$work/frozen"
check "and the report is READY" eventually 20 prints "Ready" kubectl get cdn gpu1
check "the domain is" kubectl wait --for=condition=Ready computedomain/train --timeout=30s
pid=$(daemon)

# ---- What an idle agent uses
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$agent/status"; }
connections() { # of the process, established
  local inodes
  inodes=$(ls -l "/proc/$agent/fd" 2>/dev/null | sed -n 's/.*socket:\[\([0-9]*\)\].*/\1/p' | tr '\n' ' ')
  awk -v mine="$inodes" 'BEGIN { split(mine, a, " "); for (i in a) is[a[i]] }
    $4 == "01" && $10 in is { n++ } END { print n + 0 }' "/proc/$agent/net/tcp" "/proc/$agent/net/tcp6"
}
stop_agent
start_agent --metrics-listen 127.0.0.1:0
registers
address_of_health=$(sed -n 's/.* health=//p' "$work/agent.log" | tail -1)
health_of() {
  python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=5).read().decode())' \
    "http://$address_of_health$1"
}
watches() { health_of /metrics | grep -c 'compute_domain_watch_steps_total.*what="watch"'; }
check "it is ready" eventually 20 prints ok health_of /readyz
check "and no thread is stuck" prints ok health_of /healthz
sleep 3 # the work of its start is behind it
echo "        idle agent: $(rss) kB RSS, $(connections) connections, $(watches) watches"
[ -n "${CDOM_SLOW:-}" ] || check "at most 30 MB" test "$(rss)" -le 30720
at_most_5_connections() { [ "$(connections)" -le 5 ]; }
check "at most 5 connections" eventually 40 at_most_5_connections
check "3 watches" test "$(watches)" -eq 3

# ---- The end
kill -STOP "$imex"
of_claim unprepare worker >"$work/third" 2>&1 &
third=$!
check "an unprepare waits for the IMEX supervisor" eventually 15 grep -q Ending "$work/kubelet/plugins/$driver/checkpoint"
check "SIGTERM ends the agent with code 0" stop_agent
wait "$third"
check "the call was answered first" prints "is not unprepared, the call was given up" cat "$work/third"
check "its sockets are gone" is_empty names_in "$work/kubelet/plugins_registry"
check "all of them" refuses test -e "$socket"
# Once it goes on, its supervisor may still find what the agent has asked of it.
check "IMEX goes on" kill -0 "$pid"
kill -CONT "$imex"
start_agent
registers
check "unprepare" prints "done $(claim_field worker uid)" of_claim unprepare worker
check "removes the file" refuses test -e "$file"
check "and ends IMEX" eventually 10 refuses kill -0 "$pid"
check "which was started once more after the freeze" prints 2 starts_of_imex
check "unprepare again" prints "done $(claim_field worker uid)" of_claim unprepare worker
check "SIGTERM again" stop_agent

# ---- A rolling update that is taken back: two agents side by side, and the newer one is killed
socket_of() { echo "$work/kubelet/plugins/$driver/dra-$1.sock"; }
registers_pod() { # POD_UID
  eventually 10 prints "$(socket_of "$1")" kubelet register "$work/kubelet/plugins_registry/$driver-$1-reg.sock"
}
worker() { # VERB POD_UID: of the agent of that pod
  kubelet "$1" "$(socket_of "$2")" default "$(claim_field worker name)" "$(claim_field worker uid)"
}
start_agent --pod-uid older
older=$agent
check "an agent of a pod registers under its UID" registers_pod older
start_agent --pod-uid newer
check "so does a second beside it" registers_pod newer
check "the older prepares a claim" prints "done" worker prepare older
check "and the newer knows it" prints "done" worker prepare newer
check "over one IMEX daemon" prints 3 starts_of_imex
kubectl delete cdn gpu1 >/dev/null
check "the report comes back" eventually 10 prints Ready kubectl get cdn gpu1
kill_agent
check "the newer is killed; the older unprepares" prints "done" worker unprepare older
check "the file is gone" refuses test -e "$file"
check "the older removes the dead sockets" eventually 15 is_empty find "$work/kubelet" -name '*newer*.sock'
kubectl delete cdn gpu1 >/dev/null
check "and speaks for the node" eventually 10 prints "$address" kubectl get cdn gpu1 -o wide
agent=$older
check "SIGTERM ends it" stop_agent
check "no sanitizer has complained" no_sanitizer_complains "$work/agent.log" "$work/imex.log"
[ "$failed" -eq 0 ] || tail -n 40 "$work/agent.log" "$work/imex.log"
finish_checks
