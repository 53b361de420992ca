# story.sh: how a demo tells what it does. Source it; `tell_end` says where a demo that failed has its logs.
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

run() {
  printf '\n\033[2m$ %s\033[0m\n' "$*"
  "$@"
}

# run_some LINES COMMAND…: the first lines of what it prints.
run_some() {
  local lines=$1 output
  shift
  printf '\n\033[2m$ %s\033[0m\n' "$*"
  output=$("$@")
  # Not head, which would end before it has read all: a broken pipe would end the demo.
  printf '%s\n' "$output" | sed -n "1,${lines}p"
  [ "$(printf '%s\n' "$output" | wc -l)" -le "$lines" ] || echo "…"
}

# run_last LINES COMMAND…: the last lines of what it prints.
run_last() {
  local lines=$1
  shift
  printf '\n\033[2m$ %s | tail -n %s\033[0m\n' "$*" "$lines"
  "$@" | tail -n "$lines"
}

# until_true SECONDS WHAT COMMAND…: runs it until it succeeds; else ends the demo.
until_true() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      echo "demo: $what did not happen in time" >&2
      tell_end >&2
      exit 1
    fi
    sleep 0.2
  done
}

domain_is() { # JSONPATH VALUE
  [ "$(kubectl get computedomain training -o "jsonpath=$1")" = "$2" ]
}

gone() { # KIND…
  [ -z "$(kubectl get "$@" -o name 2>/dev/null)" ]
}
