#!/bin/bash
# nodes_test.sh: shows that the nodes of tools/cluster are machines: they run pods, lose their power, boot again, and are
# cut off. Needs root, Go (tools/setup --cluster), 3 GB of memory and two minutes.
# Not part of ctest: the first run on a machine builds Kubernetes and containerd.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(mktemp -d)
readonly ROOT WORK
readonly MAIN=$WORK/main OTHER=$WORK/other

cluster() { "$ROOT/tools/cluster" --dir "$MAIN" "$@"; }
node() { cluster node "$@"; }
kubectl() { "$MAIN/kubectl" "$@"; }
other() { "$ROOT/tools/cluster" --dir "$OTHER" "$@"; }

clean_up() {
  cluster down || true
  other down || true
  rm -rf "$WORK"
}
trap clean_up EXIT

passed=0

# The first failure is the last test.
fail() {
  echo "FAILED: $*" >&2
  kubectl get nodes,pods -o wide >&2 || true
  echo "$passed passed, 1 failed"
  exit 1
}

expect() {
  local wanted=$1 got=$2
  [ "$got" = "$wanted" ] || fail "expected '$wanted', got '$got'"
}

expect_failure() {
  local message=$1
  shift
  local output
  if output=$("$@" 2>&1); then fail "'$*' did not fail"; fi
  [[ $output == *"$message"* ]] || fail "'$*' failed without '$message': $output"
}

# Within 30 s.
eventually() {
  local attempt
  for attempt in {1..60}; do
    if "$@" >"$WORK/output" 2>&1; then return; fi
    sleep 0.5
  done
  fail "after $attempt attempts: '$*': $(cat "$WORK/output")"
}

boot_id() { kubectl get node "$1" -o 'jsonpath={.status.nodeInfo.bootID}'; }
pod_on() { kubectl get pods -l app=box --field-selector "spec.nodeName=$1" -o "jsonpath={.items[0]$2}"; }
name_on() { pod_on "$1" .metadata.name; }
address_on() { pod_on "$1" .status.podIP; }

# What the pod of the second node serves, as the pod of the first one gets it. (busybox' wget, linked statically, has
# a resolver that crashes.)
fetch() {
  kubectl exec "$(name_on "$1")" -- \
    sh -c "printf 'GET / HTTP/1.0\r\n\r\n' | timeout 5 nc -w 2 $(address_on "$2") 8080 | tail -1"
}
reaches() { [ "$(fetch "$1" "$2")" = "$(node "$2" exec cat /proc/sys/kernel/random/boot_id)" ]; }
does_not_reach() { [ -z "$(fetch "$1" "$2")" ]; }

nodes_are_ready_when_up_says_so() {
  expect "ready: KUBECONFIG=$MAIN/identities/admin.kubeconfig" "$(cluster up --nodes 3 --racks 2 | tail -1)"
  expect "r1n01 r2n01 r2n02" "$(kubectl get nodes -o 'jsonpath={.items[*].metadata.name}')"
  kubectl wait --for=condition=Ready nodes --all --timeout=1s >/dev/null || fail "not all are Ready"
  expect "r2n01 r2n02" "$(kubectl get nodes -l sandbox.compute-domain/rack=r2 -o 'jsonpath={.items[*].metadata.name}')"
}

nodes_have_their_own_host_name_boot_id_devices_and_fabric() {
  expect r2n02 "$(node r2n02 exec hostname)"
  expect "$(boot_id r2n02)" "$(node r2n02 exec cat /proc/sys/kernel/random/boot_id)"
  expect 3 "$(kubectl get nodes -o 'jsonpath={range .items[*]}{.status.nodeInfo.bootID}{"\n"}{end}' | sort -u | wc -l)"
  node r2n02 exec mknod /dev/own c 1 3
  expect_failure "No such file" node r2n01 exec ls /dev/own
  node r2n02 exec touch /etc/own /var/lib/own
  [ ! -e /etc/own ] && [ ! -e /var/lib/own ] || fail "a node's file is this machine's"
  expect "$(kubectl get node r2n02 -o 'jsonpath={.metadata.labels.nvidia\.com/gpu\.clique}' | tr -d -)" \
    "$(node r2n02 exec cat /etc/compute-domain-test/nvml.json | jq -r '[.gpus[] | "\(.cluster).\(.clique)"] | unique[]')"
  expect "235 nvidia-caps-imex-channels" "$(node r2n02 exec grep imex /etc/compute-domain-test/proc-devices)"
}

