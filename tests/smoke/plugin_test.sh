#!/usr/bin/env bash
# kubectl compute-domain on the embedded cluster: kubectl finds it, it names the cause of each of several troubles, a
# bundle gives the same answers as the cluster, and what it cannot do it says in one line. Prints a line per check and
# their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=$(realpath "${CDOM_BUILD:-build/release}/bin")
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig
export PATH=$bin:$PATH
"$bin/compute-domain-sandbox" --racks 1 --nodes-per-rack 4 --run-controller=false --kubeconfig "$KUBECONFIG" \
  >"$work/out" 2>"$work/log" &
sandbox=$!
controller= old=
cleanup() {
  kill $controller "$sandbox" $old 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT

start_controller() {
  POD_NAME=controller-1 "$bin/compute-domain-controller" --metrics-listen "" --debug-listen 127.0.0.1:0 --leader-election-enabled \
    --leader-election-retry-period 500ms >"$work/controller.log" 2>&1 &
  controller=$!
}
cd_() { kubectl compute-domain "$@"; }
refuses() { ! "$@"; }
# says CODE TEXT COMMAND…: it ends with the code, and prints the text.
says() {
  local code=$1 text=$2 actual=0 output
  shift 2
  output=$("$@" 2>&1) || actual=$?
  case $output in
    *"$text"*) [ "$actual" -eq "$code" ] && return ;;
  esac
  echo "wanted exit code $code and: $text"
  echo "exit code $actual: $output"
  return 1
}
# is_one_line COMMAND…: all that it prints is one line, on standard error.
is_one_line() {
  "$@" >"$work/stdout" 2>"$work/stderr"
  [ ! -s "$work/stdout" ] && [ "$(wc -l <"$work/stderr")" -eq 1 ] || { cat "$work/stdout" "$work/stderr"; return 1; }
}
# Ages go on while one looks.
without_ages() { sed -E 's/([0-9]+(s|m) ago|just now)/AGE/g'; }
# same ARGUMENTS…: the bundle gives the answer that the cluster gives. As JSON, whose lines do not depend on ages, and
# without Events that may have come again since.
same() {
  diff <(answer "$@") <(answer "$@" --from "$work/b.tar.gz")
}
answer() {
  cd_ "$@" -o json 2>&1 | without_ages | jq 'if .entries then .entries |= map(select(.warning | not)) else . end'
}
apply() { kubectl apply -f - >/dev/null; }
pod() { # NAME TEMPLATE [SPEC]
  printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{"terminationGracePeriodSeconds":1,%s
    "containers":[{"name":"worker","image":"busybox","env":[{"name":"PASSWORD","value":"hunter2"}],
                   "command":["sleep","hunter2"],"resources":{"claims":[{"name":"channel"}]}}],
    "resourceClaims":[{"name":"channel","resourceClaimTemplateName":"%s"}]}}' "$1" "${3:-}" "$2" | apply
}
domain() { # NAME NODES
  printf '{"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomain","metadata":{"name":"%s"},
    "spec":{"numNodes":%s,"channel":{"resourceClaimTemplate":{"name":"%s-channel"}}}}' "$1" "$2" "$1" | apply
}
is_running() { prints Running kubectl get pod "$1" -o 'jsonpath={.status.phase}'; }
node_of() { kubectl get pod "$1" -o 'jsonpath={.spec.nodeName}'; }

check "the sandbox gets ready" eventually 30 grep -q '^ready: KUBECONFIG=' "$work/out"
check "kubectl finds the plugin" prints kubectl-compute_domain kubectl plugin list
check "its help names its commands" prints "why pod NAME" cd_ --help

# Before there is a controller.
kubectl apply -f manifests/examples/two-nodes.yaml >/dev/null
check "check fails without a controller" eventually 10 says 3 "FAIL  controller" cd_ check
check "and says what is missing" prints "neither a Lease nor a Deployment" cd_ check
check "why cd stops at the controller" prints "stops at Controller" cd_ why cd two-nodes
check "describe says it, with the next step" prints "no controller has seen it yet: check deployment compute-domain-controller" \
  kubectl describe cd two-nodes
check "why pod stops at the claim, whose template nobody makes" prints "o controller works that would create" \
  cd_ why pod two-nodes-0

