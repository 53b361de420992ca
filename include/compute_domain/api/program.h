// What pods run, and as whom: views of the kinds Pod and Deployment, to look for a program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compute_domain/api/kind.h"
#include "compute_domain/api/meta.h"

namespace cdom::api {

struct ContainerProgram {
  std::string name;
  std::vector<std::string> command;  // empty: the image says

  friend bool operator==(const ContainerProgram&, const ContainerProgram&) = default;
};

struct PodProgram {
  ObjectMeta meta;
  std::string service_account;
  std::vector<ContainerProgram> containers;
  bool ready = false;  // the condition Ready is True

  friend bool operator==(const PodProgram&, const PodProgram&) = default;
};

struct DeploymentProgram {
  ObjectMeta meta;
  std::map<std::string, std::string> pod_labels;
  std::string service_account;  // "" for the namespace's default one
  std::vector<ContainerProgram> containers;
  std::int64_t ready_replicas = 0;

  friend bool operator==(const DeploymentProgram&, const DeploymentProgram&) = default;
};

template <>
const Kind& kind_of<PodProgram>();
template <>
const Kind& kind_of<DeploymentProgram>();

}  // namespace cdom::api