pods_run_on_every_node() {
  kubectl apply -f - >/dev/null <<END
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: box}
spec:
  selector: {matchLabels: {app: box}}
  template:
    metadata: {labels: {app: box}}
    spec:
      terminationGracePeriodSeconds: 0
      tolerations: [{operator: Exists}]
      containers:
      - name: main
        image: local/busybox:1
        imagePullPolicy: Never
        command: [sh, -c, "mkdir /www; cat /host/boot_id >/www/index.html; echo serving; exec httpd -f -p 8080 -h /www"]
        volumeMounts:
        - {name: boot-id, mountPath: /host/boot_id}
        - {name: programs, mountPath: /programs}
      volumes:
      - name: boot-id
        hostPath: {path: /proc/sys/kernel/random/boot_id, type: File}
      - name: programs
        hostPath: {path: $(dirname "$("$ROOT/tools/cluster" build)"), type: Directory}
END
  kubectl rollout status daemonset box --timeout=60s >/dev/null
  expect 3 "$(kubectl get pods -l app=box --no-headers | wc -l)"
}

logs_and_exec_work() {
  expect serving "$(kubectl logs "$(name_on r1n01)")"
  expect "$(boot_id r1n01)" "$(kubectl exec "$(name_on r1n01)" -- cat /host/boot_id)"
}

pods_of_different_nodes_reach_each_other() {
  reaches r1n01 r2n01 || fail "r1n01 does not reach r2n01"
  reaches r2n02 r1n01 || fail "r2n02 does not reach r1n01"
}

pods_reach_the_api_server_by_their_in_cluster_configuration() {
  expect system:serviceaccount:default:default \
    "$(kubectl exec "$(name_on r2n01)" -- /programs/kubernetes kubectl auth whoami -o 'jsonpath={.status.userInfo.username}')"
}

images_are_loaded_on_every_node() {
  PYTHONPATH=$ROOT/tools/image.d python3 -B - "$WORK/image.tar" <<'END'
import pathlib, sys
import oci_archive
from architectures import ARCHITECTURES, native
entries = {"busybox": oci_archive.Entry(0o755, content=pathlib.Path("/bin/busybox").read_bytes())}
settings = {"Entrypoint": ["/busybox", "echo", "own image"]}
# As a release has them: one name for nodes of every architecture.
images = [oci_archive.Image(entries if name == native().name else {}, settings, {}, name) for name in ARCHITECTURES]
oci_archive.write_all(pathlib.Path(sys.argv[1]), ["docker.io/local/own:2"], images)
END
  node r2n02 kill
  cluster load-image "$WORK/image.tar"
  node r2n02 reboot
  local name
  for name in r1n01 r2n02; do
    kubectl run "own-$name" --image=local/own:2 --image-pull-policy=Never --restart=Never \
      --overrides='{"spec": {"nodeName": "'$name'"}}' >/dev/null
    kubectl wait --for='jsonpath={.status.phase}=Succeeded' "pod/own-$name" --timeout=30s >/dev/null
    expect "own image" "$(kubectl logs "own-$name")"
  done
  expect_failure "cannot be read as an image archive" cluster load-image /etc/passwd
}

a_node_that_is_cut_off_from_another_reaches_the_rest() {
  node r1n01 cut --from r2n01
  does_not_reach r1n01 r2n01 || fail "r1n01 reaches r2n01"
  does_not_reach r2n01 r1n01 || fail "r2n01 reaches r1n01"
  reaches r1n01 r2n02 || fail "r1n01 does not reach r2n02"
  node r2n01 heal --from r1n01
  reaches r1n01 r2n01 || fail "r1n01 is not healed"
  expect_failure "no node nowhere" node r1n01 cut --from nowhere
}

a_node_that_is_cut_off_from_the_api_server_gets_not_ready_and_runs_on() {
  node r2n01 cut --from api
  kubectl wait --for=condition=Ready=Unknown node/r2n01 --timeout=60s >/dev/null
  reaches r1n01 r2n01 || fail "its pod does not run on"
  node r2n01 heal
  kubectl wait --for=condition=Ready node/r2n01 --timeout=60s >/dev/null
}

