#include "agent/server/server_requests.h"

#include <variant>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::agent {

using base::Result;

namespace {

template <class... Kinds>
struct Overloaded : Kinds... {
  using Kinds::operator()...;
};
template <class... Kinds>
Overloaded(Kinds...) -> Overloaded<Kinds...>;

}  // namespace

Result<void> ServerRequests::run(const core::ServerIntent& intent, std::uint64_t seen_slices) {
  const Result<void> done = std::visit(
      Overloaded{[&](const core::PublishReport& write) -> Result<void> {
                   core::PublishReport sent = write;
                   const auto stored = write_report(sent);
                   if (!stored) {
                     results_.post(ReportNotWritten{sent, stored.error()});
                     return stored.error();
                   }
                   results_.post(ReportWritten{write, *stored});
                   return {};
                 },
                 [&](const core::PublishSlice& write) -> Result<void> {
                   const Result<std::string> version = write_slice(write);
                   if (!version) {
                     results_.post(SliceNotWritten{version.error()});
                     return version.error();
                   }
                   results_.post(SliceWritten{*version});
                   return {};
                 },
                 [&](const core::RemoveSlice& write) { return remove_slice(write, seen_slices); },
                 [&](const core::LookUpClaim& question) -> Result<void> {
                   results_.post(ClaimRead{question.claim, read(question)});
                   return {};
                 },
                 [&](const core::LookUpPeer& question) -> Result<void> {
                   results_.post(PeerRead{question.node, read(question)});
                   return {};
                 },
                 [&](const core::LookUpList& question) -> Result<void> {
                   results_.post(ListRead{question.group, read(question)});
                   return {};
                 },
                 [&](const core::LookUpDomains& question) -> Result<void> {
                   results_.post(DomainsRead{question.ns, read(question)});
                   return {};
                 }},
      intent);
  if (!done) {
    base::Error error = done.error();
    error.message = base::cat("cannot ", core::to_string(intent), ": ", error.message);
    return error;
  }
  base::log_debug("applied", {{"node", node_}, {"intent", core::to_string(intent)}});
  return {};
}

Result<api::ComputeDomainNode> ServerRequests::write_report(core::PublishReport& write) {
  if (write.current.uid.empty()) {
    // The controller removes the report of a Node that is gone, and would remove the next one too.
    const auto node = client_.get<api::Node>({"", node_});
    if (!node) return node.error();
    const auto made =
        client_.create(api::ComputeDomainNode{.meta = write.current, .status = write.report});
    if (!made) return made.error();
    write.current = made->meta;
  }
  // Its status is a subresource, which a create does not write.
  const api::ObjectMeta& current = write.current;
  return client_.patch<api::ComputeDomainNode>(
      api::name_of(current), "status",
      api::status_patch({current.uid, current.resource_version}, write.report));
}

Result<std::string> ServerRequests::write_slice(const core::PublishSlice& intent) {
  const api::Kind& kind = api::kind_of<api::ResourceSlice>();
  if (!intent.slice.meta.uid.empty()) {
    const api::ObjectMeta& meta = intent.slice.meta;
    const auto written =
        client_.patch<api::ResourceSlice>(api::name_of(meta), "",
                                          api::slice_patch({meta.uid, meta.resource_version},
                                                           intent.slice, client_.version_of(kind)));
    if (!written) return written.error();
    return written->meta.resource_version;
  }
  // Garbage collection takes a slice away with its Node, so the owner is asked for each time.
  const auto node = client_.get<api::Node>({"", node_});
  if (!node) return node.error();
  api::ResourceSlice slice = intent.slice;
  slice.meta.owners = {{.api_version = "v1",
                        .kind = "Node",
                        .name = node_,
                        .uid = node->meta.uid,
                        .controller = true}};
  const auto made = client_.create(slice);
  if (!made) return made.error();
  return made->meta.resource_version;
}

Result<void> ServerRequests::remove_slice(const core::RemoveSlice& intent,
                                          std::uint64_t seen_slices) {
  Result<void> removed = client_.remove<api::ResourceSlice>(
      api::name_of(intent.slice), {intent.slice.uid, intent.slice.resource_version});
  if (!removed && removed.error().kind != base::ErrorKind::NotFound) {
    results_.post(SliceNotWritten{removed.error()});
    return removed;
  }
  results_.post(SliceRemoved{seen_slices});
  return {};
}

core::ClaimReading ServerRequests::read(const core::LookUpClaim& question) const {
  core::ClaimReading reading;
  reading.asked = clock_.elapsed();
  auto answer = client_.get<api::ResourceClaim>({question.claim.ns, question.claim.name});
  if (answer) {
    reading.claim = std::move(*answer);
  } else {
    reading.error = answer.error();
  }
  return reading;
}

core::PeerReading ServerRequests::read(const core::LookUpPeer& question) const {
  core::PeerReading reading;
  reading.asked = clock_.elapsed();
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
  return reading;
}

core::ListReading ServerRequests::read(const core::LookUpList& question) const {
  core::ListReading reading;
  reading.asked = clock_.elapsed();
  auto answer =
      client_.get<api::ConfigMap>({operator_namespace_, core::node_list_name(question.group)});
  if (answer) {
    reading.stored = core::stored_list(*answer);
  } else {
    reading.error = answer.error();
  }
  return reading;
}

core::DomainsReading ServerRequests::read(const core::LookUpDomains& question) const {
  core::DomainsReading reading;
  reading.asked = clock_.elapsed();
  std::vector<api::Unreadable> unreadable;
  auto answer = client_.list_kept<api::ComputeDomain>(
      {.ns = question.ns},
      [](const api::ComputeDomain& domain) { return std::optional(core::listed_domain(domain)); },
      &unreadable);
  if (!answer) {
    reading.error = answer.error();
    return reading;
  }
  for (const api::Unreadable& object : unreadable) {
    answer->push_back(
        {.uid = object.uid,
         .name = object.name.name,
         .problem = base::shortened(object.problem, core::ListedDomain::kLongestText)});
  }
  reading.domains = std::move(*answer);
  return reading;
}

}  // namespace cdom::agent
