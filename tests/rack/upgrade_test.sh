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
. tests/rack/older.sh

install_and_wait() { # as `install`
  install "$@" && operator rollout status deployment/compute-domain-controller --timeout=90s &&
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
check "the older operator is installed" install_and_wait older older older
check "its supervisors run" eventually 60 supervisors_run
form_train n01 n02
before=$(state)

check "the newer manifests and controller, beside older agents" install_and_wait newer newer older
check "a domain forms and goes" forms_and_goes
check "newer agents, beside older supervisors" install_and_wait newer newer newer
check "a domain forms and goes" forms_and_goes
check "the supervisor of n03 is replaced by a newer one" replace_supervisor n03
check "a domain forms and goes" forms_and_goes
check "the domain is Ready" is_ready train
check "no daemon and no container has ended" nothing_has_ended

check "back: the older manifests and controller, beside newer agents" install_and_wait older older newer
check "a domain forms and goes" forms_and_goes
check "older agents, one beside a newer supervisor" install_and_wait older older older
check "a domain forms and goes" forms_and_goes
check "the domain is Ready" is_ready train
check "its pods still have their channel" has_channel train-n01
check "no daemon and no container has ended" nothing_has_ended
check "it goes" dissolve train
finish_checks