start_controller
check "the domain gets Ready" kubectl wait --for=condition=Ready computedomain/two-nodes --timeout=60s
check "check is healthy" eventually 10 says 0 "healthy" cd_ check
check "why pod has nothing to say of it" eventually 10 says 0 "nothing is broken" cd_ why pod two-nodes-0
check "nor has why cd" says 0 "nothing is broken" cd_ why cd/two-nodes
check "as kubectl names it" says 0 "nothing is broken" eval "kubectl get cd -o name | xargs kubectl compute-domain why"
check "topology counts the devices" prints "4 nodes, 4 devices: 2 free, 2 in use" cd_ topology
check "matrix shows that they are connected" eventually 10 prints "1   .   +" cd_ matrix two-nodes
check "of a name with its kind too" says 0 "1   .   +" cd_ matrix cd/two-nodes
check "timeline says how long it took" prints "after the first pod was created" cd_ timeline two-nodes
check "JSON is JSON" test "$(cd_ why pod two-nodes-0 -o json | jq -r .stopsAt)" = ""

# More nodes than there are.
kubectl patch cd two-nodes --type merge -p '{"spec":{"numNodes":6}}' >/dev/null
check "why cd: more nodes wanted than there are" eventually 10 prints \
  "wants 6 nodes, and all nodes together offer 4 devices" cd_ why cd two-nodes
check "why pod says it too" prints "wants 6 nodes" cd_ why pod two-nodes-0
check "with the command that mends it" prints '"numNodes":4' cd_ why pod two-nodes-0
check "describe says what to do" eventually 10 prints "create the pods that are missing, or lower spec.numNodes" kubectl describe cd two-nodes
kubectl patch cd two-nodes --type merge -p '{"spec":{"numNodes":2}}' >/dev/null

pod lost tow-nodes-channel
check "why pod: a wrong template name" prints "o ResourceClaimTemplate tow-nodes-channel exists" cd_ why pod lost
check "describe of the pod says it in Kubernetes' words" eventually 10 prints 'resourceclaimtemplate.resource.k8s.io "tow-nodes-channel" not found' \
  kubectl describe pod lost
check "with the one that there is" prints "two-nodes-channel (of ComputeDomain two-nodes)" cd_ why pod lost

apply <<<'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"plain"},"spec":{"containers":[{"name":"worker","image":"busybox"}]}}'
check "why pod: one that has no claim at all" says 0 "does not ask for a ComputeDomain" cd_ why pod plain

domain other 1
eventually 10 kubectl get resourceclaimtemplate other-channel >/dev/null
pod other-0 other-channel "\"nodeSelector\":{\"kubernetes.io/hostname\":\"$(node_of two-nodes-0)\"},"
check "why pod: two domains want one node" eventually 10 prints "whose device default/two-nodes has" \
  cd_ why pod other-0
check "describe: seats are free, and the scheduler says why it takes none" eventually 20 prints \
  "are free; a node serves one domain at a time): see the scheduler's Event on the pod" kubectl describe cd other

# A fault that the nodes report.
kubectl annotate node "$(node_of two-nodes-1)" sandbox.compute-domain/fault=partition >/dev/null
check "why pod: a node that nobody reaches" eventually 60 prints "stops at Peers" cd_ why pod two-nodes-0
check "describe names the node and the next step" eventually 10 prints "its IMEX daemon; check its network" kubectl describe cd two-nodes
check "matrix shows it" eventually 30 prints "X" cd_ matrix two-nodes
kubectl annotate node "$(node_of two-nodes-1)" sandbox.compute-domain/fault- >/dev/null
check "and that it is over" eventually 60 says 0 "nothing is broken" cd_ why pod two-nodes-0
kubectl annotate node "$(node_of two-nodes-1)" sandbox.compute-domain/fault=fabric-error >/dev/null
check "check: a node whose fabric cannot be read" eventually 20 says 0 "it serves, but FabricUnreadable" cd_ check
check "describe of its report says where to look" prints "GPU is lost: see nvidia-smi on the node and the kernel log" \
  kubectl describe cdn "$(node_of two-nodes-1)"
