# domains.sh: domains on a rack, whose pods do nothing, and what happens to them. Source it after rack.sh.

# form NAME NODE…: a domain, and a pod with a claim on each node.
form() { apply_domain "$1" $(($# - 1)) && apply_pods "$@"; }
apply_domain() { domain_yaml "$@" | kubectl apply -f -; } # NAME COUNT
domain_yaml() {
  cat <<YAML
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {name: $1}
spec: {numNodes: $2, channel: {resourceClaimTemplate: {name: $1-channel}}}
YAML
}
apply_pods() { # DOMAIN NODE…
  local name=$1 node
  shift
  for node in "$@"; do pod_yaml "$name" "$node"; done | kubectl apply -f -
}
pod_yaml() { # DOMAIN NODE: $worker_command, $grace_seconds
  cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $1-$2, labels: {domain: $1}}
spec:
  terminationGracePeriodSeconds: ${grace_seconds:-1}
  nodeSelector: {kubernetes.io/hostname: $2}
  tolerations: [{operator: Exists}]
  containers:
  - name: worker
    image: docker.io/local/busybox:1
    command: ${worker_command:-[sleep, infinity]}
    resources: {claims: [{name: channel}]}
  resourceClaims: [{name: channel, resourceClaimTemplateName: $1-channel}]
YAML
}
is_ready() { kubectl wait --for=condition=Ready "computedomain/$1" --timeout="${2:-60}s"; }
pods_run() { kubectl wait --for=condition=Ready pod -l "domain=$1" --timeout=90s; }
dissolve() {
  kubectl delete computedomain "$1" --wait=false && kubectl delete pod -l "domain=$1" --timeout=60s &&
    kubectl wait --for=delete "computedomain/$1" --timeout=60s
}
of() { kubectl get computedomain "$1" -o "jsonpath=$2"; }
reason() { of "$1" '{.status.conditions[?(@.type=="Ready")].reason}'; }
message() { of "$1" '{.status.conditions[?(@.type=="Ready")].message}'; }
says() { # DOMAIN REASON MESSAGE
  prints "$2" reason "$1" && prints "$3" message "$1"
}
has_event() { # REASON MESSAGE [OBJECT]
  prints "$2" kubectl get events --field-selector "reason=$1${3:+,involvedObject.name=$3}" -o 'jsonpath={range .items[*]}{.message}{"\n"}{end}'
}

# kubectl compute-domain, as an administrator.
plugin() { KUBECONFIG="$work/cluster/identities/admin.kubeconfig" "$build/bin/kubectl-compute_domain" "$@"; }

imex() { on_node "$1" pgrep -x nvidia-imex; }
# The daemons of these nodes, which have to stay what they are.
daemons() { for node in "$@"; do echo "$node $(imex "$node")"; done; }
restarts() { kubectl get pods -l "domain=$1" -o 'jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[0].restartCount}{"\n"}{end}'; }

# form_train NODE…: the domain that has to outlive what happens around it; nothing goes on without it.
form_train() {
  check "a domain of $# nodes" form train "$@"
  check "is Ready" is_ready train
  check "its pods run" pods_run train
  [ "$failed" -eq 0 ] || finish_checks || exit 1
}
# Whether neither its first two daemons nor its containers have ended since $before, which was its state.
state() { daemons n01 n02 && restarts train; }
nothing_has_ended() { [ "$(state)" = "$before" ] || { echo "$before"; echo now; state; return 1; }; }
