#!/usr/bin/env bash
# The operator as a platform team installs it, by the lines of README.md, on a real control plane with two real kubelets:
# images, manifests, a domain whose pods get their channel, the replacement of its parts, and what is left when it is taken
# away. Stand-ins play the driver. Prints a line per check and their count. KUBERNETES=1.33: by what docs/install.md adds for it.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh

# in_readme SECTION [LANGUAGE]: the first block of that section.
in_readme() {
  awk -v section="## $1" -v fence="\`\`\`${2:-}" '
    /^## / { here = $0 == section }
    here && inside && $0 == "```" { exit }
    here && inside { print }
    here && $0 == fence { inside = 1 }' README.md
}
# A user's folder beside the repository. It has what these nodes need in the place of the GPU Operator's driver, no registry, and the
# only image that they have for a pod.
make_users_folders() {
  local components=manifests/test/stand-ins
  [ -z "$last_component" ] || components+=", $(in_install_page '\.\./[a-z/-]*/kubernetes-[0-9.]*/component')"
  mkdir -p "$work/compute-domain-operator" "$work/my-cluster" && cp -r manifests crds "$work/compute-domain-operator" &&
    sed -i 's|image: busybox|image: docker.io/local/busybox:1|; s|\[sleep, "60"\]|[sleep, infinity]|; s|: 18$|: 2|' \
      "$work/compute-domain-operator"/manifests/{examples/two-nodes,examples/recipe/01-install-and-verify,kubernetes-1.32/verify-install}.yaml &&
    in_readme Install yaml | sed -e "s|manifests/gpu-operator\].*|$components]|" -e 's|registry\.example\.com|registry.invalid|' \
      >"$work/my-cluster/kustomization.yaml" && grep "stand-ins.*$last_component" "$work/my-cluster/kustomization.yaml"
}
# README's line for this machine's architecture alone, as the page allows; of the programs under test, into a folder of the test's.
make_images_by_readme() {
  local line
  line=$(in_readme_line Install tools/image) && [[ $line == *"--arch amd64,arm64 --output images"* ]] &&
    eval "$(sed "s|,arm64||; s|--output images|--build $build --output $work/images|" <<<"$line")"
}
load_them() {
  local image
  for image in "$work"/images/*.tar; do cluster load-image "$image" || return 1; done
}
# in_install_page PATTERN: the first such text of docs/install.md.
in_install_page() { grep -oE -m 1 -e "$1" docs/install.md | head -1; }
# in_folder COMMAND: as a user types it in the repository.
in_folder() { (cd "$work/compute-domain-operator" && eval "$1"); }
# README's command that begins so.
in_readme_line() { in_readme "$1" | grep -m 1 "^$2"; }
# What README shows below a command, but for the age.
shows() { # COMMAND
  local wanted
  wanted=$(in_readme "First domain" | awk -v command="$ $1" '/^\$ / { here = $0 == command; next } here')
  [ -n "$wanted" ] && prints "$(without_age <<<"$wanted")" eval "in_folder '$1' | without_age"
}
without_age() { sed -E 's/ +[0-9]+s$//; s/ +AGE$//'; }
each_row() { # COUNT PATTERN COMMAND: so many rows below the head, and each has it
  local rows
  rows=$(in_folder "$3" | tail -n +2)
  echo "$rows"
  [ "$(wc -l <<<"$rows")" = "$1" ] && ! grep -vE "$2" <<<"$rows"
}
verified() { # COUNT PATTERN WORD: README's line with that word
  local line
  line=$(in_readme Verify | grep -m 1 -e "$3") && eventually 60 each_row "$1" "$2" "$line"
}

delete_domain() { in_folder "kubectl delete -f manifests/examples/two-nodes.yaml --timeout=90s"; }

run_without_claim() {
  kubectl run plain --image=docker.io/local/busybox:1 --restart=Never &&
    kubectl wait --for=condition=Ready pod/plain --timeout=60s
}

has_no_channel() { kubectl exec "$1" -- sh -c '! ls /dev/nvidia-caps-imex-channels'; }

leads_instead_of() { [ -n "$(leader)" ] && [ "$(leader)" != "$1" ]; }
kill_leader() {
  local before
  before=$(leader) && operator delete pod "$before" --wait=false && eventually 30 leads_instead_of "$before"
}

imex_pods() {
  node_programs get pods -l app=imex-daemon -o json |
    jq -r '.items[] | "\(.metadata.uid) \(.status.containerStatuses[0].restartCount)"' | sort
}

# A part is replaced while pods run: they and IMEX do not notice.
roll_agents() {
  local before
  before=$(imex_pods)
  node_programs rollout restart daemonset/compute-domain-agent &&
    node_programs rollout status daemonset/compute-domain-agent --timeout=120s &&
    [ "$(imex_pods)" = "$before" ]
}

# An IMEX supervisor that ends takes the daemon with it, and comes back at another address.
address() { kubectl get computedomainnode "$1" -o 'jsonpath={.status.address}'; }
is_ready_elsewhere() { # NODE ADDRESS
  [ "$(address "$1")" != "$2" ] && kubectl get computedomainnode "$1" | grep -w Ready &&
    kubectl get computedomains | grep 2/2
}
replace_supervisor_of() {
  local before
  before=$(address "$1")
  node_programs delete pod -l app=imex-daemon --field-selector "spec.nodeName=$1" --timeout=60s &&
    eventually 60 is_ready_elsewhere "$1" "$before"
}

# Through the API server.
metrics_of() { # NAMESPACE APP PORT
  local pod
  pod=$(kubectl get pods --namespace "$1" -l "app=$2" -o 'jsonpath={.items[0].metadata.name}')
  kubectl get --raw "/api/v1/namespaces/$1/pods/$pod:$3/proxy/metrics"
}

# As acceptance suites look at a domain: in the pod of the daemon's supervisor.
ask_daemon_of() {
  local pod
  pod=$(node_programs get pods -l app=imex-daemon --field-selector "spec.nodeName=$1" -o 'jsonpath={.items[0].metadata.name}')
  node_programs exec "$pod" -- nvidia-imex-ctl -c /imexd/imexd.cfg -N -j -H
}

make_driver_root
check "a cluster of two nodes" start_cluster --nodes 2
check "README's line makes the images" make_images_by_readme
check "its nodes take them" load_them

check "a folder as README has it" make_users_folders
check "README's line installs everything" in_folder "$(in_readme_line Install 'kubectl apply')"
check "two controllers run" operator rollout status deployment/compute-domain-controller --timeout=120s
check "one of them leads" eventually 30 leader
check "an IMEX supervisor runs on each node" eventually 60 all_ready daemonset compute-domain-imex 2
check "and an agent" eventually 60 all_ready daemonset compute-domain-agent 2

check "by README's lines to verify: two controllers, Ready" verified 2 ' 1/1 +Running ' compute-domain-operator
check "on each node an agent and a supervisor, Ready" verified 4 ' 1/1 +Running ' compute-domain-nodes
check "and each node can serve" verified 2 RequirementsMet 'get cdn'

if [ -n "$last_component" ]; then
  check "the recipe's first file, but for its claim template" prints "no matches for kind \"ResourceClaimTemplate\"" \
    in_folder "$(in_install_page 'kubectl apply -f manifests/examples/recipe/01[^ ]*')"
  check "which the file beside the older manifests brings" in_folder "$(in_install_page 'kubectl apply -f manifests/kubernetes[^` ]*')"
  check "so the Job that verifies the install completes" in_folder "$(in_install_page 'kubectl wait .*job/verify-install[^`]*')"
  check "its pod has its channel" prints channel0 kubectl logs job/verify-install
  check "the recipe's Jobs go" kubectl delete job node-check verify-install --timeout=90s
  check "and the template" kubectl delete resourceclaimtemplate verify-install
  check "and the domain that was made for them" eventually 60 is_empty kubectl get computedomains -o name
fi

check "README's first domain applies" shows "kubectl apply -f manifests/examples/two-nodes.yaml"
check "it gets its claim template" eventually 30 kubectl get resourceclaimtemplate two-nodes-channel
check "its pods start" kubectl wait --for=condition=Ready pod/two-nodes-0 pod/two-nodes-1 --timeout=90s
check "it gets Ready" kubectl wait --for=condition=Ready computedomain/two-nodes --timeout=60s
check "as README shows it" eventually 5 shows "kubectl get computedomains"
check "the driver's control tool is found in the pod of the daemon's supervisor" prints '"nodes"' ask_daemon_of n01
for pod in two-nodes-0 two-nodes-1; do check "$pod has its channel" starts_with_channel "$pod"; done
check "a pod without a claim runs" run_without_claim
check "and has no channel" has_no_channel plain

check "the controllers have metrics" prints rest_client_request_duration_seconds \
  metrics_of compute-domain-operator compute-domain-controller 8080
check "the agents' tell of the daemon" prints 'compute_domain_agent_imex_state{state="Ready"} 1' \
  metrics_of compute-domain-nodes compute-domain-agent 8081

check "a leader that is deleted is followed by the other" kill_leader
check "agents are replaced without the IMEX supervisors" roll_agents
check "the domain is still Ready" prints "2/2" kubectl get computedomains
check "and its pods have not ended" kubectl wait --for=condition=Ready pod/two-nodes-0 pod/two-nodes-1 --timeout=1s

check "an IMEX supervisor comes back at another address, and the domain with it" replace_supervisor_of n01
check "the end of its daemon is told" eventually 10 prints ImexFailed \
  kubectl get events --field-selector involvedObject.kind=ComputeDomain

check "the domain goes with its pods" delete_domain
check_requests
check "the rest goes by README's lines" in_folder "$(in_readme "Upgrade and uninstall")"
# Kubelet takes the slices of a driver that has gone after 30 s.
check "no object is left" eventually 60 is_empty objects_left
check "no file, no socket and no daemon is left" eventually 10 is_empty files_left n01 n02
finish_checks
