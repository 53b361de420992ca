#!/usr/bin/env bash
# The operator as Helm installs it, on a real control plane with two real kubelets: from the chart's archive, by the lines of
# docs/install.md, to a domain whose pods get their channel; upgraded under them to agents without kubelet's PodsAPI; and
# uninstalled to nothing. Stand-ins play the driver. HELM=3: by that one. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh

readonly NAME=compute-domain-operator
readonly VALUES=$PWD/tests/rack/helm-values.yaml
export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
helm() { tools/helm "${HELM:-4}" "$@"; }

# The commands by which the page installs a release's chart, with what these nodes need.
install_lines() {
  awk '/^### From a release/ { here = 1 }
       here && /^```/ { if (inside && index(block, "helm install")) { printf "%s", block; exit } inside = !inside; block = ""; next }
       inside { block = block $0 "\n" }' docs/install.md |
    sed -e "s|compute-domain-operator-[0-9.]*\.tgz|$work/chart/&|" -e "/^helm install/s|\$| --values $VALUES|"
}
install_chart() {
  local line lines
  lines=$(install_lines)
  [[ $lines == *"helm install"* ]] || { echo "docs/install.md has no such lines"; return 1; }
  while read -r line; do
    echo "+ $line"
    eval "$line" </dev/null || return 1
  done <<<"$lines"
}

pods_of_nodes() { node_programs get pods -l "app=$1" -o json | jq -r '.items[] | "\(.metadata.uid) \(.status.containerStatuses[0].restartCount)"' | sort; }
sees_pods() { # whether the agents have kubelet's PodsAPI
  node_programs get daemonset compute-domain-agent -o json |
    jq -e '.spec.template.spec | [.volumes[].hostPath.path, .containers[0].volumeMounts[].mountPath] | index("/var/lib/kubelet/pods-api")'
}
no_longer() { ! "$@"; }
upgrade_without_pods_api() {
  local before
  before=$(pods_of_nodes imex-daemon)
  helm upgrade "$NAME" "$work"/chart/*.tgz --namespace "$NAME" --reset-then-reuse-values --set kubelet.podsApi.enabled=false &&
    node_programs rollout status daemonset/compute-domain-agent --timeout=120s && [ "$(pods_of_nodes imex-daemon)" = "$before" ]
}
delete_domain() { kubectl delete -f manifests/examples/two-nodes.yaml --timeout=90s; }
uninstall() {
  helm uninstall "$NAME" --namespace "$NAME" && kubectl delete crd -l "app.kubernetes.io/instance=$NAME" --timeout=60s &&
    kubectl delete namespace "$NAME" --timeout=60s
}

make_driver_root
check "a cluster of two nodes" start_cluster --nodes 2
KUBECONFIG=$(cluster status | sed -n 's/^kubeconfig: *//p')
export KUBECONFIG
check "its nodes take the images" load_images
check "the chart is packaged" helm package "manifests/helm/$NAME" --destination "$work/chart"
check "the page's lines install it" install_chart
check "two controllers run" operator rollout status deployment/compute-domain-controller --timeout=120s
check "an IMEX supervisor runs on each node" eventually 60 all_ready daemonset compute-domain-imex 2
check "and an agent" eventually 60 all_ready daemonset compute-domain-agent 2
check "which sees the pods of its node" sees_pods

check "a domain and its pods apply" apply_example examples/two-nodes
check "its pods start" kubectl wait --for=condition=Ready pod/two-nodes-0 pod/two-nodes-1 --timeout=90s
check "it gets Ready" kubectl wait --for=condition=Ready computedomain/two-nodes --timeout=60s
for pod in two-nodes-0 two-nodes-1; do check "$pod has its channel" starts_with_channel "$pod"; done

check "an upgrade to agents without the PodsAPI, beside supervisors that stay" upgrade_without_pods_api
check "which do not mount its folder" no_longer sees_pods
check "the domain is still Ready" prints "2/2" kubectl get computedomains
check "and its pods have not ended" kubectl wait --for=condition=Ready pod/two-nodes-0 pod/two-nodes-1 --timeout=1s

check "the domain goes with its pods" delete_domain
check "another one forms" apply_example examples/two-nodes
check "and gets Ready" kubectl wait --for=condition=Ready computedomain/two-nodes --timeout=90s
check "and goes" delete_domain
check "the release goes, and its definitions" uninstall
check "no object is left" eventually 60 is_empty objects_left
check "no file, no socket and no daemon is left" eventually 10 is_empty files_left n01 n02
finish_checks
