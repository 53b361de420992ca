#include "agent/answers.h"

#include <algorithm>

#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::agent {

void Answers::look_up(const core::LookUpClaim& question) {
  core::ClaimReading reading;
  auto answer = client_.get<api::ResourceClaim>({question.claim.ns, question.claim.name});
  if (answer) {
    reading.claim = std::move(*answer);
  } else {
    reading.error = answer.error();
  }
  reading.asked = clock_.elapsed();
  core::ClaimReading& known = claims_[question.claim.uid];
  const bool is_no_answer = reading.error && reading.error->kind != base::ErrorKind::NotFound;
  if (is_no_answer) {
    reading.gone_since = known.gone_since;
  } else if (core::has_ended_here(reading, question.claim, node_)) {
    reading.gone_since = known.gone_since.value_or(reading.asked);
  }
  known = std::move(reading);
}

void Answers::look_up(const core::LookUpPeer& question) {
  core::PeerReading reading;
  const auto take = [&](auto answer, auto& into) {
    if (answer) {
      into = std::move(*answer);
    } else if (answer.error().kind != base::ErrorKind::NotFound) {
      reading.error = answer.error();
    }
  };
  const api::ObjectName name{"", question.node};
  take(client_.get<api::Node>(name), reading.view.node);
  take(client_.get<api::ComputeDomainNode>(name), reading.view.report);
  reading.asked = clock_.elapsed();
  peers_[question.node] = std::move(reading);
}

void Answers::look_up(const core::LookUpList& question) {
  core::ListReading reading;
  auto answer =
      client_.get<api::ConfigMap>({operator_namespace_, core::node_list_name(question.group)});
  if (answer) {
    reading.stored = core::stored_list(*answer);
  } else {
    reading.error = answer.error();
  }
  reading.asked = clock_.elapsed();
  lists_[question.group] = std::move(reading);
}

void Answers::look_up(const core::LookUpDomains& question) {
  core::DomainsReading reading;
  auto answer = client_.list_all<api::ComputeDomain>({.ns = question.ns});
  if (answer) {
    reading.domains = std::move(*answer);
  } else {
    reading.error = answer.error();
  }
  reading.asked = clock_.elapsed();
  domains_[question.ns] = std::move(reading);
}

void Answers::keep_only(const core::Checkpoint& checkpoint,
                        const std::vector<core::WantedClaim>& wanted, bool is_recovering) {
  std::erase_if(peers_, [&](const auto& peer) { return !is_recovering && peer.first != node_; });
  std::erase_if(lists_,
                [&](const auto& entry) { return !checkpoint.stopped.contains(entry.first); });
  std::erase_if(claims_, [&](const auto& entry) {
    return !checkpoint.claims.contains(entry.first) &&
           std::ranges::none_of(wanted, [&](const auto& w) { return w.claim.uid == entry.first; });
  });
  std::erase_if(domains_, [&](const auto& entry) {
    return std::ranges::none_of(wanted, [&](const auto& w) { return w.claim.ns == entry.first; });
  });
}

void Answers::show(core::NodeWorld& world) const {
  world.readings = claims_;
  world.peers = peers_;
  world.old_lists = lists_;
  world.domains = domains_;
}

}  // namespace cdom::agent
