// Protobuf: what Kubernetes has encoded is read as its JSON is, and nothing else is taken for it.
//
// tests/api/kubernetes has objects of Kubernetes' own tests. tests/api/client_go.txt has the
// samples of samples.h as client-go's serializers encode them, each line a name and hexadecimal
// digits: UPDATE=PROGRAM test_api --gtest_filter='ProtobufTexts.*' has them encoded anew by
// `PROGRAM encode 0`, which bench/client_go is.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/samples.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "source_tree/source_tree.h"

namespace cdom::api {
namespace {

using base::cat;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kSamples[] = "tests/api/client_go.txt";

// What is encoded, by its name; the last three stand for every kind.
using Texts = std::map<std::string, std::string>;

template <class T>
void add_texts_of(Texts& texts) {
  const Kind& kind = kind_of<T>();
  const std::string version = api_version_of(kind, kind.versions.front());
  const std::string object = encode(sample<T>(), kind.versions.front());
  const std::string empty = encode(T{}, kind.versions.front());
  const auto name = [&](const char* what) { return cat(kind.kind, '.', what); };
  texts[name("event")] = cat(R"({"type":"MODIFIED","object":)", object, "}");
  texts[name("list")] = cat(R"({"kind":")", kind.kind, R"(List","apiVersion":")", version,
                            R"(","metadata":{"resourceVersion":"9","continue":"more"},"items":[)",
                            object, ",", empty, "]}");
  texts[name("bookmark")] =
      cat(R"({"type":"BOOKMARK","object":{"kind":")", kind.kind, R"(","apiVersion":")", version,
          R"(","metadata":{"resourceVersion":"12"}}})");
}

Texts texts() {
  Texts all;
  add_texts_of<Node>(all);
  add_texts_of<Pod>(all);
  add_texts_of<ConfigMap>(all);
  add_texts_of<ResourceClaim>(all);
  add_texts_of<ResourceClaimTemplate>(all);
  add_texts_of<ResourceSlice>(all);
  const std::string status =
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","details":{"retryAfterSeconds":3},"code":410})";
  all["status"] = status;
  all["error"] = cat(R"({"type":"ERROR","object":)", status, "}");
  return all;
}

std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// By client-go, as in client_go.txt.
std::string sample_bytes(const std::string& name) {
  std::istringstream lines(source_text(kSamples));
  std::string of, digits;
  while (lines >> of >> digits) {
    if (of == name) return bytes_of(digits);
  }
  ADD_FAILURE() << kSamples << " has no " << name;
  return {};
}

// Messages, by hand: a field of bytes, and an event with an object in its envelope.
std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
  return out + static_cast<char>(value);
}
std::string field(std::uint64_t number, std::string_view bytes) {
  return cat(varint(number << 3U | 2U), varint(bytes.size()), bytes);
}
std::string envelope(std::string_view api_version, std::string_view kind, std::string_view object) {
  return cat(std::string_view("k8s\0", 4), field(1, field(1, api_version) + field(2, kind)),
             field(2, object));
}
std::string event_with(std::string_view enveloped) {
  return field(1, "ADDED") + field(2, field(1, enveloped));
}
std::string node_event(std::string_view object) {
  return event_with(envelope("v1", "Node", object));
}

template <class T>
class ProtobufSamples : public testing::Test {};
using ProtobufKinds =
    testing::Types<Node, Pod, ConfigMap, ResourceClaim, ResourceClaimTemplate, ResourceSlice>;
TYPED_TEST_SUITE(ProtobufSamples, ProtobufKinds);

TYPED_TEST(ProtobufSamples, AreReadAsTheirJsonIs) {
  const std::string kind(kind_of<TypeParam>().kind);
  const auto event = decode_watch_event<TypeParam>(sample_bytes(kind + ".event"));
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, WatchType::Modified);
  EXPECT_EQ(event->object, sample<TypeParam>());

  const auto page = decode_page<TypeParam>(sample_bytes(kind + ".list"));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->items, (std::vector{sample<TypeParam>(), TypeParam{}}));
  EXPECT_EQ(page->resource_version, "9");
  EXPECT_EQ(page->continue_token, "more");

  const auto bookmark = decode_watch_event<TypeParam>(sample_bytes(kind + ".bookmark"));
  ASSERT_TRUE(bookmark) << bookmark.error().message;
  EXPECT_EQ(bookmark->type, WatchType::Bookmark);
  EXPECT_EQ(bookmark->object.meta.resource_version, "12");

  const auto error = decode_watch_event<TypeParam>(sample_bytes("error"));
  ASSERT_TRUE(error) << error.error().message;
  EXPECT_EQ(error->type, WatchType::Error);
  EXPECT_EQ(error_of(error->status).kind, base::ErrorKind::Expired);
}