kubectl annotate node "$(node_of two-nodes-1)" sandbox.compute-domain/fault- >/dev/null
check "and that it can be read again" eventually 20 refuses prints FabricUnreadable cd_ check
kubectl annotate node n04 sandbox.compute-domain/fault=imex-foreign >/dev/null
check "check: a node where somebody else's nvidia-imex runs" eventually 20 prints ImexCannotStart cd_ check
check "describe of its report says it, with the remedy" prints "systemctl mask nvidia-imex.service" kubectl describe cdn n04
kubectl annotate node n04 sandbox.compute-domain/fault- >/dev/null
check "and that it has ended" eventually 20 refuses prints ImexCannotStart cd_ check

kubectl annotate node "$(node_of two-nodes-1)" sandbox.compute-domain/fault=imex-kill >/dev/null
check "why pod: memory that a pod which runs has lost" eventually 60 prints "kubectl delete pod two-nodes-1 -n default" \
  cd_ why pod two-nodes-1
kubectl annotate node "$(node_of two-nodes-1)" sandbox.compute-domain/fault- >/dev/null
check "describe of the pod says it" eventually 10 prints "delete the pod, so that it starts again" kubectl describe pod two-nodes-1
check "that of its domain too" prints "pods there have lost the memory that they imported and have to start again" kubectl describe cd two-nodes
check "check warns of it" eventually 60 says 0 "pod two-nodes-1 has lost imported memory" cd_ check
check "the other pod has lost none" eventually 60 says 0 "nothing is broken" cd_ why pod two-nodes-0

# A field that is not spelled as it should be, in a template that somebody wrote by hand.
cat >"$work/misspelt.yaml" <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: by-hand}
spec:
  spec:
    devices:
      requests: [{name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}]
      config:
      - requests: [channel]
        opaque:
          driver: compute-domain.nvidia.com
          parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomainChannelConfig,
                       domainID: $(kubectl get cd two-nodes -o 'jsonpath={.metadata.uid}'), allocationMod: Single}
YAML
kubectl apply -f "$work/misspelt.yaml" >/dev/null
pod by-hand by-hand
check "why pod: a misspelt field of the configuration" eventually 20 prints 'unknown field "allocationMod"' \
  cd_ why pod by-hand
check "describe of the domain says it too" eventually 60 prints 'unknown field "allocationMod"' kubectl describe cd two-nodes
check "plan finds it before" says 3 'unknown field "allocationMod"' cd_ plan "$work/misspelt.yaml"
check "so does the controller's" says 3 'unknown field "allocationMod"' compute-domain-controller plan "$work/misspelt.yaml"
sed "s/^  name: /  namespace: default\n  name: /" manifests/examples/two-nodes.yaml >"$work/two-nodes.yaml"
check "plan has nothing against the example" says 0 "ComputeDomain default/two-nodes" \
  cd_ plan "$work/two-nodes.yaml"
check "nor without its namespace" says 0 "ComputeDomain default/two-nodes" cd_ plan manifests/examples/two-nodes.yaml
check "plan names a file that is not there" says 1 "none.yaml: No such file or directory" cd_ plan "$work/none.yaml"
check "as the controller's does" says 1 "none.yaml: No such file or directory" compute-domain-controller plan "$work/none.yaml"
mkdir "$work/empty"
check "and a folder without a manifest" says 1 "there is no manifest in this folder" cd_ plan "$work/empty"
check "and one without an object" says 1 "empty.yaml: there is no object" eval ": >'$work/empty.yaml'; cd_ plan '$work/empty.yaml'"

# A server that refuses what the controller writes.
apply <<'YAML'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: wall}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [resource.k8s.io], apiVersions: ["*"], operations: [CREATE], resources: [resourceclaimtemplates]}]
  validations: [{expression: '!object.metadata.name.startsWith("walled")', message: no templates on Fridays}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: wall}
spec: {policyName: wall, validationActions: [Deny]}
YAML
domain walled 1
check "why cd: a server that refuses" eventually 20 prints "no templates on Fridays" cd_ why cd walled
check "it stops at the controller" prints "stops at Controller" cd_ why cd walled
check "describe says it, with the next step" eventually 10 prints "no templates on Fridays; it is tried again; if it lasts, change what refuses it" \
  kubectl describe cd walled
check "a domain that is refused can go" kubectl delete cd walled --timeout=30s

kubectl delete cd two-nodes --wait=false >/dev/null
check "why pod: the domain was deleted under it" eventually 10 prints "deleted ComputeDomain default/two-nodes" \
  cd_ why pod two-nodes-0
