// Definitions: whether the cluster's CustomResourceDefinitions have all fields of this release.
//
// An API server silently drops fields that a definition does not have. So an older release, or
// another driver with definitions of the same names, that is installed over this one takes away
// fields that domains and nodes depend on.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/api/observed.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/events.h"

namespace cdom::controller {

// Those that this release is made for, with one version each.
std::vector<api::Definition> expected_definitions();

// Paths that `found` lacks, sorted; not what is below one that it lacks.
std::vector<std::string> missing_fields(const api::DefinitionVersion& expected,
                                        const api::DefinitionVersion& found);

// What is wrong with the cluster's definition, for people; "" when nothing is, or when it does not
// serve the version, which the watches report.
std::string fault_of(const api::Definition& expected, const api::Definition& found);

// Looks at the cluster's definitions, logs what has changed, and keeps the gauge
// compute_domain_definition_missing_fields. One thread.
class DefinitionLook {
 public:
  // `client` and `metrics` must outlive this.
  DefinitionLook(const kube::Client& client, base::Registry& metrics,
                 std::vector<api::Definition> expected);

  // Reads each definition. Nothing is known of one that is not there or may not be read (the latter
  // is logged once). When a read fails for another reason, what is known stays.
  void look();
  // An Event on each definition whose fault had none yet.
  void tell(kube::EventRecorder& events);
  [[nodiscard]] bool has_unreported() const;

 private:
  struct Known {
    std::string fault;
    std::string uid;
    bool is_reported = false;
  };
  void see(const api::Definition& expected, const api::Definition& found);
  base::Number& missing_fields_of(const std::string& name);

  const kube::Client& client_;
  base::Registry& metrics_;
  const std::vector<api::Definition> expected_;
  std::map<std::string, Known> known_;  // those with a fault, by name
  std::set<std::string> forbidden_;     // names
};

}  // namespace cdom::controller
