// What an agent writes of troubles of its node: its own words, by its own decisions.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/api/meta.h"

namespace cdom::plugin::testing {

// As the IMEX supervisor says it (ImexSupervisor.TellsOfADaemonThatSomebodyElseRunsOnTheNode).
inline constexpr char kForeignDaemon[] =
    "another IMEX daemon runs on this node, nvidia-imex -c /etc/nvidia-imex/config.cfg (pid 812): "
    "systemctl disable --now nvidia-imex.service && systemctl mask nvidia-imex.service";

// The conditions of its report, when …
std::vector<api::Condition> conditions_with_old_driver();
std::vector<api::Condition> conditions_with_lost_gpu();
std::vector<api::Condition> conditions_with_foreign_daemon();

// Of a daemon that was READY and has been killed.
std::string words_of_killed_daemon();
// What its claim of ComputeDomain team-a/train waits for when no controller answers.
std::string words_without_controller();

}  // namespace cdom::plugin::testing
