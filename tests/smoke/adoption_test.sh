#!/usr/bin/env bash
# The switch from NVIDIA's DRA driver on a real control plane, with objects as that driver leaves them:
# it is not started beside the other's controller; what is in use goes on; then the leftovers go. Prints
# a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=build/release/bin
work=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  tools/cluster --dir "$work/cluster" down >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT
ready=$(tools/cluster --dir "$work/cluster" up | tail -1)
export KUBECONFIG=${ready#ready: KUBECONFIG=}
kubectl() { "$work/cluster/kubectl" "$@"; }

readonly theirs=nvidia-dra-driver-gpu mark=resource.nvidia.com/computeDomain

# inherit NAME NODE: a domain as the reference driver has made it, in use by a pod on that node.
inherit() {
  kubectl apply -f - <<YAML
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: $1, finalizers: [$mark]}
spec: {numNodes: 1, channel: {resourceClaimTemplate: {name: $1-channel}, allocationMode: Single}}
YAML
  local uid
  uid=$(kubectl get computedomain "$1" -o 'jsonpath={.metadata.uid}')
  kubectl patch computedomain "$1" --subresource=status --type=merge -p "{\"status\": {\"status\": \"Ready\",
    \"nodes\": [{\"name\": \"$2\", \"ipAddress\": \"10.0.0.1\", \"cliqueID\": \"a.0\", \"index\": 0, \"status\": \"Ready\"}]}}"
  kubectl label node "$2" "$mark=$uid"
  kubectl apply -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: $1-channel, labels: {$mark: "$uid", ${mark}Target: Workload}, finalizers: [$mark]}
spec:
  spec:
    devices:
      requests: [{name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}]
      config:
      - requests: [channel]
        opaque:
          driver: compute-domain.nvidia.com
          parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomainChannelConfig, domainID: "$uid", allocationMode: Single}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: computedomain-daemon-$uid, namespace: $theirs, labels: {$mark: "$uid", ${mark}Target: Daemon}, finalizers: [$mark]}
spec:
  spec:
    devices:
      requests: [{name: daemon, exactly: {deviceClassName: compute-domain-daemon.nvidia.com}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: computedomain-daemon-$uid, namespace: $theirs, labels: {$mark: "$uid"}, finalizers: [$mark]}
spec:
  selector: {matchLabels: {$mark: "$uid"}}
  template:
    metadata: {labels: {$mark: "$uid"}}
    spec:
      nodeSelector: {$mark: "$uid"}
      tolerations: [{operator: Exists}]
      containers: [{name: compute-domain-daemon, image: nvidia}]
---
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomainClique
metadata: {name: $uid.a.0, namespace: $theirs, labels: {$mark: "$uid"}}
daemons: [{nodeName: $2, ipAddress: 10.0.0.1, cliqueID: a.0, index: 0, status: Ready}]
---
$(pod_of "$1" "$2" 0)
YAML
}
pod_of() { # DOMAIN NODE NUMBER
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1-$3}
spec:
  terminationGracePeriodSeconds: 1
  nodeSelector: {kubernetes.io/hostname: $2}
  containers: [{name: worker, image: busybox, command: [sleep, infinity], resources: {claims: [{name: channel}]}}]
  resourceClaims: [{name: channel, resourceClaimTemplateName: $1-channel}]
YAML
}
start_again() { pod_of "$1" "$2" 1 | kubectl apply -f -; }

