#!/usr/bin/env bash
# What a client needs of a real API server, over TLS: what the programs' own client, informer and recorder do there;
# credentials that a program gives (users[].user.exec); and a user who acts for another one (as, as-groups), where
# kubectl and kubectl compute-domain take the same kubeconfig. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

bin=$(realpath "${CDOM_BUILD:-build/release}/bin")
work=$(mktemp -d)
export PATH=$bin:$PATH
cleanup() {
  tools/cluster --dir "$work/cluster" down >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT

ready=$(tools/cluster --dir "$work/cluster" up | tail -1)
export KUBECONFIG=$work/kubeconfig
cp "${ready#ready: KUBECONFIG=}" "$KUBECONFIG"
cluster=$(kubectl config view -o 'jsonpath={.clusters[0].name}')
check "the kinds apply" kubectl apply --server-side -k crds
check "they are served" kubectl wait --for=condition=Established crd --all --timeout=30s
check "client, informer and recorder do as they say" "${CDOM_BUILD:-build/release}/tests/kube/real_api_test" --gtest_brief=1
check "a token's user may read" eval "kubectl create serviceaccount reader -n default &&
  kubectl create clusterrolebinding reader --clusterrole=cluster-admin --serviceaccount=default:reader"

# What each prints: a token, the administrator's certificate with its key, the certificate alone, another version.
kubectl create token reader -n default >"$work/token"
kubectl config view --raw --minify --flatten -o json | jq '.users[0].user |
  {clientCertificateData: (.["client-certificate-data"] | @base64d), clientKeyData: (.["client-key-data"] | @base64d)}' >"$work/pair"
jq --rawfile token "$work/token" -n '{token: ($token | rtrimstr("\n"))}' >"$work/bearer"
jq 'del(.clientKeyData)' "$work/pair" >"$work/half"
mkdir "$work/bin"
cat >"$work/bin/login" <<'END'
#!/bin/sh
[ "$STATUS" ] || { echo "login: please log in" >&2; exit 3; }
jq -n --argjson info "$KUBERNETES_EXEC_INFO" '{info: $info, authorities: env.SSL_CERT_FILE, folder: env.SSL_CERT_DIR}' >"$STATUS.asked"
jq -n --slurpfile status "$STATUS" --argjson asked "$KUBERNETES_EXEC_INFO" --arg other "$OTHER" \
  '{apiVersion: ($asked.apiVersion + $other), kind: "ExecCredential", status: $status[0]}'
END
chmod +x "$work/bin/login"
# The administrator, who acts for somebody. Each group has to arrive: it is the second one that may read.
kubectl create clusterrolebinding second --clusterrole=cluster-admin --group=second >/dev/null
acts() { # NAME FIELDS
  kubectl config view --raw --flatten -o json | jq --arg name "$1" --argjson fields "$2" '
    .users += [{name: $name, user: (.users[0].user + $fields)}] |
    .contexts += [{name: $name, context: {cluster: .clusters[0].name, user: $name}}]' >"$work/with-$1" && mv "$work/with-$1" "$KUBECONFIG"
}
acts jane '{"as": "jane", "as-uid": "7", "as-groups": ["first", "second"], "as-user-extra": {"example.com/Scope": ["a", "b"]}}'
acts joe '{"as": "joe", "as-groups": ["first"]}'
user() { # NAME ARGUMENTS…
  kubectl config set-credentials "$1" --exec-api-version=client.authentication.k8s.io/v1 --exec-interactive-mode=Never "${@:2}" &&
    kubectl config set-context "$1" --cluster="$cluster" --user="$1"
}
user bearer --exec-command=bin/login --exec-env=STATUS="$work/bearer" --exec-provide-cluster-info >/dev/null 2>&1
user pair --exec-command=bin/login --exec-env=STATUS="$work/pair" >/dev/null 2>&1
user half --exec-command=bin/login --exec-env=STATUS="$work/half" >/dev/null 2>&1
user other --exec-command=bin/login --exec-env=STATUS="$work/bearer" --exec-env=OTHER=beta1 >/dev/null 2>&1
user locked-out --exec-command=bin/login --exec-env=STATUS= >/dev/null 2>&1
user absent --exec-command=no-such-login >/dev/null 2>&1

# What kubectl asks of the program, the plugin asks too.
asks_the_same() { # CONTEXT
  kubectl get nodes --context "$1" && mv "$work/$1.asked" "$work/$1.kubectl" &&
    kubectl compute-domain topology --context "$1" && diff <(jq -S . "$work/$1.kubectl") <(jq -S . "$work/$1.asked")
}
# says CODE TEXT COMMAND…: it ends with the code, and prints the text.
says() {
  local text=$2 output code=0
  output=$("${@:3}" 2>&1) || code=$?
  case $output in
    *"$text"*) [ "$code" -eq "$1" ] && return ;;
  esac
  printf 'wanted: %s\nexit code %s: %s\n' "$text" "$code" "$output"
  return 1
}
neither() { # TEXT CONTEXT: kubectl fails too
  ! kubectl get nodes --context "$2" && says 1 "$1" kubectl compute-domain topology --context "$2"
}

check "kubectl and the plugin get a token" asks_the_same bearer
check "and tell the program of the cluster" grep -q certificate-authority-data "$work/bearer.asked"
check "kubectl and the plugin get a client certificate" asks_the_same pair
check "a certificate without its key helps neither" neither "printed a client certificate without its key" half
check "nor an answer of another version" neither "v1beta1\", and the kubeconfig says" other
check "nor a program that fails" neither "locked-out].user.exec: $work/bin/login failed with exit code 3" locked-out
check "which says itself why" says 1 "login: please log in" kubectl compute-domain topology --context locked-out
check "nor one that is not there" neither "cannot start no-such-login: it is in no folder of PATH" absent
check "who acts for another one sees what that one may" eval "kubectl get nodes --context jane && kubectl compute-domain topology --context jane"
check "and no more" neither 'User "joe" cannot get' joe
check "a server takes no such kubeconfig" says 2 "users[bearer].user.exec is not supported: use a client certificate" \
  env KUBECONFIG="$work/kubeconfig" bash -c 'kubectl config use-context bearer >/dev/null &&
    exec compute-domain-controller --kubeconfig "$KUBECONFIG" --metrics-listen ""'
finish_checks
