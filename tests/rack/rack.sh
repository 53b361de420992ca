# rack.sh: real kubelets on which the operator runs as it is shipped, with stand-ins for the driver. Source it in the
# repository's root, after check.sh; the cluster goes with the script. CDOM_BUILD: where the programs are. KUBERNETES=1.36: an
# older one.
build=${CDOM_BUILD:-build/release}
work=$(mktemp -d)
manifests=manifests/test # what is installed
# What docs/install.md adds to it before Kubernetes 1.34, as the last component.
last_component=
case ${KUBERNETES:-} in 1.32 | 1.33) last_component=kubernetes-1.32/component ;; esac
cleanup() {
  tools/cluster --dir "$work/cluster" down
  rm -rf "$work"
}
trap cleanup EXIT

cluster() { tools/cluster --dir "$work/cluster" "$@"; }
start_cluster() { cluster up ${KUBERNETES:+--version "$KUBERNETES"} --driver-root "$work/driver" "$@"; }
kubectl() { "$work/cluster/kubectl" "$@"; }
operator() { kubectl "$1" --namespace compute-domain-operator "${@:2}"; }    # controllers, node lists, the Lease
node_programs() { kubectl "$1" --namespace compute-domain-nodes "${@:2}"; } # agents and IMEX supervisors
on_node() { cluster node "$1" exec "${@:2}"; }

# What stands in for the driver, as the nodes have it: up --driver-root "$work/driver".
make_driver_root() { # [SHAPE]: as the GPU Operator's container has it, or another of driver_roots/
  tests/imex/stand_in/make_driver_root "$build" "$work/driver" "${1:-gpu-operator}"
}

# Once per build: many scripts use the same images.
make_images() {
  local images=$build/images
  [ -n "$(find tools/image tools/image.d "$build"/bin/compute-domain-* -newer "$images/made" 2>&1)" ] || return 0
  tools/image --build "$build" --output "$images" && touch "$images/made"
}

load_images() {
  local image
  make_images || return 1
  for image in "$build"/images/*.tar; do cluster load-image "$image" || return 1; done
}

# with_components NAME…: these components of manifests/ beside what tests install. kustomize takes what lies beside it
# only.
with_components() {
  set -- "$@" ${last_component:+"$last_component"}
  manifests=build/rack-${1//\//-}
  mkdir -p "$manifests" &&
    { echo 'resources: [../../manifests/test]' && echo 'components:' && printf -- '- ../../manifests/%s\n' "$@"; } \
      >"$manifests/kustomization.yaml"
}
[ -z "$last_component" ] || with_components

# install_operator COUNT: as in $manifests, until it runs on so many nodes.
install_operator() {
  check "its nodes take the images" load_images
  check "the operator is installed" kubectl apply --server-side -k "$manifests"
  check "IMEX supervisors run" eventually 60 all_ready daemonset compute-domain-imex "$1"
  check "and agents" eventually 60 all_ready daemonset compute-domain-agent "$1"
}

# set_up_rack COUNT [OPTION…]: so many nodes on which the operator runs.
set_up_rack() {
  make_driver_root
  check "a cluster of $1 nodes" start_cluster --nodes "$1" "${@:2}"
  install_operator "$1"
}

# apply_example NAME: one of manifests/ with an image that nodes have, whose pods run until they are deleted: what happens
# beside them may take as long as it does.
apply_example() {
  sed -e 's|image: busybox|image: docker.io/local/busybox:1|' -e 's|\[sleep, "60"\]|[sleep, infinity]|' \
    "manifests/$1.yaml" | kubectl apply -f -
}

# /proc/devices of the nodes says 235.
has_channel() { # POD
  kubectl exec "$1" -- ls -l /dev/nvidia-caps-imex-channels | grep -E '^crw-rw-rw- .* 235, +0 .* channel0$'
}
# Its containers may start only after its domain is Ready.
starts_with_channel() { # POD
  kubectl wait --for=condition=Ready "pod/$1" --timeout=60s && has_channel "$1"
}

# The pod that leads: its identity begins with that.
leader() {
  operator get lease compute-domain-controller -o 'jsonpath={.spec.holderIdentity}' |
    grep -oE '^compute-domain-controller-[a-z0-9]+-[a-z0-9]{5}'
}

all_ready() { # daemonset NAME COUNT
  [ "$(node_programs get "$1" "$2" -o 'jsonpath={.status.numberReady}')" = "$3" ]
}

# Of all kinds that the operator makes or has.
objects_left() {
  kubectl get customresourcedefinitions,clusterroles,clusterrolebindings,deviceclasses,namespaces -o name |
    grep -E 'compute-?domain' || true
  kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings -o name | grep compute-domain || true
  kubectl get resourceclaims,resourceclaimtemplates --all-namespaces -o name
  kubectl get resourceslices -o name
}

# files_left NODE…: what the operator has left on them, without its pods: files, sockets, daemons.
files_left() {
  local node
  for node in "$@"; do
    on_node "$node" find /var/run/cdi /etc/cdi /var/lib/kubelet/plugins_registry -name '*compute-domain*'
    # The empty folder itself was a mount of the agent's pod, which cannot remove it.
    on_node "$node" find /var/lib/kubelet/plugins -mindepth 1 ! -path /var/lib/kubelet/plugins/compute-domain.nvidia.com
    # What nvidia-imex keeps is its own, and here the stand-in's for a driver.
    on_node "$node" find /run/compute-domain ! -type d ! -path '*/nvidia-imex/*'
    on_node "$node" pgrep -a nvidia-imex || true
  done
}

# check_requests EXPECTED…: no request of the operator has been refused but those, as audit.py names them, those of
# controllers that ask for the Lease at the same moment, of whom one gets it, and the controller's mark of a report that
# its agent has just written again: the mark is of the version that was read. Prints the rights that none has used.
check_requests() {
  check "the API server has refused nothing that is not expected" audit "$@" \
    "compute-domain-controller "{create,update}" leases.coordination.k8s.io 409" \
    "compute-domain-controller patch computedomainnodes/status.resource.nvidia.com 409"
  sed -n '/granted and not used/,$p' "$work/audit"
}
audit() {
  kubectl create --dry-run=client -k "$manifests" -o json >"$work/manifests.json" || return 1
  tests/rack/audit.py "$work/cluster/audit.log" "$work/manifests.json" "$@" | tee "$work/audit"
}
