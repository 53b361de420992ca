# scenarios.sh: plays tests/scenarios on the cluster of $KUBECONFIG. Source it after check.sh, in the
# repository's root; call stop_controller at the end.
player=build/release/tests/scenarios/wire_scenario_test

# start_controller DIRECTORY [FLAG…]: a controller with these flags, and in $RESTART_CONTROLLER the command that kills it and
# starts another one. Its log is DIRECTORY/controller.log.
start_controller() {
  controller_pid=$1/controller.pid
  export RESTART_CONTROLLER=$1/restart-controller
  # `timeout` makes itself a process group, which SIGKILL ends as a whole.
  cat >"$RESTART_CONTROLLER" <<SCRIPT
#!/bin/bash
exec 9>$1/controller.lock
flock 9
[ ! -e $controller_pid ] || kill -KILL -- "-\$(cat $controller_pid)"
timeout 3600 $PWD/build/release/bin/compute-domain-controller --kubeconfig $KUBECONFIG \
  --metrics-listen "" ${*:2} >>$1/controller.log 2>&1 </dev/null 9>&- &
echo \$! >$controller_pid
SCRIPT
  chmod +x "$RESTART_CONTROLLER"
  "$RESTART_CONTROLLER"
}

stop_controller() {
  [ ! -e "${controller_pid:-}" ] || kill "$(cat "$controller_pid")" 2>/dev/null
}

# play LOG FILTER [SHARDS]: the scenarios of that filter, so many side by side, each counted. What
# failed is printed whole.
play() {
  local log=$1 filter=$2 shards=${3:-1} shard pids=() pattern patterns
  IFS=: read -ra patterns <<<"${filter%%-*}"
  for pattern in "${patterns[@]}"; do
    "$player" --gtest_list_tests --gtest_filter="$pattern" | grep -q '^  ' ||
      { failed=$((failed + 1)); echo "FAILED  no scenario is called $pattern"; }
  done
  for ((shard = 0; shard < shards; shard++)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
      timeout 1800 "$player" --gtest_filter="$filter" >"$log.$shard" 2>&1 &
    pids+=($!)
  done
  for ((shard = 0; shard < shards; shard++)); do
    if ! wait "${pids[shard]}"; then
      grep -q '^\[  FAILED  \]' "$log.$shard" || { failed=$((failed + 1)); echo "FAILED  $player"; }
      grep -vE '^\[( RUN      |       OK |----------|==========)\]' "$log.$shard"
    fi
    passed=$((passed + $(grep -c '^\[       OK \]' "$log.$shard")))
    failed=$((failed + $(grep -cE '^\[  FAILED  \] .* \([0-9]+ ms\)' "$log.$shard")))
    sed -nE 's/^\[       OK \] /ok      /p; s/^\[  FAILED  \] (.* \([0-9]+ ms\))/FAILED  \1/p' "$log.$shard"
  done
}

# Those of a cluster whose nodes isolate domains by channel.
play_channels() { # LOG
  play "$1" "Channels*" 3
}

# All others: first those that need the cluster for themselves, and those that end the controller, one after the other:
# an Event that it was about to write is lost, and others wait for theirs. Before Kubernetes 1.36 there are no extended
# resources of device classes.
play_scenarios() { # LOG [EXCEPT]
  local alone="Examples.*:Recipe.*:Workloads.*:Slots.*:Cliques.*:PowerCut.*:SharedClaimsInTwoCliques.*"
  local ending="ControllerRestart.*:*.AControllerThatStartsAnew*:Automatic.ALabelThatChangesUnderARunningPodMovesNothing"
  ending+=":Faults.ANodeWithoutPowerIsNamedAndComesBack"
  play "$1-alone" "$alone:$ending-Channels*${2:+:$2}"
  play "$1" "-$alone:$ending:Channels*${KUBERNETES:+:OneLine.*}" 8
}