check "with its pods" prints "two-nodes-0, two-nodes-1" cd_ why cd two-nodes
check "describe says it, with the next step" eventually 10 prints "): delete them, or what has made them" kubectl describe cd two-nodes

# A state that is on its way too, which the cluster's matrix would have and the bundle's not.
check "matrix shows the node whose daemon serves nobody yet" eventually 30 prints "X" cd_ matrix two-nodes

# The last Event that is on its way, which the cluster's timeline would have and the bundle's not.
check "timeline says what it waits for" eventually 20 prints "Deleting: waits for 3 pods" cd_ timeline two-nodes

# What else is on its way: a connection, a report.
all_answers() { for what in "topology" "matrix two-nodes" "timeline two-nodes" "check"; do answer $what; done; }
nothing_moves() {
  local before
  before=$(all_answers) && sleep 3 && [ "$(all_answers)" = "$before" ]
}
check "nothing moves any more" eventually 60 nothing_moves

# The same from a bundle.
check "bundle" says 0 "wrote $work/b.tar.gz" cd_ bundle "$work/b.tar.gz"
check "it says what it waits for, on standard error" prints "reading the logs of " eval "cd_ bundle - 2>&1 >/dev/null"
check "it has no environment, no command" refuses bash -c "tar -xzOf '$work/b.tar.gz' | grep hunter2"
check "without logs where none are wanted" eval "cd_ bundle --no-logs '$work/short.tar.gz' && ! tar -tzf '$work/short.tar.gz' | grep logs/"
check "its manifest says of which server it is" prints '"serverVersion": "v' tar -xzOf "$work/b.tar.gz" manifest.json
for pod in two-nodes-0 lost other-0 by-hand; do
  check "the bundle's why pod $pod is the cluster's" same why pod $pod
done
check "so is why cd" same why cd two-nodes
check "so is check" same check
check "so is topology" same topology
check "so is matrix" same matrix two-nodes
check "so is timeline" same timeline two-nodes

# As a page for a browser.
check "topology as a page" says 0 "wrote $work/page.html" cd_ topology --html "$work/page.html"
check "of this cluster" prints "$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')" cat "$work/page.html"
check "with a box per node" test "$(grep -c '<li class="s-[a-z]*"><b>n0' "$work/page.html")" -eq 4
check "and each domain" prints '<h3>default/two-nodes' cat "$work/page.html"
check "the page of one domain" says 0 "wrote $work/page.html" cd_ matrix two-nodes --html "$work/page.html"
check "takes the place of the file" prints "<h1>ComputeDomain default/two-nodes</h1>" cat "$work/page.html"
check "and leaves nothing beside it" test "$(echo "$work"/page.html*)" = "$work/page.html"
check "a page needs a name" says 2 "html" cd_ topology --html ""
check "so does a bundle" says 2 'bundle: "" is not the name of a file' cd_ bundle ""
check "a bundle's, on standard output" prints "<!doctype html>" cd_ timeline two-nodes --html - --from "$work/b.tar.gz"
live() { curl --silent --max-time 20 "http://$(sed -n 's/.* page=\([^ ]*\).*/\1/p' "$work/controller.log" | tail -1)$1"; }
check "the controller shows it too" prints "<title>ComputeDomains" live /debug/page
check "that of one ComputeDomain" prints "<title>ComputeDomain default/two-nodes" live /debug/page/default/two-nodes
check "it says of which bundle" prints "bundle b.tar.gz" cd_ topology --html - --from "$work/b.tar.gz"
check "not with -o json" says 2 "leave out one of them" cd_ topology --html "$work/page.html" -o json
check "not of a domain that does not exist" says 1 "there is no ComputeDomain none" cd_ matrix none --html "$work/none.html"
check "which writes none" refuses test -e "$work/none.html"
check "not into a folder" says 1 "it is a folder: name a file in it" cd_ topology --html "$work"
check "nor where none can be" says 1 "no page is written: cannot write $work/page.html/below.html: $work/page.html is a file: name a folder" \
  cd_ topology --html "$work/page.html/below.html"
