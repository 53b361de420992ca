#!/usr/bin/env bash
# upgrade_test.sh [COMMIT]: an upgrade from the operator of that commit to this one and back, program by program, under a
# Job that runs in a domain, and completes; on three real kubelets, with the images and the manifests of both. COMMIT: the last release before
# the version of this tree, by its tag or by the day that it has in CHANGELOG.md; where there is none yet, what is before this commit. Its programs are built in
# build/older. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

older=${1:-$(tests/release_commit)}
commit=$(git rev-parse --short "${older:-HEAD~1}^{commit}") || exit 1
. tests/rack/older.sh

install_and_wait() { # as `install`
  install "$@" && operator rollout status deployment/compute-domain-controller --timeout=90s &&
    node_programs rollout status daemonset/compute-domain-agent --timeout=120s
}
supervisors_run() { all_ready daemonset compute-domain-imex 3; }
forms_and_goes() { form late n03 && is_ready late && pods_run late && has_channel late-n03 && dissolve late; }
replace_supervisor() { # NODE
  node_programs delete pod -l app=imex-daemon --field-selector "spec.nodeName=$1" && eventually 60 supervisors_run
}

# A Job on n01 and n02, whose pods end when they are told to, and of which none may fail.
apply_job() {
  kubectl apply -f - <<YAML
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 2
  parallelism: 2
  backoffLimit: 0
  template:
    metadata: {labels: {domain: train}}
    spec:
      restartPolicy: Never
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n01, n02]}]}]
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {labelSelector: {matchLabels: {domain: train}}, topologyKey: kubernetes.io/hostname}
      containers:
      - name: worker
        image: docker.io/local/busybox:1
        command: [sh, -c, "until [ -e /tmp/done ]; do sleep 1; done"]
        resources: {claims: [{name: channel}]}
      resourceClaims: [{name: channel, resourceClaimTemplateName: train-channel}]
YAML
}
pods_of_job() { kubectl get pods -l domain=train -o name; }
all_have_channel() {
  local pod
  [ "$(pods_of_job | wc -l)" = 2 ] || return 1
  for pod in $(pods_of_job); do has_channel "$pod" || return 1; done
}
complete_job() {
  local pod
  for pod in $(pods_of_job); do kubectl exec "$pod" -- touch /tmp/done || return 1; done
  kubectl wait --for=condition=Complete job/train --timeout=60s && [ -z "$(kubectl get job train -o 'jsonpath={.status.failed}')" ]
}
go_train() { kubectl delete job train --timeout=60s && dissolve train; }

check "the operator of $commit is built" build_older
make_driver_root
check "a cluster of 3 nodes" start_cluster --nodes 3
check "its nodes take the older images" load_older_images
check "and the newer ones" load_images
check "the older operator is installed" install_and_wait older older older
check "its supervisors run" eventually 60 supervisors_run
check "a domain of 2 nodes" apply_domain train 2
check "and its Job" apply_job
check "it is Ready" is_ready train
check "its pods run" pods_run train
[ "$failed" -eq 0 ] || finish_checks || exit 1
before=$(state)

check "the newer manifests and controller, beside older agents" install_and_wait newer newer older
check "a domain forms and goes" forms_and_goes
check "newer agents, beside older supervisors" install_and_wait newer newer newer
check "a domain forms and goes" forms_and_goes
check "the supervisor of n03 is replaced by a newer one" replace_supervisor n03
check "a domain forms and goes" forms_and_goes
check "the domain is Ready" is_ready train
check "no daemon and no container has ended" nothing_has_ended

check "back: the older manifests and controller, beside newer agents" install_and_wait older older newer
check "a domain forms and goes" forms_and_goes
check "older agents, one beside a newer supervisor" install_and_wait older older older
check "a domain forms and goes" forms_and_goes
check "the domain is Ready" is_ready train
check "its pods still have their channel" all_have_channel
check "no daemon and no container has ended" nothing_has_ended
check "the Job completes, and no pod of it has failed" complete_job
check "it goes" go_train
finish_checks
