#!/usr/bin/env bash
# docs/recipe.md on a sandbox: each command there prints what stands below it, but for ages, hashes, nodes, and
# the order of lines; more lines where there is a "…". Prints a line per command and their count.
# `recipe_test.sh --print` prints the page's code blocks with what the commands print now.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

build=${CDOM_BUILD:-build/release}
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig
timeout 600 "$build/bin/compute-domain-sandbox" --kubeconfig "$KUBECONFIG" >"$work/out" 2>"$work/log" &
sandbox=$!
trap 'kill $sandbox 2>/dev/null; wait $sandbox 2>/dev/null; rm -rf "$work"' EXIT

# One file per command: its first line, and below it what it prints.
split_page() {
  awk -v folder="$work" '
    /^```/ { in_block = !in_block; file = ""; next }
    in_block && /^\$ / { file = sprintf("%s/step-%03d", folder, ++steps); $0 = substr($0, 3) }
    in_block && file != "" { print > file }' docs/recipe.md
}

# What differs from run to run, and spaces: kubectl makes columns as wide as their words.
normalized() {
  sed -E -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g' -e 's/-[0-9a-f]{8}( |$)/-HASH\1/g' \
    -e 's/-[bcdfghjklmnpqrstvwxz2456789]{5}( |-|$)/-RANDOM\1/g' -e 's/-[bcdfghjklmnpqrstvwxz2456789]{5}( |$)/-RANDOM\1/g' \
    -e 's/\<r[0-9]n[0-9]{2}\>/NODE/g' -e 's/10\.88\.[0-9.]+/ADDRESS/g' -e 's/ ([0-9]+[smh])+( |$)/ AGE\2/g' \
    -e 's/ ([0-9]+[smh])+( |$)/ AGE\2/g' -e 's/ from default namespace$//' -e 's/ +/ /g; s/ $//' | sort
}

run_step() { # FILE
  bash -c "$(head -n 1 "$1")" >"$work/printed" 2>&1
}
prints_what_it_says() { # FILE
  run_step "$1"
  tail -n +2 "$1" | normalized >"$work/expected"
  normalized <"$work/printed" >"$work/actual"
  if grep -qxF … "$work/expected"; then
    grep -vxF … "$work/expected" | comm -23 - "$work/actual" | is_empty cat
  else
    diff "$work/expected" "$work/actual"
  fi
}
# What changes something is run once; what looks is run until it shows what it shall.
holds() { # FILE
  case $(head -n 1 "$1") in
    "kubectl get"* | "kubectl logs"*) eventually 30 prints_what_it_says "$1" ;;
    *) prints_what_it_says "$1" ;;
  esac
}

split_page
if [ "${1:-}" = --print ]; then
  eventually 60 grep -q '^ready: ' "$work/out"
  for step in "$work"/step-*; do
    case $(head -n 1 "$step") in "kubectl get"* | "kubectl logs"*) sleep 6 ;; esac
    run_step "$step"
    echo "\$ $(head -n 1 "$step")"
    cat "$work/printed"
  done
  exit
fi
check "the sandbox gets ready" eventually 60 grep -q '^ready: ' "$work/out"
for step in "$work"/step-*; do
  check "$(head -n 1 "$step")" holds "$step"
done
for file in manifests/examples/recipe/*.yaml; do
  check "the page has $file" grep -qF "kubectl apply -f $file" "$work"/step-*
done
[ "$failed" -eq 0 ] || tail -n 20 "$work/log"
finish_checks
