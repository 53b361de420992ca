#!/usr/bin/env bash
# Domains that nobody has written, on a rack of 18 real kubelets with the operator as it is shipped: of a Job whose
# claim template names none, of the recipe's Jobs, and of a Job that only says
# `limits: {nvidia.com/compute-domain: "1"}`, beside which all agents are replaced. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

apply_recipe() { apply_example "examples/recipe/$1"; }
job_completes() { kubectl wait --for=condition=Complete "job/$1" --timeout=90s; }
# How many pods of a Job have printed a line like that.
count_lines() { kubectl logs -l "job-name=$1" --tail=-1 | grep -cE "$2"; }
# These nodes have stand-ins where the DaemonSets look, and no driver of their own.
has_checked_all() { [ "$(count_lines node-check '^n[0-9]+: [0-9]+ FAILS: driver 570.158.01 or later')" = 18 ]; }
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
# What has to stay as it is while agents come and go: all daemons and the containers of the one-line Job.
state() {
  daemons n{01..18}
  kubectl get pods -l job-name=one-line \
    -o 'jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[0].restartCount}{"\n"}{end}'
}
replace_agents() {
  node_programs rollout restart daemonset/compute-domain-agent &&
    node_programs rollout status daemonset/compute-domain-agent --timeout=180s
}
delete_job() { kubectl delete job "$1" --timeout=90s; }

set_up_rack 18

# --- a template that names no domain
check "a Job whose template names no domain" apply_example examples/automatic-job
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
# --- the recipe: what its containers themselves see
check "the recipe's verification" apply_recipe 01-install-and-verify
check "says of each node that it has no driver" eventually 90 has_checked_all
check "which is all that it does" delete_job node-check
check "completes" job_completes verify-install
check "its pod has seen the channel" prints "channel0" kubectl logs job/verify-install
check "it goes" delete_job verify-install
check "its template too" kubectl delete resourceclaimtemplate verify-install
check "the recipe's class and template" apply_recipe 02-class-and-template
check "its four pods" apply_recipe 03-four-pod-job
check "have a domain" eventually 60 has_one_domain four-pods
check "which is Ready" is_ready "$(domain)"
check "and each pod has its channel" eventually 30 all_have_channel four-pods 4
check "they go" delete_job four-pods
check "and the domain" eventually 60 is_empty line
check "NCCL's settings" apply_recipe 06-nccl-settings
check "reach both pods" eventually 60 prints 2 count_lines nccl '^NCCL_MNNVL_ENABLE=1$'
check "their Job goes" delete_job nccl
check "with its domain" eventually 60 is_empty line
check "the connectivity check" apply_recipe 08-connectivity-check
check "has a domain" eventually 60 has_one_domain connectivity
check "of four nodes that are connected" eventually 60 has_event AllNodesReady "4 nodes are ready and connected" "$(domain)"
check "and completes" job_completes connectivity
check "as every pod can write its channel" prints 4 count_lines connectivity '^connectivity-[0-3].*channel0 is there$'
check "it goes" delete_job connectivity
check "and its domain" eventually 60 is_empty line
# --- one line
check "the device class gets its name" name_device_class
check "a Job of 18 pods that ask by one line" apply_example extended-resource/job
check "has a domain" eventually 60 has_one_domain one-line
check "its pods run" pods_of_job_run one-line
check "with their channel" all_have_channel one-line 18
check "the domain is Ready" is_ready "$(domain)"
check "of 18 nodes" prints " 18/18 " line
check "no pod names a claim" is_empty claims_that_pods_name
before=$(state)
check "the agents of all nodes are replaced" replace_agents
check "no daemon and no container has ended" nothing_has_ended
check "the domain is Ready" is_ready "$(domain)"
check "the Job goes" delete_job one-line
check "and its domain with it" eventually 60 is_empty line
check "and the claims that the scheduler made" eventually 30 is_empty kubectl get resourceclaims -o name
check "its template goes" kubectl delete resourceclaimtemplate nvlink

check_requests
finish_checks
