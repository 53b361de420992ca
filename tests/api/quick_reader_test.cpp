// The two readers of JSON: what the quick one takes, the thorough one takes too, and both give the
// same.
#include "api/json/quick_reader.h"

#include <gmock/gmock.h>

#include "api/reading.h"
#include "api/samples.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::api {
namespace {

using base::cat;
using testing::ElementsAre;

// Objects as they may come, odd ones too. Each is a ResourceClaim or nearly one.
std::vector<std::string> odd_claims() {
  const auto claim = [](std::string_view parameters) {
    return cat(
        R"({"metadata":{"name":"n"},"spec":{"devices":{"config":[{"opaque":{"driver":"d","parameters":)",
        parameters, "}}]}}}");
  };
  const auto labels = [](std::string_view value) {
    return cat(R"({"metadata":{"name":"n","labels":{"a":)", value, "}}}");
  };
  std::vector<std::string> texts = {
      "",
      "7",
      "null",
      "[]",
      "{}",
      " {} ",
      "{}{}",
      "{} x",
      "\xEF\xBB\xBF{}",
      R"({"a":1,})",
      R"({"a":tru})",
      R"({"metadata":{"name":"a","name":"b"}})",
      R"({"metadata":{"labels":{"a":"1","a":"2","b":"3"}}})",
      R"({"metadata":{"labels":{"a":"1"},"labels":{"b":"2"}}})",
      R"({"metadata":{"name":"n"},"metadata":null})",
      R"({"metadata":{"generation":-0}})",
      R"({"metadata":{"generation":9223372036854775807}})",
      R"({"metadata":{"generation":9223372036854775808}})",
      R"({"metadata":{"generation":18446744073709551616}})",
      R"({"metadata":{"generation":1.0}})",
      R"({"metadata":{"generation":1e400}})",
      R"({"metadata":{"generation":01}})",
      R"({"metadata":{"name":"\ud83d\ude00\u0000\/"}})",
      R"({"metadata":{"name":"\ud800"}})",
      R"({"metadata":{"name":"\ud800\u0041"}})",
      R"({"metadata":{"name":"\udc00"}})",
      "{\"metadata\":{\"name\":\"\xFF\"}}",
      "{\"metadata\":{\"name\":\"\x01\"}}",
      R"({"metadata":{"name":7}})",
      R"({"metadata":[]})",
      R"({"kind":"Pod"})",
      R"({"kind":7})",
      R"({"apiVersion":"other/v9"})",
      R"({"apiVersion":"resource.k8s.io/v1"})",
      R"({"apiVersion":"resource.k8s.io/v1beta1","spec":{"devices":{"requests":[{"name":"r","deviceClassName":"c"}]}}})",
      R"({"spec":{"devices":{"config":{"opaque":{"parameters":{"a":1}}}}}})",
      R"({"spec":{"devices":{"config":[{"opaque":[{"parameters":{"a":1}}]}]}}})",
      R"({"spec":{"devices":{"config":[{"opaque":{"parameters":1,"parameters":{"b" : 2}}}]}}})",
      R"({"spec":{"devices":{"config":[{"opaque":{"parameters":{"a":1}}},{"opaque":{"parameters":null}},{"opaque":{"parameters":[ 3 ]}}]}}})",
      R"({"status":{"allocation":{"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}}})"};
  for (const char* parameters :
       {R"({ "a" : [ 1 , 2.50, "x\u0041" ] , "a":1e2 })", "7", "-0.0", "\"text\"", "true", "null",
        " null ", "[ ]", R"({"deep":[[[[{}]]]]})", "{", "}", "]"}) {
    texts.push_back(claim(parameters));
  }
  for (const std::size_t depth : {900U, 998U, 999U, 1000U, 1001U, 20'000U}) {
    const std::string deep = std::string(depth, '[') + std::string(depth, ']');
    texts.insert(texts.end(), {labels(deep), claim(deep)});
  }
  texts.push_back(labels(cat('"', std::string(3'000'000, 'x'), '"')));
  return texts;
}

