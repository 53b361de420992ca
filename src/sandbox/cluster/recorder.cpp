#include "sandbox/cluster/recorder.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

constexpr std::size_t kMostKnown = 4096;

}  // namespace

Recorder::Recorder(http::Client& client, const base::Clock& clock, base::Random random,
                   std::string component, std::string host)
    : objects_(client),
      clock_(clock),
      random_(random),
      component_(std::move(component)),
      host_(std::move(host)) {}

void Recorder::normal(const Resource& resource, const json& object, std::string_view reason,
                      const std::string& message) {
  record(resource, object, "Normal", reason, message);
}

void Recorder::warning(const Resource& resource, const json& object, std::string_view reason,
                       const std::string& message) {
  record(resource, object, "Warning", reason, message);
}

void Recorder::record(const Resource& resource, const json& object, std::string_view type,
                      std::string_view reason, const std::string& message) {
  const std::string now = base::to_rfc3339(clock_.now());
  const Word word{uid_of(object), std::string(reason), message};
  const auto found = known_.find(word);
  if (found != known_.end()) {
    const json patch{{"count", ++found->second.count}, {"lastTimestamp", now}};
    if (objects_.merge_patch(kEvents, found->second.event, patch)) return;
    known_.erase(found);  // it has expired; tell it anew
  }
  const ObjectKey about = key_of(object);
  const ObjectKey name{about.ns.empty() ? "default" : about.ns,
                       base::cat(about.name, ".", base::hex64(random_.next()))};
  json source{{"component", component_}};
  if (!host_.empty()) source["host"] = host_;
  json event{{"metadata", {{"namespace", name.ns}, {"name", name.name}}},
             {"involvedObject",
              {{"apiVersion", resource.api_version()},
               {"kind", resource.kind},
               {"name", about.name},
               {"uid", uid_of(object)}}},
             {"type", type},
             {"reason", reason},
             {"message", message},
             {"source", source},
             {"reportingComponent", component_},
             {"reportingInstance", host_},
             {"firstTimestamp", now},
             {"lastTimestamp", now},
             {"count", 1}};
  if (!about.ns.empty()) event["involvedObject"]["namespace"] = about.ns;
  if (!objects_.create(kEvents, std::move(event))) return;
  if (known_.size() >= kMostKnown) known_.clear();
  known_[word] = {name, 1};
}

}  // namespace cdom::sandbox
