#!/bin/bash
# cluster_test.sh [VERSION]: shows what tools/cluster gives and refuses, with that version of Kubernetes.
# Needs Go (tools/setup --cluster), 1 GB of memory and a minute.
# Not part of ctest: the first run on a machine builds Kubernetes.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(mktemp -d)
readonly ROOT WORK
readonly MAIN=$WORK/main OLD=$WORK/old
readonly VERSION=${1:-1.37}

cluster() { "$ROOT/tools/cluster" "$@"; }
up() { cluster --dir "$1" up --version "$VERSION" "${@:2}"; }
kubectl() { cluster --dir "$MAIN" kubectl "$@"; }

clean_up() {
  cluster --dir "$MAIN" down || true
  cluster --dir "$OLD" down || true
  rm -rf "$WORK"
}
trap clean_up EXIT

passed=0

# The first failure is the last test.
fail() {
  echo "FAILED: $*" >&2
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

resource_api_versions() {
  cluster --dir "$1" kubectl api-versions | sed -n 's|^resource.k8s.io/||p' | xargs
}

# Within 20 s: an admission policy takes effect some time after it is created.
eventually_fails() {
  local message=$1 attempt
  shift
  for attempt in {1..40}; do
    if ! "$@" >"$WORK/output" 2>&1 && grep -q "$message" "$WORK/output"; then return; fi
    sleep 0.5
  done
  fail "after $attempt attempts, '$*' does not fail with '$message'"
}

says_where_its_kubeconfig_is() {
  local last
  last=$(up "$MAIN" | tail -1)
  expect "ready: KUBECONFIG=$MAIN/identities/admin.kubeconfig" "$last"
  [ -s "${last#*=}" ] || fail "no such file: ${last#*=}"
  expect "No resources found" "$(kubectl get nodes 2>&1)"
  expect configmap/kube-root-ca.crt "$(kubectl --namespace kube-public get configmaps --output name)"
}

second_up_keeps_what_is_there() {
  kubectl create configmap kept --from-literal=key=value >/dev/null
  up "$MAIN" >/dev/null
  expect value "$(kubectl get configmap kept -o 'jsonpath={.data.key}')"
}

serves_the_resource_api() {
  local -A versions=([1.32]="v1beta1" [1.33]="v1beta1 v1beta2" [1.34]="v1" [1.35]="v1" [1.36]="v1" [1.37]="v1")
  expect "${versions[$VERSION]}" "$(resource_api_versions "$MAIN")"
}

pods_are_made_for_jobs() {
  kubectl create job work --image=none >/dev/null
  kubectl wait --for='jsonpath={.status.active}=1' job/work --timeout=30s >/dev/null
}

scheduler_allocates_claims() {
  local -A version=([1.32]=v1beta1 [1.33]=v1beta2 [1.34]=v1 [1.35]=v1 [1.36]=v1 [1.37]=v1)
  local api=resource.k8s.io/${version[$VERSION]} now device='{name: channel-0}'
  local request='{name: channel, exactly: {deviceClassName: channels}}'
  if [ "${version[$VERSION]}" = v1beta1 ]; then
    device='{name: channel-0, basic: {}}' request='{name: channel, deviceClassName: channels}'
  fi
  now=$(date --utc +%FT%TZ)
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Node
metadata: {name: node-1}
---
apiVersion: $api
kind: DeviceClass
metadata: {name: channels}
spec: {selectors: [{cel: {expression: device.driver == 'driver.example'}}]}
---
apiVersion: $api
kind: ResourceSlice
metadata: {name: node-1}
spec:
  driver: driver.example
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: 1}
  devices: [$device]
---
apiVersion: $api
kind: ResourceClaimTemplate
metadata: {name: channel}
spec: {spec: {devices: {requests: [$request]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: claiming}
spec:
  # What the node lifecycle controller may not have taken away yet.
  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]
  resourceClaims: [{name: channel, resourceClaimTemplateName: channel}]
  containers: [{name: main, image: none, resources: {claims: [{name: channel}]}}]
END
  kubectl patch node node-1 --subresource=status --patch "
    status:
      conditions: [{type: Ready, status: 'True', lastHeartbeatTime: $now, lastTransitionTime: $now}]
      allocatable: {cpu: 1, memory: 1Gi, pods: 10}" >/dev/null
  kubectl wait --for=condition=PodScheduled pod/claiming --timeout=30s >/dev/null
  expect node-1 "$(kubectl get pod claiming -o 'jsonpath={.spec.nodeName}')"
  expect channel-0 "$(kubectl get resourceclaims -o 'jsonpath={.items[*].status.allocation.devices.results[*].device}')"
}

service_account_tokens_are_authenticated() {
  local token review
  token=$(kubectl create token default)
  review='{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "'$token'"}}'
  expect system:serviceaccount:default:default \
    "$(kubectl create --raw /apis/authentication.k8s.io/v1/tokenreviews -f - <<<"$review" | jq -r .status.user.username)"
}

admission_policies_are_enforced() {
  kubectl apply -f - >/dev/null <<'END'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-forbidden}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  validations:
  - {expression: "object.metadata.name != 'forbidden'", message: that name is forbidden}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-forbidden}
