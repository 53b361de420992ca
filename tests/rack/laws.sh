# laws.sh: what laws_test.sh asks of the operator and does to it. Source it after domains.sh.

# inside NAMESPACE COMMAND…: there, where it names none itself.
kubectl() { "$work/cluster/kubectl" ${namespace:+--namespace "$namespace"} "$@"; }
inside() { local namespace=$1; "${@:2}"; }

pods_of_operator() {
  { operator get pods -o json; node_programs get pods -o json; } |
    jq -r '.items[] | "\(.spec.nodeName) \(.metadata.name) \(.metadata.uid) \(.status.containerStatuses[0].restartCount)"' | sort
}
lease() { operator get lease compute-domain-controller -o 'jsonpath={.spec.holderIdentity} {.spec.leaseTransitions}'; }
nothing_has_restarted() {
  diff <(echo "$operator_before") <(pods_of_operator) && [ "$(lease)" = "$lease_before" ]
}
remember_operator() { operator_before=$(pods_of_operator) lease_before=$(lease); }
forms_and_goes() { # NAME NODE
  form "$1" "$2" && is_ready "$1" && pods_run "$1" && has_channel "$1-$2" && dissolve "$1"
}
# Kubelet's own words of a call that it has waited for in vain.
calls_in_vain() {
  local node
  for node in n01 n02 n03; do
    grep -q . "$work/cluster/nodes/$node/kubelet.log" || return 1
    grep 'DeadlineExceeded\|DEADLINE_EXCEEDED' "$work/cluster/nodes/$node/kubelet.log" || true
  done
}

# --- the flood
# ADDRESS:PORT of each agent and each controller.
ports_of_operator() {
  node_programs get pods -l app=compute-domain-agent -o 'jsonpath={range .items[*]}{.status.podIP}:8081{"\n"}{end}'
  operator get pods -l app=compute-domain-controller -o 'jsonpath={range .items[*]}{.status.podIP}:8080{"\n"}{end}'
}
flood() { # COUNT: from n03 to all of them, until end_flood
  mapfile -t flooded < <(ports_of_operator)
  on_node n03 "$(python3 -c 'import sys; print(sys.executable)')" "$PWD/tests/rack/silent_connections.py" "$1" "${flooded[@]}" \
    >"$work/flood" 2>&1 &
  flood_pid=$!
  all_flooded() { [ "$(grep -c ":808[01] $1\$" "$work/flood")" = "${#flooded[@]}" ] || { cat "$work/flood"; return 1; }; }
  [ "${#flooded[@]}" = 5 ] && eventually 30 all_flooded "$1"
}
end_flood() {
  kill -0 "$flood_pid" || { cat "$work/flood"; return 1; }
  on_node n03 pkill -f silent_connections.py
  wait "$flood_pid" 2>/dev/null
  return 0
}
# As kubelet asks, but with less patience.
probes_answer() {
  local port path
  for port in "${flooded[@]}"; do
    for path in healthz readyz; do
      prints ok on_node n01 curl --silent --show-error --fail --max-time 2 "http://$port/$path" || return 1
    done
  done
}
# on_each PROGRAM COMMAND: what this prints on the nodes where the program runs, "$pid" being it.
on_each() {
  local node
  for node in n01 n02 n03; do on_node "$node" sh -c "for pid in \$(pgrep -f [b]in/$1); do $2; done"; done
}
at_most() { # COUNT COMMAND…: what it prints are numbers, none of which is more
  local most=$1
  "${@:2}" | awk -v most="$most" '$1 > most { too_much = 1 } { print } END { exit NR == 0 || too_much }'
}
files_of() { on_each "$1" 'ls /proc/$pid/fd | wc -l'; }
memory_of() { on_each "$1" "awk '/^VmHWM/ { print \$2 }' /proc/\$pid/status"; } # KiB, at its most
# How many seconds that takes without a flood.
usual=0
form_and_go_as_usual() {
  local start=$SECONDS
  forms_and_goes unflooded n03 && probes_answer && usual=$((SECONDS - start))
}
# form_and_go_for SECONDS: domains, and probes between them.
form_and_go_for() {
  local end=$((SECONDS + $1)) start
  while [ "$SECONDS" -lt "$end" ]; do
    start=$SECONDS
    forms_and_goes flooded n03 && probes_answer || return 1
    # Longer than without the flood by at most half of what kubelet waits for one call.
    [ $((SECONDS - start)) -le $((usual + 22)) ] || { echo "$((SECONDS - start)) s, and $usual without"; return 1; }
  done
}