a_node_without_power_is_gone_without_a_word() {
  local before group
  before=$(boot_id r2n01)
  node r2n01 kill
  expect True "$(kubectl get node r2n01 -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')"
  expect "r2n01: is off" "$(cluster status | grep '^r2n01' | tr -s ' ')"
  for group in $(find /sys/fs/cgroup -path "*/compute-domain-*/r2n01" -path "*$(own_name)*"); do
    fail "there is still a control group $group"
  done
  does_not_reach r1n01 r2n01 || fail "its pod answers"
  kubectl wait --for=condition=Ready=Unknown node/r2n01 --timeout=60s >/dev/null
  expect "$before" "$(boot_id r2n01)"
}

a_node_that_boots_again_has_a_new_boot_id_and_its_files() {
  local before
  before=$(boot_id r2n01)
  node r2n01 exec true 2>/dev/null && fail "it is on"
  node r2n01 reboot
  [ "$(boot_id r2n01)" != "$before" ] || fail "the boot id is the old one"
  eventually reaches r1n01 r2n01
  node r2n02 reboot
  node r2n02 exec test -e /etc/own -a -e /var/lib/own -a ! -e /dev/own || fail "what is on disk is not what it was"
  expect r2n02 "$(kubectl get events --field-selector reason=Rebooted -o 'jsonpath={range .items[*]}{.involvedObject.name}{"\n"}{end}' | grep r2n02 | head -1)"
}

fault() { kubectl annotate --overwrite "$1" "$2" "sandbox.compute-domain/fault$3" >/dev/null; } # KIND NAME =FAULT|-
is_off() { cluster status | grep "^$1: *is off"; }
is_ready_after() { [ "$(boot_id "$1")" != "$2" ] && kubectl wait --for=condition=Ready "node/$1" --timeout=1s; }
state_of_imex() { [ "$(node r1n01 exec sh -c 'sed -n "s/^State:[[:space:]]*\(.\).*/\1/p" /proc/$(pgrep -x nvidia-imex)/status' 2>/dev/null)" = "$1" ]; }
start_imex() { node r1n01 exec sh -c 'cp /bin/sleep /run/nvidia-imex; setsid /run/nvidia-imex 1000 >/dev/null 2>&1 </dev/null &'; }

annotations_are_faults_of_nodes() {
  local before
  before=$(boot_id r2n01)
  fault node r2n01 =power-off
  eventually is_off r2n01
  fault node r2n01 -
  eventually is_ready_after r2n01 "$before"
  eventually reaches r1n01 r2n01
  fault pod "$(name_on r2n02)" =partition
  eventually does_not_reach r1n01 r2n02
  reaches r1n01 r2n01 || fail "r2n01 is cut off as well"
  fault pod "$(name_on r2n02)" -
  eventually reaches r1n01 r2n02
  # Where no daemon runs, they are the next one's.
  fault node r1n01 =imex-hang
  start_imex
  eventually state_of_imex T
  fault node r1n01 -
  eventually state_of_imex S
  fault node r1n01 "=watch-cut, slow-api,imex-kill"
  eventually state_of_imex ""
  fault node r1n01 -
  fault node r1n01 =fire
  told() { kubectl get events --field-selector reason=UnknownFault -o 'jsonpath={.items[*].message}' | grep 'no fault "fire".*power-off, imex-kill'; }
  eventually told
  fault node r1n01 -
  expect_failure "" grep -v " \(strike\|heal\) " "$MAIN/faults.log"
}

healing_one_cut_leaves_the_others() {
  fault node r2n01 =partition,imex-cut
  eventually does_not_reach r1n01 r2n01
  fault node r2n01 =imex-cut
  kubectl wait --for=condition=Ready node/r2n01 --timeout=60s >/dev/null
  does_not_reach r1n01 r2n01 || fail "the end of the partition has ended imex-cut"
  fault node r2n02 =imex-cut
  eventually does_not_reach r1n01 r2n02
  fault node r2n01 -
  eventually reaches r1n01 r2n01
  does_not_reach r2n01 r2n02 || fail "r2n01, which is healed, has healed r2n02 as well"
  fault node r2n02 -
  eventually reaches r2n01 r2n02
}

