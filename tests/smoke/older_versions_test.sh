#!/usr/bin/env bash
# The controller and simulated nodes beside a real kube-apiserver that serves resource.k8s.io in an
# older version only, as Kubernetes 1.32 and 1.33 do. The scheduler and the controller manager of
# today know v1 only, so the scenario allocates its claims itself. Prints a line per check and their
# count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/smoke/scenarios.sh

work=$(mktemp -d)
nodes=
cleanup() {
  stop_controller
  [ -z "$nodes" ] || kill "$nodes" 2>/dev/null
  tools/cluster --dir "$work/v1beta1" down >/dev/null 2>&1
  tools/cluster --dir "$work/v1beta2" down >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT

only() { # VERSION: what api-versions prints of resource.k8s.io
  [ "$(kubectl api-versions | grep '^resource.k8s.io/')" = "resource.k8s.io/$1" ]
}

# The manifests, but for the version of the device classes.
manifests_in() { # VERSION
  kubectl kustomize . | sed "s|resource.k8s.io/v1\$|resource.k8s.io/$1|" |
    kubectl apply --server-side -f -
}

for version in v1beta1 v1beta2; do
  home=$work/$version
  kubectl() { "$home/kubectl" "$@"; }
  ready=$(tools/cluster --dir "$home" up --only apiserver --api-versions "$version" | tail -1)
  export KUBECONFIG=${ready#ready: KUBECONFIG=}
  check "an API server with $version and no other" only "$version"
  check "the manifests apply" manifests_in "$version"
  if [ "$version" = v1beta1 ]; then
    check "those for Kubernetes 1.32 are accepted" \
      kubectl apply --server-side --dry-run=server -k manifests/kubernetes-1.32
    check "and so is what verifies them" \
      kubectl apply --server-side --dry-run=server -f manifests/kubernetes-1.32/verify-install.yaml
  fi
  mkdir "$home-logs"
  timeout 300 build/release/bin/compute-domain-sandbox nodes --kubeconfig "$KUBECONFIG" --racks 2 \
    --nodes-per-rack 2 >"$home-logs/nodes.out" 2>"$home-logs/nodes.log" &
  nodes=$!
  check "the simulated nodes join" eventually 60 prints "4 nodes" cat "$home-logs/nodes.out"
  check "they publish their seats in $version" eventually 30 prints "r2n02" kubectl get resourceslices
  start_controller "$home-logs"
  play "$home-logs/scenarios" "HandAllocated.*"
  [ "$failed" -eq 0 ] || tail -n 20 "$home-logs/controller.log" "$home-logs/nodes.log"
  stop_controller
  kill "$nodes" 2>/dev/null
  wait "$nodes" 2>/dev/null
  tools/cluster --dir "$home" down >/dev/null
done
finish_checks
