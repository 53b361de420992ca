// The CRDs of crds/ against the field tables: whoever adds a field adds it in both.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "api/domain/compute_domain_fields.h"
#include "api/repository.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using testing::UnorderedElementsAreArray;

Json schema_of(std::string_view plural) {
  const auto crd = objects_in(base::cat("crds/", plural, ".yaml")).at(0);
  return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
}

// Of a word that programs of the next release may write: an older definition, which is applied
// again on the way back, must not refuse it.
constexpr char kAnyWord[] = "or another one";

// The leaves of a schema: "status.nodes[].name", and with their words, sorted, for enumerations.
void add_schema_fields(const Json& schema, const std::string& path, std::set<std::string>& out) {
  if (schema.contains("properties")) {
    for (const auto& [name, property] : schema["properties"].items()) {
      const bool is_common = path.empty() && (name == "apiVersion" || name == "kind");
      if (is_common || name == "metadata") continue;
      add_schema_fields(property, path.empty() ? name : base::cat(path, '.', name), out);
    }
  } else if (schema.contains("items")) {
    add_schema_fields(schema["items"], path + "[]", out);
  } else {
    auto words = schema.value("enum", std::set<std::string>{});
    if (schema.value("pattern", "") == "^[A-Za-z]*$") words = {kAnyWord};
    out.insert(
        base::cat(path, words.empty() ? "" : " ", base::join({words.begin(), words.end()}, "|")));
  }
}

// The same of a field table.
template <class Shape, class T>
void add_leaf(const std::string& path, const T&, std::set<std::string>& out) {
  std::set<std::string> words;
  if constexpr (std::is_same_v<T, DaemonState> || std::is_same_v<T, StaleState>) {
    words = {kAnyWord};
  } else if constexpr (HasWords<T>) {
    for (const auto& [value, word] : kWords<T>) words.emplace(word);
  } else if constexpr (std::is_same_v<Shape, AsReadyWord>) {
    words = {"NotReady", "Ready"};
  }
  out.insert(
      base::cat(path, words.empty() ? "" : " ", base::join({words.begin(), words.end()}, "|")));
}

template <HasFields T>
void add_table_fields(const std::string& path, std::set<std::string>& out);

template <class Shape, class T>
void add_value(const std::string& path, const T& value, std::set<std::string>& out) {
  if constexpr (HasFields<T>) {
    add_table_fields<T>(path, out);
  } else {
    add_leaf<Shape>(path, value, out);
  }
}
template <class Shape, class T>
void add_value(const std::string& path, const std::optional<T>&, std::set<std::string>& out) {
  add_value<Shape>(path, T{}, out);
}
template <class Shape, class T>
void add_value(const std::string& path, const std::vector<T>&, std::set<std::string>& out) {
  add_value<Shape>(path + "[]", T{}, out);
}

template <HasFields T>
void add_table_fields(const std::string& path, std::set<std::string>& out) {
  const auto add =
      [&]<class Shape, class Owner, class Member>(const Field<Shape, Owner, Member>& field) {
        std::string at = path;
        for (const JsonStep& step : field.path)
          at += base::cat(at.empty() ? "" : ".", step.name.text);
        if (at != "metadata") add_value<Shape>(at, Member{}, out);
      };
  std::apply([&](const auto&... field) { (add(field), ...); }, kFields<T>);
}

template <class T>
class Crd : public testing::Test {};
using OurKinds = testing::Types<ComputeDomain, ComputeDomainClique, ComputeDomainNode>;
TYPED_TEST_SUITE(Crd, OurKinds);

TYPED_TEST(Crd, HasTheFieldsAndWordsOfTheCodec) {
  std::set<std::string> in_schema;
  add_schema_fields(schema_of(kind_of<TypeParam>().plural), "", in_schema);
  std::set<std::string> in_table;
  add_table_fields<TypeParam>("", in_table);
  EXPECT_THAT(in_table, UnorderedElementsAreArray(in_schema));
}

TEST(ComputeDomainCrd, RequiresNoMoreThanTheReferenceDriver) {
  const Json schema = schema_of("computedomains");
  const Json& spec = schema["properties"]["spec"];
  const Json& status = schema["properties"]["status"];
  EXPECT_FALSE(schema.contains("required"));
  EXPECT_FALSE(spec.contains("required"));
  EXPECT_EQ(spec["properties"]["channel"]["required"], Json({"resourceClaimTemplate"}));
  EXPECT_EQ(status["required"], Json({"status"}));
  EXPECT_EQ(status["properties"]["nodes"]["items"]["required"],
            Json({"name", "ipAddress", "cliqueID"}));
  EXPECT_EQ(status["properties"]["nodes"]["x-kubernetes-list-map-keys"], Json({"name"}));
}

}  // namespace
}  // namespace cdom::api