a_split_parts_the_nodes_that_have_it_from_the_others() {
  fault node r2n01 =imex-split
  eventually does_not_reach r1n01 r2n01
  does_not_reach r2n02 r2n01 || fail "r2n02 reaches r2n01, which alone has imex-split"
  fault node r2n02 =imex-split,partition
  fault node r2n02 =imex-split
  eventually reaches r2n01 r2n02
  does_not_reach r1n01 r2n02 || fail "the end of the partition has ended imex-split"
  fault node r2n01 -
  eventually reaches r1n01 r2n01
  fault node r2n02 -
  eventually reaches r1n01 r2n02
}

a_second_cluster_with_nodes_runs_beside_it() {
  other up --nodes 1 --ip-family ipv6 >/dev/null
  expect "n01 fd00:10:88:1::1" "$(other kubectl get nodes -o 'jsonpath={.items[*].metadata.name} {.items[*].status.addresses[?(@.type=="InternalIP")].address}')"
  expect "r1n01 r2n01 r2n02" "$(kubectl get nodes -o 'jsonpath={.items[*].metadata.name}')"
  other down
  reaches r2n02 r2n01 || fail "the end of the other cluster is felt"
}

up_again_keeps_what_is_there() {
  cluster up --nodes 3 --racks 2 >/dev/null
  expect_failure "a cluster with other options runs" cluster up --nodes 2
  reaches r1n01 r2n01 || fail "the pods do not run on"
}

refuses_what_it_cannot_do() {
  expect_failure "needs all components" other up --nodes 1 --only apiserver
  expect_failure "of Kubernetes 1.33 resource.k8s.io/v1beta1" other up --nodes 1 --version 1.33 --api-versions v1beta2
  expect_failure "a node in each" other up --nodes 1 --racks 2
  expect_failure "without --nodes" other up --ip-family ipv6
  expect_failure "no node n77" node n77 kill
  expect_failure "no such folder" other up --nodes 1 --driver-root "$WORK/nowhere"
}

# What the cluster's control groups are called.
own_name() { printf '%s' "$MAIN" | sha256sum | head -c 8; }

nothing_is_left() {
  [ ! -e "$MAIN" ] || fail "files are left in $MAIN"
  ! grep -ls "$MAIN" /proc/[0-9]*/cmdline /proc/[0-9]*/environ /proc/[0-9]*/mountinfo || fail "these processes are left"
  expect "" "$(ip -oneline link | grep "$(own_name)")"
  expect "" "$(find /sys/fs/cgroup -name "compute-domain-$(own_name)")"
}

down_leaves_nothing() {
  cluster status >/dev/null || fail "it does not run"
  cluster down
  nothing_is_left
  cluster down
}

a_second_time_it_comes_up_and_goes() {
  cluster up --nodes 2 >/dev/null
  kubectl wait --for=condition=Ready nodes --all --timeout=1s >/dev/null || fail "not all are Ready"
  cluster down
  nothing_is_left
}

down_cleans_up_after_an_up_that_was_killed() {
  local file
  for file in network.pid kube-apiserver.pid nodes/n02/first.pid nodes/n01/kubelet.log; do
    cluster up --nodes 2 >/dev/null 2>&1 &
    timeout 300 bash -c 'until [ -e "$1" ]; do sleep 0.05; done' until "$MAIN/$file" || fail "there is no $file"
    kill -KILL $!
    wait $! 2>/dev/null || true
    cluster down
    nothing_is_left
  done
}

for test in \
  nodes_are_ready_when_up_says_so \
  nodes_have_their_own_host_name_boot_id_devices_and_fabric \
  pods_run_on_every_node \
  logs_and_exec_work \
  pods_of_different_nodes_reach_each_other \
  pods_reach_the_api_server_by_their_in_cluster_configuration \
  images_are_loaded_on_every_node \
  a_node_that_is_cut_off_from_another_reaches_the_rest \
  a_node_that_is_cut_off_from_the_api_server_gets_not_ready_and_runs_on \
  a_node_without_power_is_gone_without_a_word \
  a_node_that_boots_again_has_a_new_boot_id_and_its_files \
  annotations_are_faults_of_nodes \
  healing_one_cut_leaves_the_others \
  a_split_parts_the_nodes_that_have_it_from_the_others \
  a_second_cluster_with_nodes_runs_beside_it \
  up_again_keeps_what_is_there \
  refuses_what_it_cannot_do \
  down_leaves_nothing \
  a_second_time_it_comes_up_and_goes \
  down_cleans_up_after_an_up_that_was_killed; do
  "$test"
  passed=$((passed + 1))
  echo "ok      $test"
done
echo "$passed passed, 0 failed"
