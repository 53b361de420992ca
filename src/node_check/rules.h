// The rules of judge(), by what they are about. Pure.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/node_check/findings.h"

namespace cdom::node_check {

// The driver and its kernel module: version, GPUs, channels, capability, programs, fabric.
void judge_kernel(const NodeFacts& facts, std::vector<Finding>& findings);
void judge_imex_programs(const NodeFacts& facts, std::vector<Finding>& findings);
void judge_fabric(const NodeFacts& facts, std::vector<Finding>& findings);
// What else runs there, and what kubelet and the container runtime have.
void judge_neighbours(const NodeFacts& facts, std::vector<Finding>& findings);
void judge_kubelet(const NodeFacts& facts, std::vector<Finding>& findings);
void judge_ports(const NodeFacts& facts, std::vector<Finding>& findings);

// The rule of one row, and what programs call that.
struct Rule {
  const char* check;
  Finding (*judge)(const NodeFacts& facts);
};
Finding named(std::string check, Finding finding, std::string name = "");

// The configuration with which the daemons of NVIDIA's DRA driver run, in pods.
inline constexpr char kPredecessorsCfg[] = "/imexd/imexd.cfg";

// The remedy for what this program cannot see.
inline constexpr char kSeenByTheJob[] =
    "run manifests/examples/recipe/01, which sees the whole node";

}  // namespace cdom::node_check
