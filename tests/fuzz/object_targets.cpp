// Kubernetes objects, of every kind that is read, each as an object, in a page, and in a watch.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "api/reading.h"
#include "compute_domain/api/asked_pods.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/api/observed.h"
#include "compute_domain/api/program.h"
#include "compute_domain/api/review.h"
#include "compute_domain/base/ranges.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reservations.h"
#include "fuzz/laws.h"

namespace cdom::fuzz {

namespace {

using base::cat;

std::size_t kept(const std::vector<api::OpaqueConfig>& configs) {
  std::size_t size = 0;
  for (const api::OpaqueConfig& config : configs) size += config.parameters.size();
  return size;
}
std::size_t kept(const std::vector<api::Condition>& conditions) {
  std::size_t size = 0;
  for (const api::Condition& condition : conditions) size += condition.text.size();
  return size;
}
// What is kept of an object as it stands in its text.
template <class T>
std::size_t kept(const T&) {
  return 0;
}
std::size_t kept(const api::ResourceClaim& claim) {
  return kept(claim.spec.configs) + (claim.allocation ? kept(claim.allocation->configs) : 0);
}
std::size_t kept(const api::ResourceClaimTemplate& object) { return kept(object.spec.configs); }
std::size_t kept(const api::ComputeDomain& domain) {
  return domain.status ? kept(domain.status->conditions) : 0;
}
std::size_t kept(const api::ComputeDomainNode& node) { return kept(node.status.conditions); }

template <class T>
bool are_same(const base::Result<T>& a, const base::Result<T>& b) {
  return a && b ? *a == *b : !a && !b && a.error().message == b.error().message;
}
template <class T>
bool are_same(const base::Result<api::Page<T>>& a, const base::Result<api::Page<T>>& b) {
  if (!a || !b) return !a && !b && a.error().message == b.error().message;
  return a->items == b->items && a->unreadable == b->unreadable &&
         a->resource_version == b->resource_version && a->continue_token == b->continue_token;
}
template <class T>
bool are_same(const base::Result<api::WatchEvent<T>>& a,
              const base::Result<api::WatchEvent<T>>& b) {
  if (!a || !b) return !a && !b && a.error().message == b.error().message;
  return a->type == b->type && a->object == b->object && a->unreadable == b->unreadable;
}

// Whatever the bytes are, and wherever they stand.
template <class T>
void read_both_ways(std::string_view bytes) {
  using enum api::Reading;
  constexpr const char* kLaw = "both readers give the same";
  require(are_same(api::decode<T>(bytes, Quick), api::decode<T>(bytes, Thorough)), kLaw);
  const std::string list = cat(R"({"kind":")", api::kind_of<T>().kind, R"(List","items":[)", bytes,
                               R"(,{"metadata":{"name":"good"}}]})");
  for (const std::string_view page : {std::string_view(list), bytes}) {
    require(are_same(api::decode_page<T>(page, Quick), api::decode_page<T>(page, Thorough)), kLaw);
  }
  const std::string event = cat(R"({"type":"MODIFIED","object":)", bytes, "}");
  for (const std::string_view line : {std::string_view(event), bytes}) {
    require(are_same(api::decode_watch_event<T>(line, Quick),
                     api::decode_watch_event<T>(line, Thorough)),
            kLaw);
  }
}

// A text that an API server stores in a page and in a watch event.
template <class T>
void read_among_others(std::string_view bytes) {
  constexpr std::string_view kGood = R"({"metadata":{"name":"good"}})";
  const auto page = api::decode_page<T>(cat(R"({"kind":")", api::kind_of<T>().kind,
                                            R"(List","metadata":{"resourceVersion":"7"},"items":[)",
                                            kGood, ",", bytes, ",", kGood, "]}"));
  require(page.has_value(), "a page survives any object in it");
  require(page->items.size() + page->unreadable.size() == 3 && page->items.size() >= 2,
          "no object harms another of its page");
  require(page->resource_version == "7", "no object harms its page's version");
  for (const char* type : {"ADDED", "DELETED", "BOOKMARK", "ERROR"}) {
    const auto event =
        api::decode_watch_event<T>(cat(R"({"type":")", type, R"(","object":)", bytes, "}"));
    require(event.has_value(), "a watch survives any object in it");
    require(event->type != api::WatchType::Unknown, "no object harms its event's type");
  }
}

// The bytes are one object.
template <class T>
std::optional<T> read_object(std::string_view bytes) {
  const api::Kind& kind = api::kind_of<T>();
  read_both_ways<T>(bytes);
  auto object = api::decode<T>(bytes);
  // One of another kind is refused everywhere for the same reason.
  const auto type = api::type_meta_in(bytes);
  if (is_json(bytes) && (!type || type->kind == kind.kind)) read_among_others<T>(bytes);
  if (!object) return std::nullopt;
  require(kept(*object) <= bytes.size(), "what is kept is no longer than what came");
  for (const std::string_view version : kind.versions) {
    const auto once = api::decode<T>(api::encode(*object, version));
    require(once.has_value(), "an object that was written is read");
    const auto twice = api::decode<T>(api::encode(*once, version));
    require(twice && *twice == *once, "an object that was written is read as the same");
  }
  return std::move(*object);
}

// A field of a protobuf message, numbers below 16.
std::string message_field(unsigned number, std::string_view bytes) {
  std::string length;
  for (std::size_t left = bytes.size(); length.empty() || left > 0; left >>= 7U) {
    length += static_cast<char>((left & 0x7FU) | (left >= 0x80U ? 0x80U : 0U));
  }
  return cat(std::string(1, static_cast<char>(number << 3U | 2U)), length, bytes);
}

// The bytes are a page, an event, or one object of either.
template <class T>
void read_messages(std::string_view bytes) {
  const api::Kind& kind = api::kind_of<T>();
  const std::string version = api::api_version_of(kind, kind.versions.front());
  const auto envelope = [&](std::string_view name, std::string_view object) {
    return cat(std::string_view("k8s\0", 4),
               message_field(1, message_field(1, version) + message_field(2, name)),
               message_field(2, object));
  };
  const std::string list = envelope(cat(kind.kind, "List"), message_field(2, bytes));
  const std::string event =
      message_field(1, "ADDED") + message_field(2, message_field(1, envelope(kind.kind, bytes)));
  std::vector<T> read;
  for (const std::string_view page : {std::string_view(list), bytes}) {
    if (auto got = api::decode_page<T>(page))
      std::ranges::move(got->items, std::back_inserter(read));
  }
  for (const std::string_view text : {std::string_view(event), bytes}) {
    if (auto got = api::decode_watch_event<T>(text)) read.push_back(std::move(got->object));
  }
  for (const T& object : read) {
    // A byte that is not UTF-8 becomes three.
    require(kept(object) <= 3 * bytes.size(), "what is kept is no longer than what came");
    const auto once = api::decode<T>(api::encode(object, kind.versions.front()));
    require(once.has_value(), "an object that was read is written and read");
  }
}

}  // namespace