reason() { kubectl get computedomain "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}'; }
# Of a domain: kinds and names of what the reference driver has made for it.
leftovers() { # UID
  kubectl get "daemonsets,pods,computedomaincliques,resourceclaimtemplates" -n "$theirs" -l "$mark=$1" -o name
  kubectl get nodes -l "$mark=$1" -o name
}
has_leftovers() { [ "$(leftovers "$1" | wc -l)" -eq 5 ]; }
events_of() { kubectl get events --field-selector "involvedObject.name=$1" -o 'jsonpath={.items[*].message}'; }
are_allocated() { [ "$(kubectl get resourceclaims | grep -c allocated,reserved)" -eq 2 ]; }
# Times of the API are of whole seconds. The agents of the simulated nodes are ours and have refused these
# claims: only the second in which our controller takes over says that the other driver has prepared them.
are_of_past_seconds() {
  local newest
  newest=$(kubectl get resourceclaims -o 'jsonpath={range .items[*]}{.metadata.creationTimestamp}{"\n"}{end}' | sort | tail -n 1)
  [ -n "$newest" ] && [[ $(date -u +%FT%TZ) > $newest ]]
}
lists_of() { kubectl get configmaps -n compute-domain-operator -l "$mark=$1" -o name; }
# Its controller as its chart installs it; here is no node yet on which the pod could run.
install_theirs() {
  local account=dra-driver-nvidia-gpu-service-account-controller
  kubectl create serviceaccount "$account" -n "$theirs"
  kubectl create clusterrole theirs --verb=get,list,watch,update --resource=computedomains.resource.nvidia.com
  kubectl create clusterrolebinding theirs --clusterrole=theirs --serviceaccount="$theirs:$account"
  sed "s/namespace: nvidia$/namespace: $theirs/" tests/controller/fixtures/chart.yaml | kubectl apply -f -
}
their_pod() { kubectl get pods -n "$theirs" -l dra-driver-nvidia-gpu-component=controller -o name; }
has_their_pod() { [ -n "$(their_pod)" ]; }
make_ready() { # POD
  kubectl patch -n "$theirs" "$1" --subresource=status --type=merge -p \
    '{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}'
}
uninstall_theirs() {
  kubectl delete deployment dra-driver-nvidia-gpu-controller -n "$theirs"
  kubectl delete "$(their_pod)" -n "$theirs" --grace-period=0 --force
  kubectl delete -n "$theirs" serviceaccount/dra-driver-nvidia-gpu-service-account-controller
  kubectl delete clusterrolebinding/theirs clusterrole/theirs
}

is_alive() { kill -0 "$1"; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

check "the manifests apply" kubectl apply --server-side -k .
check "and the rights to adopt" kubectl apply --server-side -k manifests/adopt
check "a namespace of the other driver" kubectl create namespace "$theirs"
check "its controller is installed" install_theirs
check "it has a pod" eventually 30 has_their_pod
check "which runs" make_ready "$(their_pod)"
# With the rights of its own ServiceAccount.
kubectl config view --raw --minify >"$work/kubeconfig"
token=$(kubectl create token compute-domain-controller -n compute-domain-operator)
kubectl config --kubeconfig "$work/kubeconfig" set-credentials controller --token "$token" >/dev/null
kubectl config --kubeconfig "$work/kubeconfig" set-context --current --user controller >/dev/null
controller() {
  exec timeout "$1" "$bin/compute-domain-controller" --kubeconfig "$work/kubeconfig" --metrics-listen "" --adopt-from "$theirs"
}
does_not_start() {
  local said code=0
  said=$(controller 20 2>&1) || code=$?
  [ "$code" -eq 1 ] && prints "Pod $theirs/dra-driver-nvidia-gpu-controller-" echo "$said"
}
check "beside it ours does not start, and says why" does_not_start
check "it is uninstalled" uninstall_theirs

timeout 600 "$bin/compute-domain-sandbox" nodes --kubeconfig "$KUBECONFIG" --racks 1 --nodes-per-rack 3 \
  >"$work/nodes.out" 2>"$work/nodes.log" &
pids+=($!)
check "three nodes" eventually 60 prints "3 nodes" cat "$work/nodes.out"
check "a domain in use" inherit old n01
check "and another one" inherit second n02
uid=$(kubectl get computedomain old -o 'jsonpath={.metadata.uid}')
second=$(kubectl get computedomain second -o 'jsonpath={.metadata.uid}')
check "with a daemon" eventually 60 has_leftovers "$uid"
check "each" eventually 60 has_leftovers "$second"
check "and claims" eventually 60 are_allocated
check "which are older than our controller" eventually 5 are_of_past_seconds
controller 600 >"$work/controller.log" 2>&1 &
ours=$!
pids+=("$ours")
check "its status says who serves it" eventually 20 prints ServedByPredecessor reason old
check "and for whom" prints "1 pod (old-0)" kubectl get computedomain old -o 'jsonpath={.status.conditions[?(@.type=="Ready")].message}'
check "its nodes are still told" prints "10.0.0.1 Ready" kubectl get computedomain old -o 'jsonpath={.status.nodes[0].ipAddress} {.status.nodes[0].status}'
check "everything of it is left" has_leftovers "$uid"
check "and nothing of ours is beside it" is_empty lists_of "$uid"
check "a new pod" start_again old n03
check "is refused with that reason" eventually 30 prints "NVIDIA's DRA driver serves it" events_of old-1
check "its last pod ends" kubectl delete pod old-0 --timeout=60s
check "then what the other driver has made goes" eventually 90 is_empty leftovers "$uid"
check "the users' template stays, without its finalizer" eventually 20 is_empty kubectl get resourceclaimtemplate old-channel -o 'jsonpath={.metadata.finalizers}'
check "the new pod is served by us" kubectl wait --for=condition=Ready pod/old-1 --timeout=120s
check "and the domain" kubectl wait --for=condition=Ready computedomain/old --timeout=60s
check "the domain goes" kubectl delete computedomain/old pod/old-1 --timeout=90s

check "the other one is as it was" has_leftovers "$second"
check "it is deleted" kubectl delete computedomain second --wait=false
check "and waits for its pod" eventually 20 prints "Deleting" reason second
check "while all of it is left" has_leftovers "$second"
check "its pod ends" kubectl delete pod second-0 --timeout=60s
check "it goes" kubectl wait --for=delete computedomain/second --timeout=90s
check "and all that was left" is_empty leftovers "$second"
check "with both templates" eventually 30 is_empty kubectl get resourceclaimtemplates -A -o name

# Somebody installs the other chart while ours is at work. A simulated node would start its pod again and again.
check "there is no node for it" kubectl cordon n01 n02 n03
check "their controller is installed once more" install_theirs
check "it has a pod" eventually 30 has_their_pod
check "while that does not run, ours goes on" is_alive "$ours"
check "it runs" make_ready "$(their_pod)"
check "ours ends" eventually 90 is_gone "$ours"
check "and has said why" prints "Pod $theirs/dra-driver-nvidia-gpu-controller-" tail -n 3 "$work/controller.log"
[ "$failed" -eq 0 ] || tail -n 20 "$work/controller.log"
finish_checks
