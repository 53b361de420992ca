#!/usr/bin/env bash
# The embedded cluster with a real kubectl, over a real socket: every verb that people use, and the
# life of a domain. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=${CDOM_BUILD:-build/release}/bin
sandbox=$bin/compute-domain-sandbox
controller=$bin/compute-domain-controller
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig
timeout 300 "$sandbox" --racks 1 --nodes-per-rack 4 --metrics-listen 127.0.0.1:0 --kubeconfig "$KUBECONFIG" >"$work/out" 2>"$work/log" &
pid=$!
trap 'kill $pid 2>/dev/null; wait $pid 2>/dev/null; rm -rf "$work"' EXIT

check "the sandbox gets ready" eventually 30 grep -q '^ready: KUBECONFIG=' "$work/out"
check "get nodes" prints "Ready" kubectl get nodes
check "api-resources knows the short name" prints "cd " kubectl api-resources --api-group=resource.nvidia.com
check "explain" prints "numNodes" kubectl explain computedomain.spec
check "apply client-side" kubectl apply -f manifests/examples/two-nodes.yaml
check "apply again changes nothing" prints "computedomain.resource.nvidia.com/two-nodes unchanged" \
  kubectl apply -f manifests/examples/two-nodes.yaml
check "the domain gets Ready" kubectl wait --for=condition=Ready computedomain/two-nodes --timeout=60s
check "get shows the count" prints "2/2" kubectl get computedomains
metrics() { curl --silent --max-time 5 "http://$(sed -n "s/.*controller's metrics are served.*address=//p" "$work/log")/metrics"; }
check "the controller's metrics show it" eventually 20 prints 'compute_domain_status{name="two-nodes",namespace="default",reason="AllNodesReady"} 1' metrics
check "also as NVIDIA's DRA driver counts domains" eventually 20 prints 'nvidia_dra_compute_domain_info{status="Ready"} 1' metrics
check "get -o wide shows the message" prints "2 nodes are ready and connected" kubectl get cd -o wide
check "get -o jsonpath" prints "Ready" kubectl get cd two-nodes -o 'jsonpath={.status.status}'
check "describe shows conditions and Events" prints "AllNodesReady" kubectl describe cd two-nodes
check "get cdn" prints "Ready" kubectl get cdn
check "logs of a simulated pod" prints "channel0" kubectl logs two-nodes-0
check "logs tell the connections" eventually 10 prints "IMEX: READY; connected to 1 peer: n0" kubectl logs two-nodes-0
check "label" kubectl label cd two-nodes team=a
check "patch merge" kubectl patch cd two-nodes --type merge -p '{"metadata":{"labels":{"team":"b"}}}'
check "patch json" kubectl patch cd two-nodes --type json \
  -p '[{"op":"replace","path":"/metadata/labels/team","value":"c"}]'
check "get by label" prints "two-nodes" kubectl get cd -l team=c
check "apply server-side" kubectl apply --server-side --force-conflicts -f manifests/examples/two-nodes.yaml
check "events" prints "Ready" kubectl get events --field-selector involvedObject.name=two-nodes
refuses() { ! "$@"; }
check "a negative numNodes is refused" refuses kubectl patch cd two-nodes --type merge -p '{"spec":{"numNodes":-1}}'
check "spec.channel is immutable" refuses kubectl patch cd two-nodes --type merge \
  -p '{"spec":{"channel":{"resourceClaimTemplate":{"name":"other"}}}}'
check "nor does it go with spec" refuses kubectl patch cd two-nodes --type merge -p '{"spec":null}'
# Debian's kubectl 1.20 validates by itself, with other words.
check "an unknown field is told" prints 'numNodez"' kubectl create -f - <<<'{"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomain","metadata":{"name":"x"},"spec":{"numNodez":1}}'
kubectl delete cd x --ignore-not-found >/dev/null 2>&1  # an old kubectl only warns
check "an IMEX daemon that dies is told" kubectl annotate node n01 sandbox.compute-domain/fault=power-off
check "the domain is NotReady" eventually 90 prints "NotReady" kubectl get cd two-nodes
check "which is not counted as Ready then" eventually 20 prints 'nvidia_dra_compute_domain_info{status="NotReady"} 1' metrics
check "delete, with the finalizer" kubectl delete -f manifests/examples/two-nodes.yaml --timeout=60s --wait=false
check "an unknown fault" kubectl annotate node n02 sandbox.compute-domain/fault=fire
check "is told with the known ones" eventually 10 prints 'there is no fault "fire"; the known ones are power-off' \
  kubectl get events --field-selector reason=UnknownFault
check "heal" kubectl annotate node n01 sandbox.compute-domain/fault-
check "the domain is gone" eventually 90 is_empty kubectl get computedomains -o name
check "and is counted no more" eventually 20 prints 'nvidia_dra_compute_domain_info{status="NotReady"} 0' metrics
check "so are its templates" eventually 30 is_empty kubectl get resourceclaimtemplates -o name
check "so are its node lists" eventually 30 is_empty kubectl get configmaps -n compute-domain-operator \
  -l resource.nvidia.com/computeDomainGroup -o name

kubectl apply -f manifests/examples/reference-driver.yaml >/dev/null 2>&1
check "the reference driver's manifest forms a domain" eventually 60 prints "Ready " kubectl get cd
kubectl get cd,resourceclaims,nodes -o yaml >"$work/objects.yaml"
check "plan reads what kubectl wrote" prints "members:" "$controller" plan "$work/objects.yaml"
check "plan says what is no Kubernetes object" refuses "$controller" plan README.md
check "a flag that does not parse is refused" refuses "$controller" --workers many
kill "$pid"
check "SIGTERM ends it" eventually 10 refuses kill -0 "$pid"
check "no sanitizer has complained" no_sanitizer_complains "$work/log"
finish_checks
