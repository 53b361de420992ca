#include "yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "compute_domain/base/text.h"
#include "yaml_scalar.h"

namespace cdom::api {

namespace {

using base::cat;

constexpr std::size_t kMostDepth = 200;

// What is wrong and where; stays in this file.
struct Problem {
  int line;
  std::string what;
};

int line_of(const YAML::Mark& mark) { return mark.line + 1; }

// Builds JSON from the parser's events.
//
// An alias stands for a copy of what it names, so a short text can mean an endless one; and the
// parser itself (yaml-cpp 0.7) gives the same empty document for ever after some broken texts. So
// every value is weighed, as one and its bytes, and so is the copy that is kept for an anchor.
// Without aliases and anchors a text weighs at most two for each of its bytes.
class JsonBuilder : public YAML::EventHandler {
 public:
  JsonBuilder(std::size_t text_size, const TakeDocument& take)
      : weight_left_(100'000 + 16 * text_size), take_(take) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    weigh(1, mark);
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(nullptr, mark, anchor, weight_left_);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool is_plain = tag == "?";  // a quoted one has the tag "!"
    const std::size_t before = weight_left_;
    weigh(value.size(), mark);
    if (needs_key()) {
      set_key(value, is_plain, mark);
    } else if (!is_plain) {
      add(value, mark, anchor, before);
    } else if (auto resolved = resolve_plain_scalar(value)) {
      add(std::move(*resolved), mark, anchor, before);
    } else {
      throw Problem{line_of(mark), cat(value, " cannot be written in JSON")};
    }
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Problem{line_of(mark), "an alias names what it stands in"};
    const std::size_t before = weight_left_;
    weigh(found->second.weight, mark);
    add(found->second.json, mark, 0, before);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Json::array(), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Json::object(), mark, anchor);
  }
  void OnMapEnd() override {
    // What a merge key brings stands behind what is written beside it.
    Open& map = open_.back();
    for (auto& [key, value] : map.merged.items()) {
      if (!map.json.contains(key)) map.json[key] = std::move(value);
    }
    close();
  }

 private:
  // A list or map whose end has not come yet.
  struct Open {
    Json json;
    Json merged;                     // of a map: from its merge keys
    std::optional<std::string> key;  // of a map: whose value is next
    bool is_merge = false;           // that key is <<
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::size_t weight_before;
  };
  struct Anchored {
    Json json;
    std::size_t weight;
  };

  [[nodiscard]] bool needs_key() const {
    return !open_.empty() && open_.back().json.is_object() && !open_.back().key;
  }

  void set_key(const std::string& key, bool is_plain, const YAML::Mark& mark) {
    weigh(1, mark);
    Open& map = open_.back();
    map.is_merge = is_plain && key == "<<";
    if (!map.is_merge && map.json.contains(key)) {
      throw Problem{line_of(mark), cat("duplicate key \"", key, '"')};
    }
    map.key = key;
  }

  void weigh(std::size_t weight, const YAML::Mark& mark) {
    if (weight > weight_left_ || open_.size() > kMostDepth) {
      throw Problem{line_of(mark), "too large or too deeply nested"};
    }
    weight_left_ -= weight;
  }

  void open(Json empty, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (needs_key()) throw Problem{line_of(mark), "a key must be a scalar"};
    const std::size_t before = weight_left_;
    weigh(1, mark);
    open_.push_back({std::move(empty), Json::object(), std::nullopt, false, mark, anchor, before});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    add(std::move(closed.json), closed.mark, closed.anchor, closed.weight_before);
  }

  // `weight_before`: what was left before this value began.
  void add(Json value, const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t weight_before) {
    if (needs_key()) throw Problem{line_of(mark), "a key must be a scalar"};
    weigh(1, mark);
    if (anchor != 0) {
      const std::size_t weight = weight_before - weight_left_;
      weigh(weight, mark);
      anchors_[anchor] = {value, weight};
    }
    if (open_.empty()) {
      if (value.is_null()) return;
      if (auto problem = take_(value); !problem.empty()) throw Problem{line_of(mark), problem};
      return;
    }
    Open& parent = open_.back();
    if (parent.json.is_array()) {
      parent.json.push_back(std::move(value));
    } else if (parent.is_merge) {
      merge(parent.merged, std::move(value), mark);
      parent.key.reset();
    } else {
      parent.json[*parent.key] = std::move(value);
      parent.key.reset();
    }
  }

  // YAML 1.1 merge keys: one map or a list of them, the first that has a key wins.
  static void merge(Json& merged, Json sources, const YAML::Mark& mark) {
    if (!sources.is_array()) sources = Json::array({std::move(sources)});
    for (Json& source : sources) {
      if (!source.is_object()) throw Problem{line_of(mark), "<< must name a map"};
      merged.insert(source.begin(), source.end());
    }
  }

  std::size_t weight_left_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  const TakeDocument& take_;
};

}  // namespace

base::Error yaml_error(std::string_view file_name, int line, std::string_view what) {
  return {base::ErrorKind::Invalid, cat(file_name, ':', line, ": ", what)};
}

base::Result<void> read_yaml(std::string_view text, std::string_view file_name,
                             const TakeDocument& take) {
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    JsonBuilder builder(text.size(), take);
    while (parser.HandleNextDocument(builder)) {
    }
    return {};
  } catch (const Problem& problem) {
    return yaml_error(file_name, problem.line, problem.what);
  } catch (const YAML::Exception& e) {
    return yaml_error(file_name, line_of(e.mark), e.msg);
  }
}

}  // namespace cdom::api