void read_protobuf(std::string_view bytes) {
  read_messages<api::Node>(bytes);
  read_messages<api::Pod>(bytes);
  read_messages<api::ConfigMap>(bytes);
  read_messages<api::ResourceClaim>(bytes);
  read_messages<api::ResourceClaimTemplate>(bytes);
  read_messages<api::ResourceSlice>(bytes);
  (void)api::decode_status(500, bytes);
}

void read_domains(std::string_view bytes) {
  (void)read_object<api::ComputeDomain>(bytes);
  (void)read_object<api::ComputeDomainClique>(bytes);
  (void)api::unknown_domain_fields(bytes);
}

void read_reports(std::string_view bytes) {
  const auto node = read_object<api::ComputeDomainNode>(bytes);
  if (!node) return;
  require(api::bounded(node->status) == node->status, "what is read is within its bounds");
  for (const api::ImexGroupReport& group : node->status.groups) {
    for (const std::string& text : {group.connected, group.channels}) {
      const auto numbers = base::parse_ranges(text);
      require(base::parse_ranges(base::ranges_text(numbers)) == numbers,
              "ranges are read as they were written");
    }
  }
}

void read_resources(std::string_view bytes) {
  if (const auto claim = read_object<api::ResourceClaim>(bytes)) {
    (void)core::asked_clique(claim->spec);
  }
  if (const auto object = read_object<api::ResourceClaimTemplate>(bytes)) {
    (void)core::placement_of(*object);
  }
  (void)read_object<api::ResourceSlice>(bytes);
  (void)read_object<api::DeviceClass>(bytes);
}

void read_builtins(std::string_view bytes) {
  (void)read_object<api::Node>(bytes);
  (void)read_object<api::Pod>(bytes);
  (void)read_object<api::ConfigMap>(bytes);
  (void)read_object<api::Event>(bytes);
  (void)read_object<api::Lease>(bytes);
  (void)read_object<api::Job>(bytes);
  (void)read_object<api::DaemonSet>(bytes);
  (void)read_object<api::Deployment>(bytes);
  (void)read_object<api::PodProgram>(bytes);
  (void)read_object<api::DeploymentProgram>(bytes);
  (void)read_object<api::PodState>(bytes);
  (void)read_object<api::Occurrence>(bytes);
  (void)read_object<api::DeploymentRollout>(bytes);
  (void)read_object<api::DaemonSetRollout>(bytes);
  (void)read_object<api::Definition>(bytes);
  (void)api::decode<api::TokenReview>(bytes);
  (void)api::decode<api::SubjectAccessReview>(bytes);
  (void)api::asked_pods_in(bytes);
}

}  // namespace cdom::fuzz
