// Damaged input: whatever comes, the answer is an object or an error.
#include <gtest/gtest.h>

#include "api/samples.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

constexpr int kMutations = 2'000;
constexpr std::uint64_t kSeed = 20260102;

// Some bytes exchanged, cut out, repeated, or replaced by what JSON and YAML are made of.
std::string mutated(std::string text, base::Random& random) {
  constexpr std::string_view kPieces[] = {"null", "{}",  "[]", "\"", "-1", "1e999", "{",
                                          "}",    "[",   "]",  ",",  ":",  "\xff",  "\\u0000",
                                          "true", "\n-", "&a", "*a", "? ", "<<: ",  "!!binary "};
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = 1 + random.below(std::min<std::size_t>(text.size() - at, 40));
    switch (random.below(4)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(random.below(text.size()), text.substr(at, length));
        break;
      default:
        text.replace(at, length, kPieces[random.below(std::size(kPieces))]);
        break;
    }
  }
  return text;
}

template <class T>
class Mutation : public testing::Test {};
using Kinds = testing::Types<ComputeDomain, ComputeDomainClique, ComputeDomainNode, ResourceClaim,
                             ResourceClaimTemplate, ResourceSlice, DeviceClass, Node, Pod,
                             ConfigMap, Event, Job, Lease>;
TYPED_TEST_SUITE(Mutation, Kinds);

TYPED_TEST(Mutation, GivesAnErrorOrAnObjectThatCanBeWrittenAndReadAgain) {
  base::Random random(kSeed);
  const auto version = kind_of<TypeParam>().versions.back();
  const std::string original = encode(sample<TypeParam>(), version);
  int decoded = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutated(original, random);
    const auto object = decode<TypeParam>(text);
    if (!object) {
      ASSERT_EQ(object.error().kind, base::ErrorKind::Invalid) << text;
      ASSERT_FALSE(object.error().message.empty()) << text;
      continue;
    }
    ++decoded;
    // Times lose their fractions and versions become text the first time, and nothing after it.
    const auto once = decode<TypeParam>(encode(*object, version));
    ASSERT_TRUE(once) << text << ": " << once.error().message;
    const auto twice = decode<TypeParam>(encode(*once, version));
    ASSERT_TRUE(twice) << text << ": " << twice.error().message;
    ASSERT_EQ(*once, *twice) << text;
  }
  EXPECT_GT(decoded, 0);
  EXPECT_LT(decoded, kMutations);
}

template <class Decode>
void try_mutations(const std::string& original, Decode decode_text) {
  base::Random random(kSeed);
  int errors = 0;
  for (int i = 0; i < kMutations; ++i) {
    const auto result = decode_text(mutated(original, random));
    if (!result) ++errors;
  }
  EXPECT_GT(errors, 0);
}

TEST(MutatedText, OfAListGivesAPageOrAnError) {
  const std::string item = encode(sample<ResourceClaim>(), "v1beta1");
  try_mutations(base::cat(R"({"kind":"ResourceClaimList","metadata":{"resourceVersion":"1"},)",
                          R"("items":[)", item, ",", item, "]}"),
                [](const std::string& text) { return decode_page<ResourceClaim>(text); });
}

TEST(MutatedText, OfAWatchGivesAnEventOrAnError) {
  try_mutations(
      base::cat(R"({"type":"ADDED","object":)", encode(sample<ResourceSlice>(), "v1beta1"), "}"),
      [](const std::string& text) { return decode_watch_event<ResourceSlice>(text); });
}

TEST(MutatedText, OfYamlGivesObjectsOrAnError) {
  constexpr char kYaml[] = R"(apiVersion: v1
kind: Pod
metadata: &m {name: a, labels: {x: "1", y: 010}}
list:
- <<: *m
- [1, 2.5, 0x1F, ~, yes]
text: |
  two
  lines
---
{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node"}]}
)";
  try_mutations(kYaml, [](const std::string& text) { return objects_in_yaml(text, "f"); });
}

TEST(MutatedText, OfANodeListGivesAListOrAnError) {
  const NodeList list{"g",  "a.1", 2,
                      true, 3,     {{"n1", 0, "10.0.0.1", "i", "b", 1, true, {{"c", 0}}}}};
  try_mutations(encode_node_list(list), [](const std::string& text) {
    return decode_node_list({{}, {{kNodeListKey, text}}});
  });
}

TEST(MutatedText, OfAChannelConfigGivesAConfigOrAnError) {
  try_mutations(encode_channel_config({"u-1", AllocationMode::All}),
                [](const std::string& text) { return decode_channel_config(text); });
}

TEST(MutatedText, OfAStatusAlwaysGivesAnError) {
  base::Random random(kSeed);
  constexpr char kStatus[] =
      R"({"kind":"Status","code":429,"reason":"TooManyRequests","details":{"retryAfterSeconds":1}})";
  for (int i = 0; i < kMutations; ++i) {
    const auto error = error_of(decode_status(429, mutated(kStatus, random)));
    ASSERT_FALSE(error.message.empty());
  }
}

}  // namespace
}  // namespace cdom::api
