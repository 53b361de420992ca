#!/usr/bin/env bash
# upgrade_test.sh [COMMIT]: an upgrade from the operator of that commit to this one and back, program by program, under a
# domain that runs; on three real kubelets, with the images and the manifests of both. COMMIT: the last release, or what is
# before this commit where there is none yet. Its programs are built in build/older. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh

commit=$(git rev-parse --short "${1:-$(git describe --tags --abbrev=0 2>/dev/null || echo HEAD~1)}^{commit}") || exit 1
older=build/older/$commit

build_older() {
  mkdir -p "$older" && git archive "$commit" | tar -x -C "$older" &&
    cmake -S "$older" -B "$older/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' \
      -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=20 &&
    cmake --build "$older/build/release" --target compute-domain-controller compute-domain-agent compute-domain-imex &&
    (cd "$older" && tools/image --build build/release --output build/images --tag older)
}
load_older_images() {
  local image
  for image in "$older"/build/images/*.tar; do cluster load-image "$image" || return 1; done
}

# install MANIFESTS CONTROLLER AGENT: the manifests of the `newer` or the `older` one, with programs of either.
newer_tag=$(sed -n 's/.*newTag: //p' manifests/default/kustomization.yaml | head -1 | tr -d '"')
tag_of() { if [ "$1" = older ]; then echo older; else echo "$newer_tag"; fi; }
install() {
  local of=../../manifests/test
  [ "$1" = newer ] || of=../../$older/manifests/test
  mkdir -p build/rack-upgrade &&
    cat >build/rack-upgrade/kustomization.yaml <<YAML &&
resources: [$of]
images:
- {name: registry.invalid/compute-domain-controller, newTag: $(tag_of "$2")}
- {name: registry.invalid/compute-domain-agent, newTag: $(tag_of "$3")}
- {name: registry.invalid/compute-domain-imex, newTag: $(tag_of "$1")}
YAML
    kubectl apply --server-side -k build/rack-upgrade &&
    operator rollout status deployment/compute-domain-controller --timeout=90s &&
    node_programs rollout status daemonset/compute-domain-agent --timeout=120s
}
supervisors_run() { all_ready daemonset compute-domain-imex 3; }
forms_and_goes() { form late n03 && is_ready late && pods_run late && has_channel late-n03 && dissolve late; }
replace_supervisor() { # NODE
  node_programs delete pod -l app=imex-daemon --field-selector "spec.nodeName=$1" && eventually 60 supervisors_run
}

check "the operator of $commit is built" build_older
make_driver_root
check "a cluster of 3 nodes" start_cluster --nodes 3
check "its nodes take the older images" load_older_images
check "and the newer ones" load_images
check "the older operator is installed" install older older older
check "its supervisors run" eventually 60 supervisors_run
form_train n01 n02
before=$(state)

check "the newer manifests and controller, beside older agents" install newer newer older
check "a domain forms and goes" forms_and_goes
check "newer agents, beside older supervisors" install newer newer newer
check "a domain forms and goes" forms_and_goes
check "the supervisor of n03 is replaced by a newer one" replace_supervisor n03
check "a domain forms and goes" forms_and_goes
check "the domain is Ready" is_ready train
check "no daemon and no container has ended" nothing_has_ended

check "back: the older manifests and controller, beside newer agents" install older older newer
check "a domain forms and goes" forms_and_goes
check "older agents, one beside a newer supervisor" install older older older
check "a domain forms and goes" forms_and_goes
check "the domain is Ready" is_ready train
check "its pods still have their channel" has_channel train-n01
check "no daemon and no container has ended" nothing_has_ended
check "it goes" dissolve train
finish_checks
