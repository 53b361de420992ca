#!/usr/bin/env bash
# kubectl's verbs against the embedded API server, each with what a real cluster prints. Needs
# kubectl 1.27 or later; SANDBOX names the program when it is not the release build's.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

sandbox=${SANDBOX:-build/release/bin/compute-domain-sandbox}
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig HOME=$work
timeout 300 "$sandbox" --racks 1 --nodes-per-rack 2 --kubeconfig "$KUBECONFIG" >"$work/out" 2>"$work/log" &
pid=$!
trap 'kill $pid 2>/dev/null; wait $pid 2>/dev/null; rm -rf "$work"' EXIT

domain() { # NUM_NODES TEMPLATE
  cat <<YAML
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: d}
spec: {numNodes: $1, channel: {resourceClaimTemplate: {name: $2}}}
YAML
}
domain 2 t >"$work/two.yaml"
domain 1 t >"$work/one.yaml"
domain 2 other >"$work/other.yaml"
sed 's/numNodes/nodes/' "$work/two.yaml" >"$work/unknown.yaml"
mkdir "$work/ours"
cat >"$work/ours/kustomization.yaml" <<YAML
resources: [$(realpath --relative-to="$work/ours" manifests/default)]
images: [{name: registry.invalid/compute-domain-agent, newName: registry.example.com/agent, newTag: "1"}]
YAML
cat >"$work/pod.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: busybox}]}
YAML

check "the sandbox gets ready" eventually 30 grep -q '^ready: KUBECONFIG=' "$work/out"
check "version" prints "Server Version: v1.36" kubectl version
check "apply creates" prints "d created" kubectl apply -f "$work/two.yaml"
check "apply again" prints "d unchanged" kubectl apply -f "$work/two.yaml"
check "diff" prints "-  numNodes: 2" kubectl diff -f "$work/one.yaml"
check "apply changes" prints "d configured" kubectl apply -f "$work/one.yaml"
check "server-side apply tells conflicts" prints \
  'conflict with "kubectl-client-side-apply" using resource.nvidia.com/v1beta1: .spec.numNodes' \
  kubectl apply --server-side -f "$work/two.yaml"
check "server-side apply by force" prints "d serverside-applied" \
  kubectl apply --server-side --force-conflicts -f "$work/two.yaml"
check "an immutable field" prints "is invalid: spec.channel" kubectl apply -f "$work/other.yaml"
check "an unknown field" prints 'unknown field "spec.nodes"' kubectl apply -f "$work/unknown.yaml"
check "create what is there" prints "(AlreadyExists)" kubectl create -f "$work/two.yaml"
check "replace" prints "d replaced" kubectl replace -f "$work/two.yaml"
check "patch merge" prints "d patched" kubectl patch cd d --type merge -p '{"spec":{"numNodes":3}}'
check "patch json" prints "d patched" kubectl patch cd d --type json \
  -p '[{"op":"replace","path":"/spec/numNodes","value":2}]'
check "no strategic merge patch of a custom resource" prints "is not supported" \
  kubectl patch cd d -p '{"spec":{"numNodes":3}}'
check "annotate" prints "d annotated" kubectl annotate cd d a=b
check "columns" prints "NAME   STATUS" kubectl get cd
check "explain tells the type" prints "numNodes	<integer>" kubectl explain cd.spec
check "explain knows pods" prints "resourceClaims	<[]PodResourceClaim>" kubectl explain pod.spec
check "explain knows what is inside" prints "command	<[]string>" kubectl explain job.spec.template.spec.containers
sed 's/image/imgae/' "$work/pod.yaml" >"$work/misspelt.yaml"
check "an unknown field of a pod" prints 'unknown field "spec.containers[0].imgae"' kubectl apply -f "$work/misspelt.yaml"
check "describe" prints "Num Nodes:" kubectl describe cd d
check "wait in vain" prints "timed out waiting" kubectl wait --for=condition=Ready cd/d --timeout=1s

check "a pod" prints "p created" kubectl apply -f "$work/pod.yaml"
check "wait for a pod" prints "condition met" kubectl wait --for=condition=Ready pod/p --timeout=30s
check "strategic merge patch" prints "p patched" kubectl patch pod p -p '{"metadata":{"labels":{"x":"y"}}}'
check "pods print" prints "1/1     Running   0" kubectl get pods
check "logs" prints "p" kubectl logs p
check "delete a pod" prints 'pod "p" deleted' kubectl delete pod p

agents="-n compute-domain-nodes"
check "a DaemonSet owns the agents' pods" prints "DaemonSet/compute-domain-agent" \
  kubectl describe pod $agents compute-domain-agent-n01
check "and counts them" eventually 10 kubectl rollout status daemonset $agents compute-domain-agent --timeout=1s
check "exec says that it cannot" prints \
  "pod compute-domain-agent-n01 is simulated: it has no container for exec, only status and logs" \
  kubectl exec $agents compute-domain-agent-n01 -- ls
check "drain leaves the agent's pod" prints "node/n01 drained" kubectl drain n01 --ignore-daemonsets
check "which runs on" prints "1/1     Running" kubectl get pod $agents compute-domain-agent-n01
check "uncordon" prints "n01 uncordoned" kubectl uncordon n01
check "the manifests apply" kubectl apply --server-side -k manifests/default
check "also when they have changed" prints "daemonset.apps/compute-domain-agent serverside-applied" \
  kubectl apply --server-side -k "$work/ours"

check "create namespace" prints "namespace/n created" kubectl create namespace n
check "create configmap" prints "configmap/c created" kubectl create configmap c -n n --from-literal=a=b
check "create serviceaccount" prints "serviceaccount/s created" kubectl create serviceaccount s -n n
check "create token" prints "ey" kubectl create token s -n n
check "auth whoami" prints "system:masters" kubectl auth whoami
check "auth can-i of another" prints "no" kubectl auth can-i create pods --as system:serviceaccount:n:s
check "delete namespace" prints 'namespace "n" deleted' kubectl delete namespace n
check "delete with a finalizer" prints '"d" deleted' kubectl delete cd d --timeout=30s
check "nothing is left" prints "No resources found" kubectl get cd
finish_checks