// Where configurations are the same JSON, but for its spaces.
void unify(OpaqueConfig& config) {
  config.parameters = nlohmann::json::parse(config.parameters, nullptr, false).dump();
}
template <class T>
T unified(T object) {
  return object;
}
template <>
ResourceClaim unified(ResourceClaim object) {
  for (OpaqueConfig& config : object.spec.configs) unify(config);
  if (object.allocation) {
    for (OpaqueConfig& config : object.allocation->configs) unify(config);
  }
  return object;
}
template <>
ResourceClaimTemplate unified(ResourceClaimTemplate object) {
  for (OpaqueConfig& config : object.spec.configs) unify(config);
  return object;
}

TYPED_TEST(ProtobufSamples, OfKubernetesAreReadAsTheirJsonIs) {
  const Kind& kind = kind_of<TypeParam>();
  const std::string file =
      cat("tests/api/kubernetes/", kind.group.empty() ? "core" : kind.group, ".v1.", kind.kind);
  const auto in_json = decode<TypeParam>(source_text(file + ".json"));
  ASSERT_TRUE(in_json) << in_json.error().message;
  const auto event = decode_watch_event<TypeParam>(event_with(source_text(file + ".pb")));
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(unified(event->object), unified(*in_json));
  EXPECT_NE(*in_json, TypeParam{});
}

// An object that is read can be written, which bytes that are not UTF-8 could not be.
TYPED_TEST(ProtobufSamples, ThatAreCutOrChangedGiveAnObjectOrAnError) {
  const std::string kind(kind_of<TypeParam>().kind);
  const std::string event = sample_bytes(kind + ".event"), list = sample_bytes(kind + ".list");
  const auto try_it = [](const std::string& text) {
    std::vector<TypeParam> read;
    if (auto got = decode_watch_event<TypeParam>(text)) read.push_back(got->object);
    if (auto got = decode_page<TypeParam>(text)) read = got->items;
    for (const TypeParam& object : read) {
      const std::string written = encode(object, kind_of<TypeParam>().versions.front());
      EXPECT_TRUE(decode<TypeParam>(written)) << written;
    }
  };
  for (const std::string& text : {event, list}) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      try_it(text.substr(0, i));
      for (const char byte : {'\0', '\x0A', '\xFF'}) {
        std::string changed = text;
        changed[i] = byte;
        try_it(changed);
      }
    }
  }
  EXPECT_FALSE(decode_page<TypeParam>(list.substr(0, list.size() - 1)));
  EXPECT_FALSE(decode_watch_event<TypeParam>(event.substr(0, event.size() - 1)));
}

TEST(Protobuf, IsReadOfTheFirstVersionOfSixKinds) {
  EXPECT_TRUE(reads_protobuf<Node>("v1"));
  EXPECT_TRUE(reads_protobuf<ResourceSlice>("v1"));
  EXPECT_FALSE(reads_protobuf<ResourceSlice>("v1beta1"));
  EXPECT_FALSE(reads_protobuf<ComputeDomain>("v1beta1"));
  EXPECT_FALSE(reads_protobuf<Lease>("v1"));
  EXPECT_FALSE(reads_protobuf<DynamicObject>("v1"));
}

TEST(Protobuf, SaysWhatItCannotRead) {
  EXPECT_EQ(decode_page<Pod>(sample_bytes("Node.list")).error().message,
            "a list of pods in protobuf is not as this program knows it");
  EXPECT_EQ(decode_watch_event<Pod>(sample_bytes("Node.event")).error().message,
            "an event of pods in protobuf is not as this program knows it");
  const auto of_version = [](std::string_view version) {
    return decode_watch_event<ResourceClaim>(event_with(envelope(version, "ResourceClaim", "")));
  };
  EXPECT_TRUE(of_version("resource.k8s.io/v1"));
  EXPECT_FALSE(of_version("resource.k8s.io/v1beta1"));
  EXPECT_FALSE(decode_watch_event<Node>(field(1, "ADDED"))) << "without an object";
  // A kind that is never asked for so.
  EXPECT_FALSE(decode_page<ComputeDomain>(sample_bytes("Node.list")));
  const auto unknown = decode_watch_event<Node>(field(1, "PAUSED"));
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->type, WatchType::Unknown);
}

TEST(Protobuf, PassesOverFieldsThatItDoesNotKnow) {
  const std::string meta = field(1, field(1, "n1"));
  const std::string varint_field = cat(varint(1000U << 3U), varint(1ULL << 63U));
  const std::string eight_bytes = cat(varint(1000U << 3U | 1U), "12345678");
  const std::string four_bytes = cat(varint(1000U << 3U | 5U), "1234");
  const auto event = decode_watch_event<Node>(node_event(
      cat(varint_field, eight_bytes, four_bytes, field(1000, "text"), meta, field(1000, meta))));
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->object.meta.name, "n1");

  const std::string group = cat(varint(1000U << 3U | 3U), varint(1000U << 3U | 4U));
  EXPECT_FALSE(decode_watch_event<Node>(node_event(meta + group)));
  EXPECT_FALSE(decode_watch_event<Node>(node_event(meta + std::string(11, '\xFF'))));
  EXPECT_FALSE(decode_watch_event<Node>(node_event(meta + eight_bytes.substr(0, 7))));
  EXPECT_FALSE(decode_watch_event<Node>(node_event(meta + std::string(2, '\0')))) << "field 0";
  // The name as a number.
  EXPECT_FALSE(decode_watch_event<Node>(node_event(field(1, cat(varint(1U << 3U), varint(7))))));
}

