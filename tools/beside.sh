# Sourced: work that needs only time runs beside other steps, on what these leave of the processors. Wants a directory in
# $logs; the caller kills what is left in `begun` (sessions, by name) when it ends.
declare -A begun=() since=()

# begin NAME COMMAND…, until finish NAME waits for it. The limit is for what hangs; it may be starved for long.
begin() {
  echo "=== $1 begins"
  # Where the kernel gives each session its share, this one's is to be the smallest.
  setsid bash -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null || true; exec timeout "$0" chrt --idle 0 "$@"' "${LIMIT:-5000}" "${@:2}" \
    >"$logs/$1.begun" 2>&1 &
  begun[$1]=$!
  since[$1]=$SECONDS
}
finish() { # NAME
  local session=${begun[$1]} status=0 pid
  # Now nothing else is waited for.
  { echo 0 >"/proc/$session/autogroup"; } 2>/dev/null || true
  for pid in $(pgrep --session "$session"); do chrt --other --pid 0 "$pid" 2>/dev/null || true; done
  wait "$session" || status=$?
  unset "begun[$1]"
  cat "$logs/$1.begun"
  [ "$status" != 124 ] || echo "$1 has hung, and was ended"
  echo "$1 took $((SECONDS - since[$1])) s, beside other steps"
  return "$status"
}
