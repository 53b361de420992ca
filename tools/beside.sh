# Sourced: work that needs only time runs beside other steps, on what these leave of the processors. Wants a directory in
# $logs; the caller kills what is left in `begun` (sessions, by name) when it ends.
declare -A begun=() since=()

# begin NAME COMMAND…, until finish NAME waits for it.
begin() {
  echo "=== $1 begins"
  # Where the kernel gives each session its share, this one's is to be the smallest.
  setsid bash -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null || true; exec chrt --idle 0 "$@"' beside "${@:2}" \
    >"$logs/$1.begun" 2>&1 &
  begun[$1]=$!
  since[$1]=$SECONDS
}
# What hangs is ended after $LIMIT seconds here: before, it may have been starved for as long as others took.
finish() { # NAME
  local session=${begun[$1]} status=0 pid
  # Now nothing else is waited for.
  { echo 0 >"/proc/$session/autogroup"; } 2>/dev/null || true
  for pid in $(pgrep --session "$session"); do chrt --other --pid 0 "$pid" 2>/dev/null || true; done
  timeout "${LIMIT:-3000}" tail --pid="$session" --follow /dev/null || {
    echo "$1 has hung, and was ended"
    kill -- "-$session" 2>/dev/null || true
  }
  wait "$session" || status=$?
  unset "begun[$1]"
  cat "$logs/$1.begun"
  echo "$1 took $((SECONDS - since[$1])) s, beside other steps"
  return "$status"
}