TEST(Protobuf, TakesBytesThatAreNotUtf8AsAnApiServerWritesThemInJson) {
  const auto name_of_node = [](std::string_view bytes) {
    const auto event = decode_watch_event<Node>(node_event(field(1, field(1, bytes))));
    return event ? event->object.meta.name : event.error().message;
  };
  EXPECT_EQ(name_of_node("n\xC3\xBC\xF0\x9F\x98\x80"), "n\xC3\xBC\xF0\x9F\x98\x80");
  EXPECT_EQ(name_of_node("n\xFFx"), "n\xEF\xBF\xBDx");
  EXPECT_EQ(name_of_node("eight by\xC3"), "eight by\xEF\xBF\xBD");
  EXPECT_EQ(name_of_node("1234567\xC3\x28"), "1234567\xEF\xBF\xBD(");
}

TEST(Protobuf, OfConditionsAndAddressesOfOneTypeTakesTheFirst) {
  const auto pair = [](unsigned field_number, const char* type, const char* value) {
    return field(field_number, field(1, type) + field(2, value));
  };
  const std::string status = pair(4, "Ready", "True") + pair(4, "Ready", "False") +
                             pair(5, "InternalIP", "10.0.0.1") + pair(5, "InternalIP", "10.0.0.2") +
                             pair(5, "Hostname", "n1");
  const auto node = decode_watch_event<Node>(node_event(field(3, status)));
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->object.ready, ConditionStatus::True);
  EXPECT_EQ(node->object.internal_ip, "10.0.0.1");
  const std::string conditions = pair(2, "Ready", "True") + pair(2, "Ready", "False");
  const auto pod = decode_watch_event<Pod>(event_with(envelope("v1", "Pod", field(3, conditions))));
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_TRUE(pod->object.ready);
}

TEST(Protobuf, GivesTheStatusOfARefusal) {
  const Status status = decode_status(410, sample_bytes("status"));
  EXPECT_EQ(status.code, 410);
  EXPECT_EQ(status.reason, "Expired");
  EXPECT_EQ(status.message, "too old");
  EXPECT_EQ(status.retry_after, std::chrono::seconds(3));
  EXPECT_EQ(decode_status(503, sample_bytes("Node.list")).code, 503) << "which is no Status";
}

TEST(Protobuf, OfAZeroTimeThereIsNone) {
  const auto created = [](std::string_view time) {
    return decode_watch_event<Node>(node_event(field(1, field(8, time))))
        ->object.meta.creation_time;
  };
  const auto seconds = [](std::uint64_t value) { return cat(varint(1U << 3U), varint(value)); };
  EXPECT_EQ(created(""), std::nullopt);
  EXPECT_EQ(created(seconds(0)), base::Time{});
  EXPECT_EQ(created(seconds(1'767'323'045)), base::parse_rfc3339("2026-01-02T03:04:05Z"));
  EXPECT_EQ(created(seconds(std::uint64_t{1} << 62U)), std::nullopt) << "which no calendar has";
  // What no time here can be is what it is in JSON.
  EXPECT_EQ(created(seconds(10'000'000'000)), base::parse_rfc3339("2286-11-20T17:46:40Z"));
  EXPECT_EQ(created(seconds(9'214'646'399)), base::parse_rfc3339("2261-12-31T23:59:59Z"));
  EXPECT_EQ(created(seconds(9'214'646'400)), base::parse_rfc3339("2262-01-01T00:00:00Z"));
  EXPECT_EQ(created(seconds(static_cast<std::uint64_t>(-62'135'596'799))),
            base::parse_rfc3339("0001-01-01T00:00:01Z"));
  EXPECT_EQ(created(seconds(static_cast<std::uint64_t>(-62'135'596'800))), std::nullopt);
}

TEST(ProtobufTexts, AreThoseOfSamplesH) {
  const char* program = std::getenv("UPDATE");  // NOLINT(concurrency-mt-unsafe): nobody sets any
  if (program == nullptr) {
    std::istringstream lines(source_text(kSamples));
    std::size_t count = 0;
    for (std::string name, digits; lines >> name >> digits; ++count) {
      EXPECT_TRUE(texts().contains(name)) << name;
    }
    EXPECT_EQ(count, texts().size());
    return;
  }
  const std::filesystem::path to = source_tree() / kSamples;
  const std::string in = to.string() + ".in", out = to.string() + ".out";
  std::ofstream lines(in);
  for (const auto& [name, text] : texts()) lines << text << '\n';
  lines.close();
  const std::string command = cat(program, " encode 0 <", in, " >", out);
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe): by hand
  std::ifstream encoded(out);
  std::ofstream file(to);
  std::string digits;
  for (const auto& [name, text] : texts()) {
    ASSERT_TRUE(std::getline(encoded, digits));
    file << name << ' ' << digits << '\n';
  }
  std::filesystem::remove(in);
  std::filesystem::remove(out);
}

}  // namespace
}  // namespace cdom::api
