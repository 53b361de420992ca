// DynamicObject: what the table has no type for is read, kept and written back with all that it
// has.
#include "compute_domain/api/dynamic_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/api/codec.h"

namespace cdom::api {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr char kWidget[] =
    R"({"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"w","namespace":"ns",)"
    R"("uid":"u","resourceVersion":"7","labels":{"a":"b"},"managedFields":[{"manager":"m"}]},)"
    R"("spec":{"size":1.50,"parts":[null]}})";

TEST(DynamicObject, HasItsMetadataAndEveryLetterOfItsDocument) {
  const auto widget = decode<DynamicObject>(kWidget);
  ASSERT_TRUE(widget) << widget.error().message;
  EXPECT_EQ(to_string(name_of(widget->meta)), "ns/w");
  EXPECT_EQ(widget->meta.uid, "u");
  EXPECT_EQ(widget->meta.resource_version, "7");
  EXPECT_EQ(widget->meta.label("a"), "b");
  EXPECT_EQ(widget->json, kWidget);
  EXPECT_EQ(encode(*widget, "v2"), kWidget);
}

TEST(DynamicObject, GetsTheTypeThatAListSaysOnceForAllItsItems) {
  const auto page = decode_page<DynamicObject>(
      R"({"kind":"WidgetList","apiVersion":"example.com/v2",)"
      R"("metadata":{"resourceVersion":"9","continue":"next"},)"
      R"("items":[{"metadata":{"name":"a"},"spec":{}},{},{"kind":"Other","metadata":{}}]})");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->resource_version, "9");
  EXPECT_EQ(page->continue_token, "next");
  ASSERT_THAT(page->items, SizeIs(3));
  EXPECT_EQ(page->items[0].json,
            R"({"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"a"},"spec":{}})");
  EXPECT_EQ(page->items[1].json, R"({"apiVersion":"example.com/v2","kind":"Widget"})");
  EXPECT_EQ(page->items[2].json, R"({"apiVersion":"example.com/v2","kind":"Other","metadata":{}})");
}

TEST(DynamicObject, ComesInWatchEventsAsItIs) {
  const auto event = decode_watch_event<DynamicObject>(
      std::string(R"({"type":"MODIFIED","object":)") + kWidget + "}");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, WatchType::Modified);
  EXPECT_EQ(event->object.json, kWidget);
  const auto bookmark = decode_watch_event<DynamicObject>(
      R"({"type":"BOOKMARK","object":{"kind":"Widget","metadata":{"resourceVersion":"12"}}})");
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->object.meta.resource_version, "12");
}

TEST(DynamicObject, WhoseMetadataCannotBeReadHarmsNoOtherOfItsPage) {
  const auto page = decode_page<DynamicObject>(
      R"({"kind":"WidgetList","apiVersion":"v1","items":[7,{"metadata":{"name":"a"}},)"
      R"({"metadata":{"name":"b","uid":"u","labels":[]}}]})");
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_THAT(page->items, SizeIs(1));
  EXPECT_EQ(page->items[0].meta.name, "a");
  ASSERT_THAT(page->unreadable, SizeIs(2));
  EXPECT_EQ(page->unreadable[1].name.name, "b");
  EXPECT_EQ(page->unreadable[1].uid, "u");
  EXPECT_THAT(page->unreadable[1].problem, HasSubstr("Widget b: metadata.labels: must be"));
}

TEST(DynamicObject, IsMadeOfAKindAndADocumentWithoutOne) {
  const Kind widgets{"Widget", "widgets", "example.com", true, {"v2", "v1"}};
  const auto made = dynamic_object(widgets, R"({"metadata":{"name":"w","namespace":"ns"}})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(to_string(name_of(made->meta)), "ns/w");
  EXPECT_EQ(made->json, R"({"apiVersion":"example.com/v2","kind":"Widget",)"
                        R"("metadata":{"name":"w","namespace":"ns"}})");
  EXPECT_FALSE(dynamic_object(widgets, "[]"));
  EXPECT_FALSE(dynamic_object(widgets, "{"));
}

}  // namespace
}  // namespace cdom::api