# --- labels
label_of() { kubectl get node "$1" -o "jsonpath={.metadata.labels.resource\.nvidia\.com/compute-domain-agent}"; }
# What kubelet has set stands for what NVIDIA's feature discovery and NFD set.
labels_go() { kubectl label node "$1" nvidia.com/gpu.present- nvidia.com/gpu.clique-; }
labels_come() { kubectl label node "$1" nvidia.com/gpu.present=true "nvidia.com/gpu.clique=$2"; }
clique_of() { kubectl get node "$1" -o 'jsonpath={.metadata.labels.nvidia\.com/gpu\.clique}'; }
stays_for() { # SECONDS COMMAND…
  local end=$((SECONDS + $1))
  while [ "$SECONDS" -lt "$end" ]; do "${@:2}" || return 1; sleep 0.5; done
}
is_labelled() { [ "$(label_of "$1")" = detected ]; }
node_keeps_its_pods() { nothing_has_restarted && nothing_has_ended && is_labelled n02; }

# --- a node without channels
channels_go() { on_node "$1" sed -i.whole /nvidia-caps-imex-channels/d /etc/compute-domain-test/proc-devices; }
channels_come() { on_node "$1" mv /etc/compute-domain-test/proc-devices.whole /etc/compute-domain-test/proc-devices; }
seats_of() {
  kubectl get resourceslices -o json |
    jq -r --arg node "$1" '.items[] | select(.spec.nodeName == $node and .spec.driver == "compute-domain.nvidia.com") | .spec.devices // [] | .[].name'
}
has_seat() { [ -n "$(seats_of "$1")" ]; }
waits_for_a_node() { # POD
  [ "$(kubectl get pod "$1" -o 'jsonpath={.status.phase} {.spec.nodeName}')" = "Pending " ]
}
has_no_seat() { ! has_seat "$1"; }
is_not_ready() { # DOMAIN NODE
 [ "$(of "$1" '{.status.status}')" = NotReady ] && waits_for_a_node "$1-$2"
}
can_serve() { kubectl get computedomainnode "$1" -o 'jsonpath={.status.conditions[?(@.type=="CanServe")].message}'; }

condition_of() { # NODE TYPE
  kubectl get computedomainnode "$1" -o "jsonpath={range .status.conditions[?(@.type=='$2')]}{.status} {.reason}{end}"
}

# --- CDI; containerd reads its file when it starts
cdi_goes() {
  on_node "$1" sh -c 'cd /etc/containerd && cp config.toml config.toml.whole && echo "enable_cdi = false" >>config.toml'
}
cdi_comes() { on_node "$1" mv /etc/containerd/config.toml.whole /etc/containerd/config.toml; }
# With / as the driver root, as it is on most nodes, nobody has to say so.
see_nodes() { # NODE
  node_programs patch daemonset compute-domain-imex --type=json -p '[
    {"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--host-root=/node"},
    {"op": "add", "path": "/spec/template/spec/containers/0/volumeMounts/-",
     "value": {"name": "node", "mountPath": "/node", "readOnly": true}},
    {"op": "add", "path": "/spec/template/spec/volumes/-", "value": {"name": "node", "hostPath": {"path": "/"}}}]' &&
    node_programs delete pod -l app=imex-daemon --field-selector "spec.nodeName=$1" --timeout=60s &&
    eventually 60 all_ready daemonset compute-domain-imex 3
}

