#!/usr/bin/env bash
# Metrics and the controller's page over HTTPS on a real API server, with the rights that manifests/metrics-tls and
# manifests/debug-page give: who reads the metrics of
# controller and agent is asked for a token, kubelet is not, and a renewed certificate is shown without a restart.
# Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=${CDOM_BUILD:-build/release}/bin
work=$(mktemp -d)
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  wait 2>/dev/null
  tools/cluster --dir "$work/cluster" down >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT
kubectl() { "$work/cluster/kubectl" "$@"; }

install() {
  local manifests
  manifests=$(realpath --relative-to "$work" manifests)
  echo "{resources: [$manifests/default], components: [$manifests/metrics-tls, $manifests/debug-page]}" >"$work/kustomization.yaml"
  kubectl apply --server-side -k "$work" && kubectl wait --for=condition=Established crd --all --timeout=30s &&
    kubectl create serviceaccount prometheus -n default && kubectl create serviceaccount stranger -n default &&
    kubectl create clusterrolebinding prometheus --clusterrole=compute-domain-metrics-reader --serviceaccount=default:prometheus &&
    kubectl create serviceaccount oncall -n default &&
    kubectl create clusterrolebinding oncall --clusterrole=compute-domain-debug-page-reader --serviceaccount=default:oncall &&
    kubectl create -f - <<<'{apiVersion: v1, kind: Node, metadata: {name: n1}}'
}
# The files of a Secret, signed by nobody but themselves.
certify() { # NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj "/CN=$1" \
    -addext "subjectAltName=IP:127.0.0.1" -keyout "$work/tls.key.next" -out "$work/tls.crt.next" &&
    mv "$work/tls.key.next" "$work/tls.key" && mv "$work/tls.crt.next" "$work/tls.crt"
}
# As the pod does it: with its ServiceAccount and the variables of its container, but for the folder of the Secret.
start() { # PROGRAM KIND FLAG…
  local token program=$1 kind=$2 namespace=compute-domain-operator
  [ "$kind" = deployment ] || namespace=compute-domain-nodes
  token=$(kubectl create token "$program" -n "$namespace") || return 1
  kubectl config view --raw --minify -o json | jq --arg token "$token" '.users[].user = {token: $token}' >"$work/$program.kubeconfig"
  kubectl get "$kind" "$program" -n "$namespace" -o json | jq -r '.spec.template.spec.containers[0].env[] |
    select(.name | test("^(METRICS|DEBUG)_")) | "\(.name)=\(.value)"' >"$work/$program.env"
  sed -i "s|/etc/compute-domain/metrics-tls|$work|; s|^DEBUG_LISTEN=127.0.0.1:8090\$|DEBUG_LISTEN=127.0.0.1:0|" "$work/$program.env"
  env $(<"$work/$program.env") timeout 300 "$bin/$program" --kubeconfig "$work/$program.kubeconfig" \
    --metrics-listen 127.0.0.1:0 "${@:3}" >"$work/$program.log" 2>&1 &
  pids+=($!)
}
start_agent() {
  mkdir -p "$work"/kubelet/plugins "$work"/kubelet/plugins_registry "$work"/cdi
  echo boot-1 >"$work/boot_id"
  echo 'gpus: [{uuid: GPU-0, state: completed, clusterUUID: 6f0a3c52-1c7e, cliqueID: 7}]' >"$work/fabric.yaml"
  printf 'Character devices:\n235 nvidia-caps-imex-channels\n\nBlock devices:\n' >"$work/devices"
  start compute-domain-agent daemonset --node-name n1 --kubelet-plugins-dir "$work/kubelet/plugins" \
    --kubelet-registrar-dir "$work/kubelet/plugins_registry" --kubelet-state-file "$work/kubelet/state" \
    --cdi-root "$work/cdi" --fabric-file "$work/fabric.yaml" --boot-id-file "$work/boot_id" \
    --imex-socket "$work/imex.sock" --alt-proc-devices "$work/devices"
}
address() { # PROGRAM
  sed -n 's/.* health=\([^ ]*\).*/\1/p' "$work/$1.log" | grep .
}
page_address() {
  sed -n 's/.* page=\([^ ]*\).*/\1/p' "$work/compute-domain-controller.log" | grep .
}
status() { # PROGRAM|page PATH [TOKEN]
  local at
  at=$([ "$1" = page ] && page_address || address "$1")
  curl --silent --output "$work/body" --write-out '%{http_code}' --max-time 15 --cacert "$work/tls.crt" \
    ${3:+-H "Authorization: Bearer $3"} "https://$at$2"
}
is() { # STATUS PROGRAM PATH [TOKEN]
  local got
  got=$(status "${@:2}")
  [ "$got" = "$1" ] || { echo "$got"; cat "$work/body"; return 1; }
}
speaks_plainly() { # PROGRAM
  curl --silent --max-time 5 "http://$(address "$1")/metrics" | grep -q compute_domain
}
reviews() { # PROGRAM
  jq -c --arg who ":$1" 'select((.user.username | endswith($who)) and .objectRef.resource == "tokenreviews")' \
    "$work/cluster/audit.log" | wc -l
}
asks_nothing() { # COMMAND…
  local before
  before=$(reviews compute-domain-controller)
  "$@" && [ "$(reviews compute-domain-controller)" = "$before" ] && [ "$before" -gt 0 ]
}
token() { kubectl create token "$1" -n default; }
is_in_a_log() { # TEXT…
  local text
  for text in "$@"; do grep -qF -- "$text" "$work"/*.log && return; done
  return 1
}

check "a cluster" tools/cluster --dir "$work/cluster" up --only apiserver
[ "$failed" -eq 0 ] || finish_checks || exit 1
check "the operator with the component" install
check "a certificate" certify first
check "the controller" start compute-domain-controller deployment
check "the agent" start_agent
reader=$(token prometheus)
stranger=$(token stranger)
oncall=$(token oncall)
for program in compute-domain-controller compute-domain-agent; do
  check "$program serves" eventually 30 address "$program"
  check "$program: kubelet needs no token" is 200 "$program" /healthz
  check "$program: metrics need one" is 401 "$program" /metrics
  check "$program: which the API server knows" is 401 "$program" /metrics guess
  check "$program: of an account with the right" is 403 "$program" /metrics "$stranger"
  check "$program: which Prometheus' has" is 200 "$program" /metrics "$reader"
  check "$program: and they are metrics" grep -q '^# TYPE ' "$work/body"
  check "$program: in the clear there is nothing" eval "! speaks_plainly $program"
done
check "the page: needs a token" is 401 page /debug/page
check "the page: who may read metrics may not read it" is 403 page /debug/page "$reader"
check "the page: who has its role may" is 200 page /debug/page "$oncall"
check "the page: is one" grep -q '^<!doctype html>' "$work/body"
check "the page: is of this cluster" grep -q '<dd>v1\.' "$work/body"
check "the page: its role is not that of the metrics" is 403 compute-domain-controller /metrics "$oncall"
check "the page: in the clear there is nothing" eval '! curl --silent --max-time 5 "http://$(page_address)/debug/page" | grep -q html'
check "a second scrape asks nothing" asks_nothing is 200 compute-domain-controller /metrics "$reader"
check "the certificate is renewed" certify second
for program in compute-domain-controller compute-domain-agent; do
  check "$program shows it" eventually 25 is 200 "$program" /metrics "$reader"
done
check "no log has a token" eval '! is_in_a_log "$reader" "$stranger" "$oncall" guess'
[ "$failed" -eq 0 ] || tail -n 20 "$work"/*.log
finish_checks
