// LabelSelector and FieldSelector: which objects a list or a watch means.
//
// Both are parsed once and matched often; an empty selector matches everything. Values, immutable.
// The error texts are those of the API server (400 BadRequest).
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::sandbox {

class LabelSelector {
 public:
  enum class Operator { In, NotIn, Exists, DoesNotExist, GreaterThan, LessThan };
  struct Requirement {
    std::string key;
    Operator op = Operator::Exists;
    std::vector<std::string> values;
  };

  LabelSelector() = default;

  // The query form: "a=b,c!=d,e in (x,y),f notin (z),g,!h,n>3".
  static base::Result<LabelSelector> parse(std::string_view text);
  // The object form {matchLabels, matchExpressions}; null or {} matches everything.
  static base::Result<LabelSelector> from_object(const nlohmann::json& selector);

  // `labels` is the map of an object's labels; null stands for none.
  [[nodiscard]] bool matches(const nlohmann::json& labels) const;
  [[nodiscard]] bool matches_everything() const { return requirements_.empty(); }
  [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }

 private:
  std::vector<Requirement> requirements_;
};

class FieldSelector {
 public:
  struct Term {
    std::string field;
    std::string value;
    bool equal = true;
  };

  FieldSelector() = default;

  // "metadata.name=a,status.phase!=Running"; a backslash escapes backslash, comma and equals sign.
  // A field that is not in `allowed` is refused.
  static base::Result<FieldSelector> parse(std::string_view text,
                                           const std::vector<std::string>& allowed);

  // `value_of` gives the text of a field, "" for one that is absent.
  [[nodiscard]] bool matches(
      const std::function<std::string(std::string_view field)>& value_of) const;
  // Reads the fields from the object itself along their dotted names.
  [[nodiscard]] bool matches(const nlohmann::json& object) const;
  [[nodiscard]] bool matches_everything() const { return terms_.empty(); }
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }

 private:
  std::vector<Term> terms_;
};

}  // namespace cdom::sandbox
