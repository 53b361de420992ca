#!/usr/bin/env bash
# An admission webhook of a namespace that does not answer, and then one that refuses, on a real API server: a domain
# there says so in the server's words, domains of others form, and it goes on when the webhook has gone. Prints a
# line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=$(realpath "${CDOM_BUILD:-build/release}/bin")
work=$(mktemp -d)
export PATH=$bin:$PATH
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  wait 2>/dev/null
  tools/cluster --dir "$work/cluster" down >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT

# The webhook at this address of 127.0.0.1, for templates of claims in that namespace.
watch_over() { # NAMESPACE ADDRESS
  kubectl apply -f - <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: wall}
webhooks:
- name: wall.example.com
  clientConfig: {url: "https://$2/", caBundle: $(base64 -w 0 "$work/tls.crt")}
  failurePolicy: Fail
  timeoutSeconds: 5
  sideEffects: None
  admissionReviewVersions: [v1]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $1}}
  rules: [{apiGroups: [resource.k8s.io], apiVersions: ["*"], operations: [CREATE], resources: [resourceclaimtemplates]}]
YAML
}
# One that refuses all; writes its address.
cat >"$work/wall.py" <<'PYTHON'
import http.server, json, os, ssl, sys

class Wall(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        refusal = {"uid": asked["request"]["uid"], "allowed": False, "status": {"message": "no templates on Fridays"}}
        answer = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": refusal}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

os.chdir(sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Wall)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("tls.crt", "tls.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
with open("address.next", "w") as file:
    file.write("127.0.0.1:%d" % server.server_port)
os.rename("address.next", "address")
server.serve_forever()
PYTHON
certify() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=wall \
    -addext "subjectAltName=IP:127.0.0.1" -keyout "$work/tls.key" -out "$work/tls.crt"
}
domain() { # NAMESPACE NAME
  kubectl apply -n "$1" -f - <<<"{\"apiVersion\": \"resource.nvidia.com/v1beta1\", \"kind\": \"ComputeDomain\", \"metadata\": {\"name\": \"$2\"},
    \"spec\": {\"numNodes\": 1, \"channel\": {\"resourceClaimTemplate\": {\"name\": \"$2-channel\"}}}}"
}
condition_of() { # NAMESPACE NAME TYPE
  kubectl get computedomain "$2" -n "$1" \
    -o "jsonpath={range .status.conditions[?(@.type==\"$3\")]}{.status} {.reason}: {.message}{end}"
}
in_words() { prints "$1" condition_of walled train WritesAccepted; }
forms_and_goes() {
  kubectl apply -f manifests/examples/two-nodes.yaml &&
    kubectl wait --for=condition=Ready computedomain/two-nodes --timeout=60s &&
    kubectl delete -f manifests/examples/two-nodes.yaml --timeout=90s
}
why_says() { prints "$1" kubectl compute-domain why cd train -n walled; }

ready=$(tools/cluster --dir "$work/cluster" up | tail -1)
export KUBECONFIG=${ready#ready: KUBECONFIG=}
check "the manifests apply" kubectl apply --server-side -k .
timeout 600 compute-domain-sandbox nodes --kubeconfig "$KUBECONFIG" --racks 1 --nodes-per-rack 4 >"$work/nodes.out" 2>"$work/nodes.log" &
pids+=($!)
timeout 600 compute-domain-controller --kubeconfig "$KUBECONFIG" --metrics-listen "" >"$work/controller.log" 2>&1 &
pids+=($!)
check "the simulated nodes join" eventually 60 prints "4 nodes" cat "$work/nodes.out"
check "a certificate for the webhook" certify
check "a namespace" kubectl create namespace walled

# --- Nobody listens there. The API server answers that it cannot ask.
check "whose webhook does not answer" watch_over walled 127.0.0.1:1
wall_stands() { ! kubectl create --dry-run=server -n walled -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: probe}
spec: {spec: {devices: {}}}
YAML
}
check "which the API server has seen" eventually 20 wall_stands
check "a domain there" domain walled train
check "says what the API server says" eventually 20 in_words 'failed calling webhook "wall.example.com"'
check "that nobody listens" in_words 'connection refused'
check "what is refused" in_words 'False WriteRefused: cannot go on: '
check "and what to do" in_words 'change what refuses it'
check "describe shows it" prints 'failed calling webhook "wall.example.com"' kubectl describe computedomain train -n walled
check "why stops there" why_says 'stops at Controller'
check "with the server's words" why_says 'failed calling webhook "wall.example.com"'
check "domains of others form and go" forms_and_goes

# --- One that refuses.
python3 "$work/wall.py" "$work" >"$work/wall.log" 2>&1 &
pids+=($!)
check "the webhook comes" eventually 20 test -s "$work/address"
check "at an address of its own" watch_over walled "$(cat "$work/address")"
check "the domain says the webhook's words" eventually 60 in_words \
  'admission webhook "wall.example.com" denied the request: no templates on Fridays'
check "so does describe" prints 'no templates on Fridays' kubectl describe computedomain train -n walled
check "and why" why_says 'no templates on Fridays'
check "domains of others form and go" forms_and_goes
check "it is still refused" in_words 'no templates on Fridays'

check "the webhook goes" kubectl delete validatingwebhookconfiguration wall
has_gone_on() { prints "True Created" condition_of walled train TemplateReady && is_empty condition_of walled train WritesAccepted; }
check "the domain goes on" eventually 90 has_gone_on
[ "$failed" -eq 0 ] || tail -n 20 "$work"/*.log
finish_checks
