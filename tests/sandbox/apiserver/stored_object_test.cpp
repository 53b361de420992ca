#include "sandbox/apiserver/storage/stored_object.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace cdom::sandbox::server {
namespace {

std::string without_type(const StoredObject& object) {
  std::string out;
  object.append_without_type(out);
  return out;
}

TEST(StoredObject, AsAnItemOfAListHasNeitherApiVersionNorKind) {
  const StoredObject object({{"apiVersion", "v1"},
                             {"data", {{"kind", "kept"}}},
                             {"kind", "ConfigMap"},
                             {"metadata", {{"name", "settings"}}}},
                            7);
  EXPECT_EQ(
      object.text(),
      R"({"apiVersion":"v1","data":{"kind":"kept"},"kind":"ConfigMap","metadata":{"name":"settings","resourceVersion":"7"}})");
  EXPECT_EQ(without_type(object),
            R"({"data":{"kind":"kept"},"metadata":{"name":"settings","resourceVersion":"7"}})");
}

// Whatever members it has: what is cut out of the text is what a copy without them would lack.
TEST(StoredObject, IsCutAsACopyWouldBeWritten) {
  const std::string names[] = {"",     "\n\t/", "!",    "a\"b\\", "apiVersio", "apiVersion", "data",
                               "kind", "kinds", "spec", "status", "zz",        "\xc3\xa9"};
  const json values[] = {nullptr,
                         1e-7,
                         "q\"\\\n \xe2\x82\xac",
                         json::array({1, -2}),
                         {{"apiVersion", "x"}, {"kind", {{"kind", "y"}}}},
                         json::object()};
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    json value = {{"metadata", {{"name", "n"}}}};
    for (const std::string& name : names) {
      if (random() % 2 == 0) value[name] = values[random() % std::size(values)];
    }
    const StoredObject object(value, random() % 2);
    json copy = object.value();
    ASSERT_EQ(object.text(), copy.dump());
    copy.erase("apiVersion");
    copy.erase("kind");
    ASSERT_EQ(without_type(object), copy.dump()) << object.text();
  }
}

}  // namespace
}  // namespace cdom::sandbox::server
