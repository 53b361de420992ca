// QuietDomain: a domain of another namespace, on two nodes that no fault meets. Whatever happens to
// the domains and nodes of others, it must not notice.
#pragma once

#include <map>
#include <string>

#include "system/rig.h"

namespace cdom::system_test {

class QuietDomain {
 public:
  static constexpr char kNamespace[] = "apart";
  static bool is_on(const std::string& node);

  QuietDomain(Rig& rig, bool by_channel) : rig_(rig), by_channel_(by_channel) {}

  // Applies it with its pods; whether it becomes Ready.
  bool form();
  // What has changed since; "": nothing. With isolation by channel a lost node list is everybody's:
  // the domain is Ready again at rest, and keeps its slots and its channel meanwhile.
  [[nodiscard]] std::string disturbance(bool is_at_rest) const;

 private:
  using Channels = std::map<std::string, std::map<std::string, core::ChannelRange>>;

  [[nodiscard]] api::ComputeDomainStatus status() const;
  [[nodiscard]] Channels channels() const;

  Rig& rig_;
  const bool by_channel_;
  api::ComputeDomainStatus status_;
  Channels channels_;  // of its claims, by node
};

}  // namespace cdom::system_test
