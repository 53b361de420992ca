#include "compute_domain/api/resource.h"

#include <nlohmann/json.hpp>

#include "api/fields/resource_fields.h"
#include "api/json/document.h"
#include "api/node_selector.h"
#include "compute_domain/api/names.h"

namespace cdom::api {

namespace {

constexpr JsonPath kExpression = "cel.expression";
constexpr JsonPath kSource = "source";
constexpr std::string_view kFromClass = "FromClass";
constexpr std::string_view kFromClaim = "FromClaim";

}  // namespace

template <>
inline constexpr auto kFields<NodeSelectorRequirement> = std::tuple{
    field("key", &NodeSelectorRequirement::key), field("operator", &NodeSelectorRequirement::op),
    field("values", &NodeSelectorRequirement::values)};
template <>
inline constexpr auto kFields<NodeSelectorTerm> =
    std::tuple{field("matchFields", &NodeSelectorTerm::fields),
               field("matchExpressions", &NodeSelectorTerm::labels)};
template <>
inline constexpr auto kFields<NodeSelector> =
    std::tuple{field("nodeSelectorTerms", &NodeSelector::terms)};

void AsOneNode::read(Decoding& decoding, const JsonView& json, std::string& node) {
  NodeSelector selector;
  api::read(decoding, json, selector);
  node = one_node(selector);
}

void AsOneNode::write(Json& json, const std::string& node) {
  api::write(json, NodeSelector{{NodeSelectorTerm{.fields = {{kNodeNameField, "In", {node}}}}}});
}

void AsClique::read(Decoding& decoding, const JsonView& json, std::string& clique) {
  NodeSelector selector;
  api::read(decoding, json, selector);
  clique = one_clique(selector);
}

void AsClique::write(Json& json, const std::string& clique) {
  api::write(json,
             NodeSelector{{NodeSelectorTerm{.labels = {{kNodeCliqueLabel, "In", {clique}}}}}});
}

void AsCelSelector::read(Decoding& decoding, const JsonView& json, std::string& out) {
  visit_field(decoding, json, kExpression,
              [&](const JsonView& text) { api::read(decoding, text, out); });
}

void AsCelSelector::write(Json& json, const std::string& expression) {
  api::write(place_at(json, kExpression), expression);
}

void AsJsonText::read(Decoding&, const JsonView& json, std::string& out) { out = json.raw_text(); }

// Text that is not JSON is written as a string: the API server, which wants an object here, then
// says so.
void AsJsonText::write(Json& json, const std::string& text) {
  auto parsed = parse_json(text);
  json = parsed ? std::move(*parsed) : Json(text);
}

Wanted AsAllocatedConfig::wanted() {
  Wanted wanted = wanted_fields<OpaqueConfig>();
  want_at(wanted, kSource, {.everything = true});
  return wanted;
}

void AsAllocatedConfig::read(Decoding& decoding, const JsonView& json, OpaqueConfig& out) {
  api::read(decoding, json, out);
  visit_field(decoding, json, kSource, [&](const JsonView& source) {
    std::string word;
    api::read(decoding, source, word);
    out.from_class = word == kFromClass;
  });
}

void AsAllocatedConfig::write(Json& json, const OpaqueConfig& config) {
  api::write(json, config);
  api::write(place_at(json, kSource), config.from_class ? kFromClass : kFromClaim);
}

void AsAttribute::read(Decoding& decoding, const JsonView& json, AttributeValue& out) {
  visit_members(decoding, json, [&](std::string_view type, const JsonView& value) {
    if (type == "bool") {
      api::read(decoding, value, out.emplace<bool>());
    } else if (type == "int") {
      api::read(decoding, value, out.emplace<std::int64_t>());
    } else if (type == "string" || type == "version") {
      api::read(decoding, value, out.emplace<std::string>());
    }
  });
}

void AsAttribute::write(Json& json, const AttributeValue& value) {
  constexpr const char* kTypes[] = {"bool", "int", "string"};
  std::visit([&](const auto& v) { api::write(member_of(json, kTypes[value.index()]), v); }, value);
}

CDOM_API_CODEC(ResourceClaim);
CDOM_API_CODEC(ResourceClaimTemplate);
CDOM_API_CODEC(ResourceSlice);
CDOM_API_CODEC(DeviceClass);

}  // namespace cdom::api