spec: {policyName: no-forbidden, validationActions: [Deny]}
END
  eventually_fails "that name is forbidden" kubectl create configmap forbidden --dry-run=server
}

audit_log_names_every_request() {
  local log
  log=$(cluster --dir "$MAIN" status | sed -n 's/^audit log: *//p')
  expect 1 "$(jq -r 'select(.verb == "create" and .objectRef.name == "kept") | .level' "$log" | grep -c Metadata)"
}

old_api_versions_run_beside_it() {
  up "$OLD" --only apiserver --api-versions v1beta1 >/dev/null
  expect v1beta1 "$(resource_api_versions "$OLD")"
  expect_failure "a cluster with other options runs" up "$OLD"
  expect value "$(kubectl get configmap kept -o 'jsonpath={.data.key}')"
}

restarts_a_component() {
  local before
  before=$(cat "$MAIN/kube-apiserver.pid")
  cluster --dir "$MAIN" restart kube-apiserver
  [ "$(cat "$MAIN/kube-apiserver.pid")" != "$before" ] || fail "it is still the same process"
  expect value "$(kubectl get configmap kept -o 'jsonpath={.data.key}')"
}

replaces_a_cluster_of_which_a_part_has_died() {
  kill -KILL "$(cut -d' ' -f1 "$MAIN/kube-apiserver.pid")"
  expect_failure "does not run" cluster --dir "$MAIN" status
  up "$MAIN" >/dev/null
  cluster --dir "$MAIN" status >/dev/null
}

refuses_what_it_cannot_do() {
  expect_failure "has no resource.k8s.io/v2" up "$WORK/none" --api-versions v2
  expect_failure "no cluster in" cluster --dir "$WORK/none" kubectl get nodes
  mkdir "$WORK/precious"
  touch "$WORK/precious/file"
  expect_failure "something else than a cluster" up "$WORK/precious"
  expect_failure "something else than a cluster" cluster --dir "$WORK/precious" down
  [ -e "$WORK/precious/file" ] || fail "removed a file that is not its own"
  expect_failure "as $WORK/precious/file is a file" cluster --dir "$WORK/precious/file/below" status
}

down_leaves_nothing() {
  local pids pid
  pids=$(cut -d' ' -f1 "$MAIN"/*.pid "$OLD"/*.pid)
  cluster --dir "$MAIN" down
  cluster --dir "$OLD" down
  cluster --dir "$MAIN" down
  for pid in $pids; do
    ! grep -qs "$WORK" "/proc/$pid/cmdline" || fail "process $pid still runs"
  done
  [ ! -e "$MAIN" ] || fail "files are left in $MAIN"
  [ ! -e "$OLD" ] || fail "files are left in $OLD"
}

for test in \
  says_where_its_kubeconfig_is \
  second_up_keeps_what_is_there \
  serves_the_resource_api \
  pods_are_made_for_jobs \
  scheduler_allocates_claims \
  service_account_tokens_are_authenticated \
  admission_policies_are_enforced \
  audit_log_names_every_request \
  old_api_versions_run_beside_it \
  restarts_a_component \
  replaces_a_cluster_of_which_a_part_has_died \
  refuses_what_it_cannot_do \
  down_leaves_nothing; do
  "$test"
  passed=$((passed + 1))
  echo "ok      $test"
done
echo "$passed passed, 0 failed"
