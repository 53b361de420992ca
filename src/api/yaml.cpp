#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "yaml_scalar.h"

namespace cdom::api {

namespace {

using base::cat;

// What is wrong and where; stays in this file.
struct YamlProblem {
  int line;  // from 1; 0: not known
  std::string what;
};

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

// YAML nodes as JSON. An alias stands for a copy of what it names, so a short text can mean an
// endless one: the number of values and the depth are bounded. Without aliases a text has fewer
// values than bytes.
class Converter {
 public:
  explicit Converter(std::size_t text_size) : values_left_(10'000 + 4 * text_size) {}

  Json convert(const YAML::Node& node) {
    constexpr int kMostDepth = 200;
    if (values_left_-- == 0 || depth_ > kMostDepth) {
      throw YamlProblem{line_of(node), "too large or too deeply nested"};
    }
    ++depth_;
    Json json = convert_value(node);
    --depth_;
    return json;
  }

 private:
  Json convert_value(const YAML::Node& node) {
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return scalar(node);
      case YAML::NodeType::Sequence:
        return list(node);
      case YAML::NodeType::Map:
        return object(node);
      default:
        return nullptr;
    }
  }

  static Json scalar(const YAML::Node& node) {
    // yaml-cpp tags a quoted scalar "!" and a plain one "?".
    if (node.Tag() != "?") return node.Scalar();
    auto value = resolve_plain_scalar(node.Scalar());
    if (!value) throw YamlProblem{line_of(node), cat(node.Scalar(), " cannot be said in JSON")};
    return std::move(*value);
  }

  Json list(const YAML::Node& node) {
    Json json = Json::array();
    for (const YAML::Node& item : node) json.push_back(convert(item));
    return json;
  }

  Json object(const YAML::Node& node) {
    Json json = Json::object();
    Json merged = Json::object();
    for (const auto& member : node) {
      if (!member.first.IsScalar()) {
        throw YamlProblem{line_of(member.first), "a key must be a scalar"};
      }
      const std::string key = member.first.Scalar();
      if (key == "<<" && member.first.Tag() == "?") {
        merge(merged, member.second);
      } else if (json.contains(key)) {
        throw YamlProblem{line_of(member.first), cat("duplicate key \"", key, '"')};
      } else {
        json[key] = convert(member.second);
      }
    }
    // What a merge key brings stands behind what is written here.
    for (auto& [key, value] : merged.items()) {
      if (!json.contains(key)) json[key] = std::move(value);
    }
    return json;
  }

  // YAML 1.1 merge keys: one map or a list of them, the first that has a key wins.
  void merge(Json& merged, const YAML::Node& node) {
    Json sources = convert(node);
    if (!sources.is_array()) sources = Json::array({std::move(sources)});
    for (Json& source : sources) {
      if (!source.is_object()) throw YamlProblem{line_of(node), "<< must name a map"};
      for (auto& [key, value] : source.items()) {
        if (!merged.contains(key)) merged[key] = std::move(value);
      }
    }
  }

  std::size_t values_left_;
  int depth_ = 0;
};

struct Document {
  Json json;
  int line;
};

// A document may be a List, as `kubectl get -o yaml` writes: its items then, which need not repeat
// their kind in a typed list (ComputeDomainList).
void append_objects(Document document, std::vector<std::string>& objects) {
  Json& json = document.json;
  const auto is_text = [&](const char* name) {
    return json.contains(name) && json[name].is_string();
  };
  if (!json.is_object() || !is_text("apiVersion") || !is_text("kind")) {
    throw YamlProblem{document.line,
                      "apiVersion and kind are required: this is not a Kubernetes object"};
  }
  const auto kind = json["kind"].get<std::string>();
  if (!kind.ends_with("List") || !json.contains("items")) {
    objects.push_back(text_of(json));
    return;
  }
  if (!json["items"].is_array()) throw YamlProblem{document.line, "items: must be a list"};
  for (Json& item : json["items"]) {
    if (item.is_object() && kind != "List") {
      item.emplace("apiVersion", json["apiVersion"]);
      item.emplace("kind", kind.substr(0, kind.size() - std::string_view("List").size()));
    }
    append_objects({std::move(item), document.line}, objects);
  }
}

std::vector<Document> documents_in(std::string_view text) {
  // Much faster than the YAML parser, and what `kubectl get -o json` writes.
  if (base::trim(text).starts_with('{')) {
    if (auto json = parse_json(text)) return {{std::move(*json), 1}};
  }
  std::vector<Document> documents;
  for (const YAML::Node& node : YAML::LoadAll(std::string(text))) {
    if (node.IsDefined() && !node.IsNull()) {
      documents.push_back({Converter(text.size()).convert(node), line_of(node)});
    }
  }
  return documents;
}

base::Error problem_in(std::string_view file_name, const YamlProblem& problem) {
  const std::string line = problem.line > 0 ? cat(':', problem.line) : "";
  return {base::ErrorKind::Invalid, cat(file_name, line, ": ", problem.what)};
}

}  // namespace

base::Result<std::vector<std::string>> objects_in_yaml(std::string_view text,
                                                       std::string_view file_name) {
  try {
    std::vector<std::string> objects;
    for (Document& document : documents_in(text)) append_objects(std::move(document), objects);
    return objects;
  } catch (const YamlProblem& problem) {
    return problem_in(file_name, problem);
  } catch (const YAML::Exception& e) {
    return problem_in(file_name, {e.mark.line + 1, e.msg});
  }
}

}  // namespace cdom::api
