#include "compute_domain/agent/file_fabric.h"

#include <map>
#include <nlohmann/json.hpp>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

namespace {

using base::cat;
using Json = nlohmann::json;

// Takes fields out of an object; what is left over is unknown.
class FieldReader {
 public:
  FieldReader(Json object, std::string place)
      : object_(std::move(object)), place_(std::move(place)) {
    if (!object_.is_object()) fail(place_, "must be an object");
  }

  void text(const char* field, std::string& value) {
    if (const Json json = take(field); json.is_string()) {
      value = json;
    } else if (!json.is_null()) {
      fail(at(field), "must be a text (in quotes, when it looks like a number)");
    }
  }
  template <class Number>
  void number(const char* field, Number& value) {
    if (const Json json = take(field); json.is_number_integer()) {
      value = json.get<Number>();
    } else if (!json.is_null()) {
      fail(at(field), "must be a whole number");
    }
  }
  template <class Value>
  void choice(const char* field, const std::map<std::string, Value>& values, Value& value) {
    std::string name;
    text(field, name);
    if (name.empty()) return;
    if (const auto it = values.find(name); it != values.end()) {
      value = it->second;
    } else {
      fail(at(field), cat("\"", name, "\" is none of its values"));
    }
  }
  Json take(const char* field) {
    if (!object_.is_object() || !object_.contains(field)) return nullptr;
    Json json = std::move(object_[field]);
    object_.erase(field);
    return json;
  }
  void fail(const std::string& what, const std::string& problem) {
    if (problem_.empty()) problem_ = cat(what, what.empty() ? "" : ": ", problem);
  }
  [[nodiscard]] std::string at(const std::string& field) const {
    return place_.empty() ? field : cat(place_, ".", field);
  }
  // "" or what is wrong.
  std::string problem() {
    if (object_.is_object() && !object_.empty()) fail(at(object_.begin().key()), "no such field");
    return problem_;
  }

 private:
  Json object_;
  const std::string place_;
  std::string problem_;
};

std::string read_gpu(const Json& json, const std::string& place, GpuFacts& gpu) {
  FieldReader fields(json, place);
  fields.text("uuid", gpu.uuid);
  fields.text("name", gpu.name);
  fields.text("error", gpu.error);
  fields.choice("state",
                {{"notSupported", FabricState::NotSupported},
                 {"notStarted", FabricState::NotStarted},
                 {"inProgress", FabricState::InProgress},
                 {"completed", FabricState::Completed}},
                gpu.state);
  fields.number("status", gpu.status);
  fields.text("statusText", gpu.status_text);
  fields.text("clusterUUID", gpu.cluster_uuid);
  fields.number("cliqueID", gpu.clique_id);
  fields.choice("health",
                {{"healthy", FabricHealth::Healthy},
                 {"unhealthy", FabricHealth::Unhealthy},
                 {"limitedCapacity", FabricHealth::LimitedCapacity}},
                gpu.health);
  fields.number("healthMask", gpu.health_mask);
  gpu.cluster_uuid = base::to_lower(gpu.cluster_uuid);
  return fields.problem();
}

}  // namespace

base::Result<FabricFacts> parse_fabric_facts(const std::string& yaml,
                                             const std::string& file_name) {
  const auto json = api::json_in_yaml(yaml, file_name);
  if (!json) return json.error();
  FabricFacts facts;
  facts.source = file_name;
  FieldReader fields(Json::parse(*json), "");
  fields.text("driver", facts.driver_version);
  fields.text("error", facts.error);
  if (const Json gpus = fields.take("gpus"); gpus.is_array()) {
    for (const Json& gpu : gpus) {
      const std::string place = cat("gpus[", facts.gpus.size(), "]");
      const std::string problem = read_gpu(gpu, place, facts.gpus.emplace_back());
      if (!problem.empty()) fields.fail("", problem);
    }
  } else if (!gpus.is_null()) {
    fields.fail("gpus", "must be a list");
  }
  if (const std::string problem = fields.problem(); !problem.empty()) {
    return base::invalid(cat(file_name, ": ", problem));
  }
  return facts;
}

core::FabricReading FileFabric::read() {
  auto text = base::read_file(path_);
  if (text && text_ == *text) return last_;
  text_.reset();
  if (text) text_ = *std::move(text);
  last_ = reading_of(facts(), mode_);
  return last_;
}

FabricFacts FileFabric::facts() const {
  FabricFacts unreadable;
  unreadable.source = path_;
  const auto text = base::read_file(path_);
  if (!text) {
    unreadable.error = text.error().message;
    return unreadable;
  }
  auto facts = parse_fabric_facts(*text, path_);
  if (facts) return *std::move(facts);
  unreadable.error = facts.error().message;
  return unreadable;
}

}  // namespace cdom::agent
