#!/usr/bin/env bash
# Domains that nobody has written, on a rack of 18 real kubelets with the operator as it is shipped: of a Job whose
# claim template names none, and of a Job that only says `limits: {nvidia.com/compute-domain: "1"}`. Prints a line per
# check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

with_local_image() { sed 's|image: busybox|image: docker.io/local/busybox:1|' "manifests/examples/$1.yaml"; }
apply_example() { with_local_image "$1" | kubectl apply -f -; }
apply_pods() { for node in n01 n02; do pod_yaml nvlink "$node"; done | sed 's/nvlink-channel/nvlink/' | kubectl apply -f -; }
deployment() {
  cat <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve}
spec:
  replicas: 2
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: worker
        image: docker.io/local/busybox:1
        command: [sleep, infinity]
        resources: {claims: [{name: channel}]}
      resourceClaims: [{name: channel, resourceClaimTemplateName: nvlink}]
YAML
}
apply_deployment() { deployment | kubectl apply -f -; }
scale_to() { kubectl scale deployment serve --replicas="$1" && eventually 60 has_replicas "$1"; }
has_replicas() { [ "$(kubectl get pods -l app=serve --no-headers | grep -c Running)" = "$1" ]; }
# kustomize takes what lies beside it only.
name_device_class() {
  mkdir -p build/one-line &&
    printf '%s\n' 'resources: [../../manifests/test]' 'components: [../../manifests/extended-resource]' \
      >build/one-line/kustomization.yaml &&
    kubectl apply --server-side -k build/one-line
}
apply_one_line() {
  sed 's|image: busybox|image: docker.io/local/busybox:1|' manifests/extended-resource/job.yaml | kubectl apply -f -
}
claims_that_pods_name() { kubectl get pods -l job-name=one-line -o 'jsonpath={.items[*].spec.resourceClaims}'; }
# The only domain that there is.
domain() { kubectl get computedomains -o 'jsonpath={.items[*].metadata.name}'; }
has_one_domain() { [[ "$(domain)" =~ ^$1-[0-9a-f]{8}$ ]]; }
line() { kubectl get computedomains --no-headers; }
pods_of_job_run() { kubectl wait --for=condition=Ready pod -l "job-name=$1" --timeout=120s; }
all_have_channel() { # JOB COUNT
  local pod count=0
  for pod in $(kubectl get pods -l "job-name=$1" -o name); do has_channel "$pod" && count=$((count + 1)); done
  [ "$count" = "$2" ]
}
delete_job() { kubectl delete job "$1" --timeout=90s; }

set_up_rack 18

# --- a template that names no domain
check "a Job whose template names no domain" apply_example automatic-job
check "gets one" eventually 30 has_one_domain automatic
check "its pods run" pods_of_job_run automatic
check "with their channel" all_have_channel automatic 4
check "the domain is Ready" is_ready "$(domain)"
check "and says what it is for" prints " Job " line
check "the Job goes" delete_job automatic
check "and its domain with it" eventually 60 is_empty line

# --- pods that nobody owns
check "two pods that share that template" apply_pods
check "share a domain" eventually 30 has_one_domain nvlink
check "which is Ready" is_ready "$(domain)"
check "of both" prints " 2/2 " line
check "they go" kubectl delete pod -l domain=nvlink --timeout=60s
check "and the domain after the last of them" eventually 60 is_empty line
# --- a Deployment that sleeps for a while
check "a Deployment of two pods" apply_deployment
check "has a domain" eventually 30 has_one_domain 'serve-[0-9a-f]+'
name=$(domain)
check "which is Ready" is_ready "$name"
check "it goes to sleep" scale_to 0
check "and its domain waits for it" eventually 30 prints WaitingForPods line
check "it wakes up" scale_to 2
check "into the same domain" is_ready "$name"
check "it goes" kubectl delete deployment serve
check "and its domain with it" eventually 60 is_empty line
# --- one line
check "the device class gets its name" name_device_class
check "a Job of 18 pods that ask by one line" apply_one_line
check "has a domain" eventually 60 has_one_domain one-line
check "its pods run" pods_of_job_run one-line
check "with their channel" all_have_channel one-line 18
check "the domain is Ready" is_ready "$(domain)"
check "of 18 nodes" prints " 18/18 " line
check "no pod names a claim" is_empty claims_that_pods_name
check "the Job goes" delete_job one-line
check "and its domain with it" eventually 60 is_empty line
check "and the claims that the scheduler made" eventually 30 is_empty kubectl get resourceclaims -o name
check "its template goes" kubectl delete resourceclaimtemplate nvlink

check_requests
finish_checks