check "in one line" is_one_line cd_ topology --html "$work/page.html/below.html"
for page in "topology --html" bundle; do
  check "before the cluster is read: $page" says 1 "$work/page.html is a file: name a folder" \
    cd_ $page "$work/page.html/below.html" --kubeconfig "$work/none"
done
mkfifo "$work/pipe"
for page in "topology --html" "bundle --no-logs"; do
  check "not into a pipe: $page" says 1 "cannot write $work/pipe: it is not a regular file; - as FILE is standard output" \
    cd_ $page "$work/pipe"
  check "which stays: $page" test -p "$work/pipe"
  check "nor into standard output by its path: $page" says 1 "/dev/stdout: it is not a regular file; -" \
    eval "cd_ $page /dev/stdout 2>&1 | cat"
done
check "nor where there is no room" says 1 "takes no more" bash -c "kubectl compute-domain topology --html - 2>&1 >/dev/full"
for what in check topology "topology -o json" "why cd two-nodes" "matrix two-nodes" "plan $work/two-nodes.yaml" "bundle -"; do
  check "nor is there for $what" says 1 "standard output takes no more" bash -c "kubectl compute-domain $what 2>&1 >/dev/full"
done
check "nor for the controller's plan" says 1 "standard output takes no more" \
  bash -c "compute-domain-controller plan '$work/two-nodes.yaml' 2>&1 >/dev/full"
check "a bundle on standard output" eval "cd_ bundle - | tar -tzf - manifest.json && [ ! -e - ]"
check "plan with a bundle counts its devices" says 3 "the nodes among these objects offer 4 seats" \
  cd_ plan --from "$work/b.tar.gz" - <<<'{"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomain",
    "metadata":{"name":"large","namespace":"default"},"spec":{"numNodes":9}}'

kill "$controller"
wait "$controller" 2>/dev/null
check "check fails when the controller is gone" eventually 20 says 3 "no controller holds the Lease" cd_ check
domain late 1
pod late-0 late-channel
check "why pod: no controller" eventually 10 prints "o controller works that would create the ResourceClaimTemplate" \
  cd_ why pod late-0

# What anybody may write does nothing to a terminal.
kubectl create -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Event", "metadata": {"name": "escape", "namespace": "default"}, "reason": "Note", "type": "Normal",
 "message": "before\\u001b[2Jafter\\u009b1A", "involvedObject": {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain",
  "namespace": "default", "name": "two-nodes", "uid": "$(kubectl get cd two-nodes -o 'jsonpath={.metadata.uid}')"},
 "firstTimestamp": "$(date -u +%FT%TZ)", "lastTimestamp": "$(date -u +%FT%TZ)"}
END
check "an Event of somebody's is told" says 0 "before [2Jafter 1A" cd_ timeline two-nodes
cd_ timeline two-nodes >"$work/timeline" && cd_ timeline two-nodes -o json >>"$work/timeline"
check "without its escape sequences" eval "[ -s '$work/timeline' ] && ! LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' '$work/timeline'"

# What cannot be done.
check "no such command" says 2 '"wy" is not a sub-command' cd_ wy pod two-nodes-0
check "an argument too many" says 2 'check: it takes no argument: extra' cd_ check extra
check "no such pod" says 1 "there is no pod none" cd_ why pod none
check "no such domain" says 1 "there is no ComputeDomain none in namespace default; those there are: late" \
  cd_ why cd none
