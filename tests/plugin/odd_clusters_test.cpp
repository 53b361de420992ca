// Reports of clusters in which somebody has written what no controller writes: none fails, none
// makes a terminal obey, and each is bounded.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/observed.h"
#include "compute_domain/plugin/check.h"
#include "compute_domain/plugin/matrix.h"
#include "compute_domain/plugin/page.h"
#include "compute_domain/plugin/timeline.h"
#include "compute_domain/plugin/topology.h"
#include "compute_domain/plugin/why.h"
#include "plugin/views.h"
#include "source_tree/source_tree.h"

namespace cdom::plugin {
namespace {

using Json = nlohmann::json;
using nlohmann::literals::operator"" _json_pointer;

// A line of a corpus of tests/fuzz: "PLURAL OBJECT".
struct Object {
  std::string plural;
  Json json;
};

std::vector<Object> objects_of_corpus() {
  std::vector<Object> objects;
  std::set<std::pair<std::string, std::string>> known;
  for (const auto& file :
       std::filesystem::directory_iterator(source_tree() / "tests/fuzz/corpus/bundles")) {
    std::ifstream text(file.path());
    for (std::string line; std::getline(text, line);) {
      const std::size_t space = line.find(' ');
      Json json =
          space == std::string::npos ? Json() : Json::parse(line.substr(space + 1), nullptr, false);
      if (!json.is_object()) continue;
      const std::string plural = line.substr(0, space);
      if (known.emplace(plural, json.value("/metadata/name"_json_pointer, "")).second)
        objects.push_back({plural, std::move(json)});
    }
  }
  return objects;
}

// What is not decoded is not there.
ClusterView view_of_objects(const std::vector<Object>& objects) {
  ClusterView view;
  view.taken = testing::kNow;
  view.namespaces = {
      .user = "default", .operators = "compute-domain-operator", .nodes = "compute-domain-nodes"};
  for_each_kind(view, [&]<class T>(const char* plural, std::vector<T>& of_kind) {
    for (const Object& object : objects) {
      if (object.plural != plural) continue;
      if (auto decoded =
              api::decode<T>(object.json.dump(-1, ' ', false, Json::error_handler_t::replace))) {
        of_kind.push_back(*std::move(decoded));
      }
    }
  });
  return reduced(std::move(view));
}

void expect_bounded(const std::string& text, const std::string& what) {
  EXPECT_LT(text.size(), 1'000'000U) << what;
}

template <class Report>
void expect_harmless(const base::Result<Report>& report, const std::string& what) {
  if (report) {
    expect_bounded(text_of(*report), what);
    EXPECT_TRUE(Json::accept(json_of(*report))) << what;
  } else {
    EXPECT_FALSE(report.error().message.empty()) << what;
  }
}

void look_at(const ClusterView& view, const std::string& what) {
  expect_bounded(text_of(check(view, {})), what);
  expect_bounded(text_of(topology(view)), what);
  EXPECT_LE(html_of(view, "s").size(), kMostPageBytes) << what;
  for (const api::ComputeDomain& domain : view.domains) {
    const api::ObjectName name = api::name_of(domain.meta);
    expect_harmless(why_domain(view, name), what);
    expect_harmless(matrix(view, name), what);
    expect_harmless(timeline(view, name), what);
    const auto page = html_of(view, name, "s");
    EXPECT_TRUE(!page || page->size() <= kMostPageBytes) << what;
  }
  for (const api::PodState& pod : view.pods) {
    expect_harmless(why_pod(view, api::name_of(pod.meta)), what);
  }
}

// Each value of a document that is neither list nor object.
void add_values(Json& json, std::vector<Json*>& values) {
  if (json.is_structured()) {
    for (Json& inner : json) add_values(inner, values);
  } else {
    values.push_back(&json);
  }
}

const std::vector<Json>& odd_values() {
  static const std::vector<Json> values = {"",
                                           " ",
                                           "\x1b[2J",
                                           "\x1b]0;title\x07",
                                           "\r\n\t",
                                           "\u202e",
                                           "\u009b",
                                           "0",
                                           "-1",
                                           "0-2047,9999",
                                           std::string(20'000, 'x'),
                                           "<script>",
                                           "a/b",
                                           "n01",
                                           "2999-01-01T00:00:00Z",
                                           "0001-01-01T00:00:00Z",
                                           0,
                                           -1,
                                           9223372036854775807,
                                           true,
                                           nullptr,
                                           "Ready",
                                           "True"};
  return values;
}

TEST(OddClusters, AreReportedWithoutHarm) {
  const std::vector<Object> objects = objects_of_corpus();
  ASSERT_GE(objects.size(), 10U);
  look_at(view_of_objects(objects), "as they are");
  std::mt19937 random(1);
  const auto pick = [&](std::size_t size) { return random() % size; };
  for (int i = 0; i < 100; ++i) {
    std::vector<Object> changed = objects;
    std::string what;
    for (std::size_t changes = 1 + pick(3); changes > 0; --changes) {
      Object& object = changed[pick(changed.size())];
      std::vector<Json*> values;
      add_values(object.json, values);
      const Json& odd = odd_values()[pick(odd_values().size())];
      *values[pick(values.size())] = odd;
      what = object.plural + " " +
             object.json.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 3'000);
    }
    look_at(view_of_objects(changed), what);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace cdom::plugin
