#!/usr/bin/env bash
# The scenarios of tests/scenarios on real kubelets with the operator as it is shipped: two racks of five nodes, set up once,
# first with isolation by domain, then by channel. Two scenarios play side by side, each in a rack of its own. Prints a
# line per check or scenario and their count.
#
# Of each capability that kubelets, containers or machines have a part in one is played; MORE=1: all.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/smoke/scenarios.sh
. tests/rack/rack.sh

player=$build/tests/scenarios/wire_scenario_test
count=10

# write_command NAME LINE…: a program for the scenarios, which know it by its path.
write_command() {
  { echo '#!/usr/bin/env bash'; printf '%s\n' "cluster() { $PWD/tools/cluster --dir $work/cluster \"\$@\"; }" \
    "kubectl() { $work/cluster/kubectl \"\$@\"; }" "${@:2}"; } >"$work/$1" &&
    chmod +x "$work/$1"
}
write_commands() {
  export ON_NODE=$work/on-node IN_POD=$work/in-pod RESTART_CONTROLLER=$work/restart-controller
  write_command on-node 'cluster node "$1" exec sh -c "$2"' &&
    write_command in-pod 'kubectl exec --namespace "$1" "$2" -- sh -c "$3"' &&
    # Both, so that nobody has led in between; a leader that is killed in its sleep is followed after 15 s, which others show.
    write_command restart-controller "exec 9>$work/restart.lock; flock 9" \
      'of_operator() { kubectl "$1" --namespace compute-domain-operator "${@:2}"; }' \
      'for node in $(of_operator get pods -l app=compute-domain-controller -o "jsonpath={.items[*].spec.nodeName}"); do' \
      '  cluster node "$node" exec pkill -KILL -f bin/compute-domain-controller' \
      'done' \
      'of_operator delete lease compute-domain-controller --ignore-not-found'
}

# Away from the nodes of the scenarios, which take the first of a rack.
keep_controllers_apart() { kubectl label node r1n05 r2n05 node-role.kubernetes.io/control-plane=; }
takes_loaded_images() {
  prints IfNotPresent kubectl run --image=busybox --dry-run=server --output=yaml probe
}
labels() { kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.labels.nvidia\.com/gpu\.clique}{"\n"}{end}'; }
nodes_have_labels() { [ "$(labels | grep -c .)" = "$count" ] && [ "$(labels | sort -u | wc -l)" = 2 ]; }
slices_of_cliques() {
  kubectl get resourceslices -o 'jsonpath={range .items[*]}{.spec.pool.name}{"\n"}{end}' | grep '^clique/'
}
has_slices() { [ "$(slices_of_cliques | wc -l)" = "$1" ]; }

isolate_by_channel() {
  # The cluster has written the labels of the cliques, which confirm them.
  with_components isolation-channel shared-claims &&
    kubectl apply --server-side -k "$manifests" &&
    # All at once, and not one after the other.
    node_programs delete pods -l app=compute-domain-agent --wait=false &&
    operator rollout status deployment/compute-domain-controller --timeout=120s
}
all_isolate_by_channel() {
  [ "$(kubectl get computedomainnodes -o 'jsonpath={range .items[?(@.status.isolation=="channel")]}x{end}')" = \
    "$(printf 'x%.0s' $(seq "$count"))" ]
}
offers_eight() {
  [ "$(kubectl get resourceslices -o 'jsonpath={range .items[*]}{range .spec.devices[*]}{.name}{"\n"}{end}{end}' | grep -cx channel-7)" = "$count" ]
}
uninstall() { kubectl delete -k "$manifests" --timeout=120s; }

make_driver_root
check "two racks of five nodes" start_cluster --nodes "$count" --racks 2
export KUBECONFIG=$work/cluster/identities/admin.kubeconfig
check "the programs of the scenarios" write_commands
check "controllers have nodes of their own" keep_controllers_apart
check "pods are not to pull images" kubectl apply -f tests/rack/loaded-images.yaml
check "as they do not" eventually 20 takes_loaded_images
with_components gpu-clique-label shared-claims
install_operator "$count"
check "the nodes have the labels of their cliques" eventually 30 nodes_have_labels
check "each clique has a slice of its own" eventually 30 has_slices 2

# --- isolation by domain
play "$work/alone" "PowerCut.*:SharedClaimsInTwoCliques.*${MORE:+:Examples.*-Examples.TrainingJob}"
if [ -n "${MORE:-}" ]; then
  # A node that is cut off from everybody is lost here before its daemon is, and a daemon has begun before a fault finds it:
  # of two nodes that are cut off from each other tells ipv6_test.sh.
  other_here=Faults.MembersThatCannotBeReachedAreNamedAndHeal:Faults.OfADaemonThatDoesNotRunYetStrikeTheNextOne
  simulated="Examples.*:Recipe.*:Workloads.*:Slots.*:Cliques.*:HandAllocated.*"
  play "$work/scenarios" "-PowerCut.*:SharedClaimsInTwoCliques.*:Channels*:$simulated:$other_here" 2
else
  of_kubelets="Faults.OfOneDomain*:Claims.OfAnUnknown*:Claims.OfAnotherNamespacesDomainAreTold*:Claims.WithAnUnknownField*"
  of_kubelets+=":SharedClaims.OneThatPods*:SharedClaims.APodThatComesLater*"
  play "$work/scenarios" "$of_kubelets" 2
fi

# --- isolation by channel
check "the nodes are to isolate by channel" isolate_by_channel
check "agents run" eventually 60 all_ready daemonset compute-domain-agent "$count"
check "all nodes isolate by channel" eventually 60 all_isolate_by_channel
check "each node offers eight seats" eventually 30 offers_eight
channels="Channels.DomainsOnTheSameNodes*:Channels.ACordonedNodeWithAClaim*"
[ -z "${MORE:-}" ] || channels="Channels*"
play "$work/channels" "$channels" 2

# Two that lead at the same moment, and an agent whose report has just been marked: who comes second reads again.
check_requests \
  "compute-domain-controller patch computedomains/status.resource.nvidia.com 409" \
  "compute-domain-agent patch computedomainnodes/status.resource.nvidia.com 409"
check "what was installed goes" uninstall
check "and the slices of cliques with it" eventually 60 has_slices 0
finish_checks