# --- another plugin, which kubelet would find as it finds ours
plugins=/var/lib/kubelet/plugins_registry
# Below /node, where see_nodes has the node's root.
has_long_socket() { # NODE
  on_node "$1" find $plugins -name 'compute-domain.nvidia.com-*-reg.sock' |
    awk '{ print "/node" $0 } length("/node" $0) <= 107 { is_short = 1 } END { exit NR != 1 || is_short }'
}
other_plugin_listens() { # NODE: until its socket is removed
  on_node "$1" "$(python3 -c 'import sys; print(sys.executable)')" -c '
import os, socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while os.path.exists(sys.argv[1]):
    time.sleep(0.1)' $plugins/compute-domain.nvidia.com-reg.sock >"$work/plugin" 2>&1 &
  eventually 10 on_node "$1" test -S $plugins/compute-domain.nvidia.com-reg.sock
}
other_plugin_goes() { on_node "$1" rm $plugins/compute-domain.nvidia.com-reg.sock; }

# --- tenants
refuse_templates() { # NAMESPACE: by a quota that the API server knows
  kubectl create quota none -n "$1" --hard=count/resourceclaimtemplates.resource.k8s.io=0 &&
    eventually 30 prints '"count/resourceclaimtemplates.resource.k8s.io":"0"' \
      kubectl get quota none -n "$1" -o 'jsonpath={.status.hard}'
}
may_edit() { # NAMESPACE
  kubectl create namespace "$1" && kubectl create serviceaccount dev -n "$1" &&
    kubectl create rolebinding dev -n "$1" --clusterrole=edit --serviceaccount="$1:dev"
}
as_dev() { kubectl --as="system:serviceaccount:$1:dev" --namespace "$1" "${@:2}"; } # NAMESPACE
write_kubeconfig() { kubectl config view --raw --minify >"$work/kubeconfig"; }
odd_objects() { # NAMESPACE DOMAIN: of default
  write_kubeconfig
  tests/rack/odd_objects.py "$work/kubeconfig" "$(kubectl create token dev -n "$1")" "$1" "$(of "$2" '{.metadata.uid}')"
}
set_foreign_condition() { # NAMESPACE DOMAIN: another controller's
  local conditions
  conditions=$(inside "$1" of "$2" '{.status.conditions}' |
    jq -c '. + [{type: "Theirs", status: "True", reason: "R", message: "m", lastTransitionTime: "2026-01-01T00:00:00+00:00"}]')
  kubectl patch --namespace "$1" computedomain "$2" --subresource=status --type=merge -p "{\"status\": {\"conditions\": $conditions}}"
}
foreign_time() { inside "$1" of "$2" '{.status.conditions[?(@.type=="Theirs")].lastTransitionTime}'; }
# What an older definition of the kind, or somebody's own, lets pass.
let_words_be_numbers() {
  kubectl patch customresourcedefinition computedomains.resource.nvidia.com --type=json -p '[{"op": "replace",
    "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/numNodes", "value": {"x-kubernetes-int-or-string": true}}]'
}
odd_domain() { # NAMESPACE
  as_dev "$1" create -f - <<<'{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, metadata: {name: odd},
    spec: {numNodes: two, channel: {resourceClaimTemplate: {name: odd-channel}}}}'
}
metric_of_leader() { # LINE
  local pod
  pod=$(leader) && prints "$1" kubectl get --raw "/api/v1/namespaces/compute-domain-operator/pods/$pod:8080/proxy/metrics"
}
controllers_restart() {
  operator delete pod -l app=compute-domain-controller --timeout=60s &&
    operator rollout status deployment/compute-domain-controller --timeout=60s && eventually 30 leader
}

# --- simulated nodes, whose agents have tokens of their own
join_simulated_nodes() {
  write_kubeconfig
  timeout 600 "$build/bin/compute-domain-sandbox" nodes --kubeconfig "$work/kubeconfig" --racks 2 --nodes-per-rack 4 \
    >"$work/nodes.out" 2>"$work/nodes.log" &
  trap "kill $! 2>/dev/null; cleanup" EXIT
  eventually 60 prints "8 nodes" cat "$work/nodes.out"
}