// The text, and cut off or changed where it might matter, and with more behind it.
std::vector<std::string> variants_of(const std::string& text) {
  std::vector<std::string> variants{text};
  if (text.size() > 4'000) return variants;
  for (const char* more : {" 7", "{}", "}", ",", " \n", "x"}) variants.push_back(text + more);
  for (std::size_t i = 0; i < text.size(); ++i) {
    variants.push_back(text.substr(0, i));
    for (const char c : {'"', '}', ',', '\\', '\xC3'}) {
      variants.push_back(text);
      variants.back()[i] = c;
    }
  }
  return variants;
}

template <class T>
void expect_same(const base::Result<T>& quick, const base::Result<T>& thorough,
                 const std::string& text) {
  ASSERT_EQ(quick.has_value(), thorough.has_value()) << text;
  if (!quick) {
    EXPECT_EQ(quick.error().message, thorough.error().message) << text;
    return;
  }
  if constexpr (requires { quick->items; }) {
    EXPECT_EQ(quick->items, thorough->items) << text;
    EXPECT_EQ(quick->unreadable, thorough->unreadable) << text;
    EXPECT_EQ(quick->resource_version, thorough->resource_version) << text;
    EXPECT_EQ(quick->continue_token, thorough->continue_token) << text;
  } else if constexpr (requires { quick->object; }) {
    EXPECT_EQ(quick->type, thorough->type) << text;
    EXPECT_EQ(quick->object, thorough->object) << text;
    EXPECT_EQ(quick->unreadable, thorough->unreadable) << text;
  } else {
    EXPECT_EQ(*quick, *thorough) << text;
  }
}

template <class T>
void expect_both_ways_same(const std::string& text) {
  using enum Reading;
  expect_same(decode<T>(text, Quick), decode<T>(text, Thorough), text);
  expect_same(decode_page<T>(text, Quick), decode_page<T>(text, Thorough), text);
  expect_same(decode_watch_event<T>(text, Quick), decode_watch_event<T>(text, Thorough), text);
}

TEST(QuickReader, GivesOfOddObjectsWhatTheThoroughReaderGives) {
  for (const std::string& odd : odd_claims()) {
    for (const std::string& text :
         {odd, cat(R"({"type":"ADDED","object":)", odd, "}"),
          cat(R"({"kind":"ResourceClaimList","items":[{"metadata":{"name":"first"}},)", odd,
              ",{}]}")}) {
      expect_both_ways_same<ResourceClaim>(text);
    }
  }
}

TEST(QuickReader, GivesOfBrokenTextsWhatTheThoroughReaderGives) {
  const std::string claim = encode(sample<ResourceClaim>(), "v1");
  for (
      const std::string& text :
      {cat(R"({"type":"ADDED","object":{"metadata":{"name":"n","labels":{"a":"b"}},"status":null}})"),
       cat(R"({"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[{"spec":{"devices":{"config":[{"opaque":{"parameters":{"a":[1,true]}}}]}}},{}]})")}) {
    for (const std::string& variant : variants_of(text)) {
      expect_both_ways_same<ResourceClaim>(variant);
    }
  }
  for (const std::string& variant : variants_of(claim)) {
    expect_same(decode<ResourceClaim>(variant, Reading::Quick),
                decode<ResourceClaim>(variant, Reading::Thorough), variant);
  }
}

TEST(QuickReader, GivesOfOddListsWhatTheThoroughReaderGives) {
  const auto list = [](std::string_view rest) {
    return cat(R"({"kind":"NodeList","apiVersion":"v1",)", rest, "}");
  };
  const std::string items = R"("items":[{"metadata":{"name":"n"}}])";
  for (const std::string& text :
       {list(items), list(cat(items, ",", items)), list(cat(items, R"(,"items":{})")),
        list(cat(items, R"(,"items":"x")")), list(cat(items, R"(,"items":null)")),
        list(R"("items":null)"), list(R"("items":[])"), list(R"("items":7)"),
        list(R"("metadata":7,"items":[7,null,"x",[]])"), list(cat(R"("kind":"PodList",)", items)),
        list(cat(R"("apiVersion":"v9",)", items)),
        list(cat(R"("metadata":{"resourceVersion":"7","continue":"c"},)", items))}) {
    expect_both_ways_same<Node>(text);
  }
}

TEST(QuickReader, TakesWhatAnApiServerSendsOfEveryDay) {
  const auto lease = QuickReader::of_thread();
  ASSERT_TRUE(lease);
  const WantedIndex everything(Wanted{.everything = true});
  for (const std::string& text :
       {encode(sample<Node>(), "v1"), encode(sample<ResourceClaim>(), "v1"),
        encode(sample<ComputeDomainNode>(), "v1beta1"),
        std::string(
            R"({"a":"\u00e9\n","b":[1,-2,2.5,null,true],"c":{"d":[{"e":[{"f\t":"g"}]}]}})")}) {
    EXPECT_TRUE(lease->read(text, everything)) << text;
    const auto cut = lease->cut(cat(R"({"items":[)", text, ",", text, "]}"));
    ASSERT_TRUE(cut && cut->items.size() == 2) << text;
    EXPECT_TRUE(lease->item(1, everything)) << text;
    EXPECT_TRUE(lease->read(text, WantedIndex({}))) << text;
  }
}

TEST(QuickReader, KeepsTheTextOfWhatIsWantedAsText) {
  const Wanted wanted{
      .members = {{"a", {.members = {{"b", {.as_text = true}}}}}, {"c", {.everything = true}}}};
  const auto lease = QuickReader::of_thread();
  ASSERT_TRUE(lease);
  const auto document =
      lease->read(R"({"a":[{"b": { "x" : 1.50 }},{"b":null},{"b" :"t\u0041"}],"c":{"b":1}})",
                  WantedIndex(wanted));
  ASSERT_TRUE(document);
  std::vector<std::string> texts;
  document->member("a")->each_item([&](const JsonView& item) {
    const auto value = item.member("b");
    if (value->type() != JsonView::Type::Null) texts.emplace_back(value->raw_text());
    return true;
  });
  EXPECT_THAT(texts, ElementsAre(R"({ "x" : 1.50 })", R"("t\u0041")"));
}

TEST(QuickReader, IsNotLentTwice) {
  const auto first = QuickReader::of_thread();
  EXPECT_TRUE(first);
  EXPECT_FALSE(QuickReader::of_thread());
}

}  // namespace
}  // namespace cdom::api
