#include "compute_domain/api/compute_domain.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/domain/compute_domain_fields.h"
#include "api/json/document.h"
#include "api/json/json_scanner.h"
#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

constexpr std::string_view kReady = "Ready";
constexpr std::string_view kNotReady = "NotReady";

}  // namespace

void AsReadyWord::read(Decoding& decoding, const JsonView& json, bool& out) {
  std::string word;
  api::read(decoding, json, word);
  // Any other one, of a later release, is not Ready.
  out = word == kReady;
}

void AsReadyWord::write(Json& json, bool value) { api::write(json, value ? kReady : kNotReady); }

void AsConditions::read(Decoding& decoding, const JsonView& json, std::vector<Condition>& out) {
  static const Wanted wanted = wanted_fields<Condition>();
  out.clear();
  const auto texts = elements_in(json.raw_text());
  if (!texts) return decoding.fail("must be a list");
  for (const std::string_view text : *texts) {
    const auto fields = parse_json(text, wanted);
    if (!fields || !fields->is_object()) continue;
    Condition& condition = out.emplace_back();
    condition.text = text;
    Decoding as_far_as_it_can_be;
    api::read(as_far_as_it_can_be, *fields, condition);
  }
}

void AsConditions::write(Json& json, const std::vector<Condition>& conditions) {
  make_empty_list(json);
  for (const Condition& condition : conditions) {
    auto text = condition.text.empty() ? base::Result<Json>(Json()) : parse_json(condition.text);
    if (text && text->is_object()) {
      append_to(json) = *std::move(text);
    } else {
      api::write(append_to(json), condition);
    }
  }
}

std::string to_string(const Workload& workload) {
  const bool is_label = workload.kind == kLabelWorkload;
  return base::cat(is_label ? "label" : workload.kind, " ", workload.name);
}

std::string_view to_string(AllocationMode mode) { return word_of(mode); }
bool wants_one_clique(const ComputeDomain& domain) {
  return domain.spec.placement && domain.spec.placement->clique == CliquePlacement::Single;
}

std::string_view to_string(DaemonState state) { return word_of(state); }
std::string_view to_string(Isolation isolation) { return word_of(isolation); }

std::optional<std::string> clique_of(const ComputeDomainNodeReport& report) {
  // Without a boot id nobody has written the status yet.
  if (report.boot_id.empty()) return std::nullopt;
  if (report.clique.empty() && !report.fabric_error.empty()) return std::nullopt;
  return report.clique;
}

const ImexGroupReport* find_group(const ComputeDomainNodeReport& report, std::string_view group) {
  const auto found = std::ranges::find(report.groups, group, &ImexGroupReport::group);
  return found == report.groups.end() ? nullptr : &*found;
}

CDOM_API_CODEC(ComputeDomain);
CDOM_API_CODEC(ComputeDomainClique);
CDOM_API_CODEC(ComputeDomainNode);

}  // namespace cdom::api
