#include "compute_domain/controller/key.h"

#include "compute_domain/base/text.h"

namespace cdom::controller {

std::string to_string(const Key& key) {
  switch (key.kind) {
    case Key::Kind::Domain:
      return base::cat("domain ", key.id);
    case Key::Kind::Group:
      return base::cat("group ", key.id, "/", key.clique);
    case Key::Kind::Clique:
      return base::cat("clique ", key.id);
    case Key::Kind::Report:
      return base::cat("report ", key.id);
    case Key::Kind::Label:
      return base::cat("label ", key.id);
    case Key::Kind::AgentLabel:
      return base::cat("agent label ", key.id);
    case Key::Kind::Workloads:
      return base::cat("workloads ", key.id);
    case Key::Kind::Placement:
      return key.id;
    case Key::Kind::SharedSlice:
      return base::cat("shared slice ", key.id);
    case Key::Kind::CliqueObjects:
      return base::cat("clique objects ", key.id);
  }
  return key.id;
}

}  // namespace cdom::controller