check "in another namespace" says 1 "in namespace kube-system" cd_ matrix late -n kube-system
check "neither pod nor domain" says 2 "neither pod nor cd" cd_ why node n01
head -c 900 "$work/b.tar.gz" >"$work/cut.tar.gz"
check "a bundle that is cut off" says 1 "perhaps it was cut off" cd_ check --from "$work/cut.tar.gz"
check "in one line" is_one_line cd_ check --from "$work/cut.tar.gz"
mkdir "$work/whole" && tar -xzf "$work/b.tar.gz" -C "$work/whole"
sed -i 's/"format": *1/"format": 2/' "$work/whole/manifest.json"
tar -czf "$work/newer.tar.gz" -C "$work/whole" $(tar -tzf "$work/b.tar.gz")
check "a bundle of another release's format" says 1 "it is a bundle of format 2" cd_ check --from "$work/newer.tar.gz"
check "in one line" is_one_line cd_ check --from "$work/newer.tar.gz"
check "a file that is no bundle" says 1 "not a whole .tar.gz" cd_ topology --from README.md
check "a bundle and a cluster" says 2 "leave out --kubeconfig" cd_ check --from "$work/b.tar.gz" --context x
check "no such context" says 1 'context "x" is not in contexts' cd_ check --context x
kubectl config set-credentials nobody --token="$(kubectl create token default -n default)" >/dev/null
kubectl config set-context nobody --cluster="$(kubectl config view -o 'jsonpath={.clusters[0].name}')" --user=nobody >/dev/null
check "without rights" says 1 'you lack the right "get" on customresourcedefinitions' cd_ check --context nobody
check "in one line too" is_one_line cd_ why cd late --context nobody
kubectl config set-credentials guess --token=guess >/dev/null
kubectl config set-context guess --cluster="$(kubectl config view -o 'jsonpath={.clusters[0].name}')" --user=guess >/dev/null
check "with a wrong token" says 1 "($KUBECONFIG, context guess): get apigroups: Unauthorized: the API server does not take" \
  cd_ check --context guess
kubectl apply -f manifests/base/user-roles.yaml >/dev/null
# The sandbox reads no protobuf, in which `kubectl create clusterrolebinding` writes.
bind() { # KIND ROLE-KIND [NAMESPACE]
  kubectl apply -f - >/dev/null <<END
apiVersion: rbac.authorization.k8s.io/v1
kind: $1
metadata: {name: plugin${3:+, namespace: $3}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: $2, name: compute-domain-plugin}
subjects: [{kind: ServiceAccount, name: default, namespace: default}]
END
}
bind ClusterRoleBinding ClusterRole
check "with the roles for it, but one" says 1 'you lack the right "list" on leases' cd_ topology --context nobody
bind RoleBinding Role compute-domain-operator
bind RoleBinding Role compute-domain-nodes
check "with the roles for it" says 0 "default/two-nodes" cd_ topology --context nobody
for name in two-nodes other late; do
  kubectl patch cd $name --type merge -p '{"metadata":{"finalizers":null}}' >/dev/null
done
kubectl delete crd computedomains.resource.nvidia.com --wait=false >/dev/null
check "a cluster without our kinds" eventually 20 says 1 "CRD computedomains.resource.nvidia.com is not installed" \
  cd_ why cd late
check "in one line" is_one_line cd_ why cd late
check "which check finds" says 3 "it is not installed" cd_ check
sed 's/name: v1beta1$/name: v2alpha1/' crds/computedomains.yaml | kubectl apply -f - >/dev/null
check "a cluster with another version of them" eventually 20 says 1 "in version v2alpha1" cd_ why cd late
check "in one line" is_one_line cd_ why cd late
kill "$sandbox"
wait "$sandbox" 2>/dev/null
check "no server" says 1 "cannot read the cluster at http" cd_ topology
# One that knows no path at all: of a version without dynamic resource allocation.
mkdir "$work/nothing"
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/nothing" >"$work/old.out" 2>&1 &
old=$!
kubectl config set-cluster old --server="$(eventually 10 grep -o 'http://[0-9.:]*' "$work/old.out" && grep -o 'http://[0-9.:]*' "$work/old.out")" >/dev/null
kubectl config set-context old --cluster=old >/dev/null
check "a server of another version" says 1 "serves resource.k8s.io in none of the versions v1" cd_ check --context old
check "in one line" is_one_line cd_ check --context old
kill "$old"

# The sandbox as the documentation starts it, before the first domain.
"$bin/compute-domain-sandbox" --racks 1 --nodes-per-rack 4 --kubeconfig "$KUBECONFIG" >"$work/own.out" 2>"$work/own.log" &
sandbox=$!
check "a sandbox with a controller of its own gets ready" eventually 30 grep -q '^ready: KUBECONFIG=' "$work/own.out"
check "check is healthy there" eventually 10 says 0 "healthy" cd_ check
check "and has nothing to warn of" eventually 10 refuses prints WARN cd_ check
check "the Lease names its controller" prints " holds the Lease" cd_ check
check "its agents run the image of their DaemonSet" prints "4 of 4 pods run image tag" cd_ check
kill "$sandbox"
wait "$sandbox" 2>/dev/null
[ "$failed" -eq 0 ] || tail -n 20 "$work"/*log
finish_checks
