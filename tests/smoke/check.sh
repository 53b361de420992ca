# check.sh: counting checks for the smoke tests. Source it; end with `finish_checks`.
passed=0
failed=0

# check WHAT COMMAND…: the command succeeds.
check() {
  local what=$1
  shift
  if "$@" >/tmp/smoke.$$ 2>&1; then
    passed=$((passed + 1))
    echo "ok      $what"
  else
    failed=$((failed + 1))
    echo "FAILED  $what"
    sed 's/^/        /' /tmp/smoke.$$ | tail -20
  fi
  rm -f /tmp/smoke.$$
}

# eventually SECONDS COMMAND…: it succeeds within that time.
eventually() {
  local deadline=$((SECONDS + $1)) pauses=(0.1 0.1 0.2 0.2 0.3 0.4) tries=0
  shift
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      "$@"
      return
    fi
    # A long wait leaves the processors to what it waits for.
    sleep "${pauses[tries++]:-0.6}"
  done
}

# prints TEXT COMMAND…: its output holds the text.
prints() {
  local text=$1 output
  shift
  output=$("$@" 2>&1)
  case $output in
    *"$text"*) ;;
    *)
      echo "wanted: $text"
      echo "$output"
      return 1
      ;;
  esac
}

# is_empty COMMAND…: it succeeds and prints nothing.
is_empty() {
  local output
  output=$("$@" 2>/dev/null) || return 1
  [ -z "$output" ] || { echo "$output"; return 1; }
}

# no_sanitizer_complains LOG…: they hold no report of a sanitizer. Else what the first is, and the
# first frames of its stacks, in as many lines as check shows.
no_sanitizer_complains() {
  grep -q Sanitizer "$@"
  # 1: it has read them all, and found none.
  [ $? -eq 1 ] || {
    grep -hE 'Sanitizer|runtime error| of size | #[0-3] ' "$@" | cut -c 1-200 | head -n 20
    return 1
  }
}

finish_checks() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
