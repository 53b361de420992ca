#include "compute_domain/kube/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/base/text.h"
#include "kube/fake_server.h"

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;
using api::ConfigMap;
using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;

struct ClientTest : testing::Test {
  FakeServer server;
  base::ManualClock clock;
  base::Registry metrics;
  Client client{server, clock, "controller", &metrics};

  http::Request last() const { return server.requests().back(); }
};

TEST_F(ClientTest, GetsAnObjectByItsPath) {
  server.script(ok(config_map_json("a", "x", 7)));
  const auto got = client.get<ConfigMap>({"ns", "a"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->data.at("value"), "x");
  EXPECT_EQ(got->meta.resource_version, "7");
  EXPECT_EQ(last().method + " " + last().target, "GET /api/v1/namespaces/ns/configmaps/a");
  EXPECT_EQ(last().headers.at("Accept"), "application/json");
}

TEST_F(ClientTest, ListsAPageWithSelectorsEncoded) {
  const auto page = client.list<ConfigMap>({{"", "app in (a,b)", "metadata.name=x"}, 2, "1.2"});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(last().target,
            "/api/v1/configmaps?labelSelector=app%20in%20%28a%2Cb%29"
            "&fieldSelector=metadata.name%3Dx&limit=2&continue=1.2");
}

TEST_F(ClientTest, ListsEveryPage) {
  for (int i = 0; i < 1203; ++i) server.put(base::cat("c", i), "x");
  const auto all = client.list_all<ConfigMap>();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), 1203U);
  EXPECT_EQ(server.targets("limit=500").size(), 3U);
}

http::Response too_long() {
  http::Response answer = ok("");
  answer.is_too_long = true;
  return answer;
}

// Tenants decide how long their objects are, and how many there are.
TEST_F(ClientTest, AsksForHalfAsManyWhereAPageIsTooLongAndForMoreAgainWhereItIsShort) {
  for (int i = 100; i < 700; ++i) server.put(base::cat("c", i), "x");
  for (int i = 0; i < 5; ++i) server.script(too_long());
  const auto all = client.list_all<ConfigMap>();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), 600U);
  std::vector<std::string> limits;
  for (const std::string& target : server.targets()) limits.push_back(parameter(target, "limit"));
  EXPECT_THAT(limits,
              ElementsAre("500", "250", "125", "62", "31", "15", "30", "60", "120", "240", "480"));
  EXPECT_EQ(server.requests().back().most_bytes, PageCursor::kMostBytes);
}

TEST(PageCursor, AsksForNoMoreWhilePagesAreLong) {
  PageCursor cursor(500);
  ASSERT_TRUE(cursor.halve());
  cursor.took(250, PageCursor::kMostBytes / 2);
  EXPECT_EQ(cursor.limit(), 250U);
  cursor.took(250, PageCursor::kMostBytes / 8);
  EXPECT_EQ(cursor.limit(), 500U);
  EXPECT_EQ(cursor.position(), 500U);
}

TEST_F(ClientTest, NamesTheObjectOfAListThatIsTooLongAlone) {
  server.script(
      ok(base::cat(R"({"kind":"ConfigMapList","apiVersion":"v1",
      "metadata":{"resourceVersion":"9","continue":"9.2"},"items":[)",
                   config_map_json("a", "x", 7), ",", config_map_json("b", "x", 7), "]}")));
  for (int i = 0; i < 9; ++i) server.script(too_long());
  const auto all = client.list_all<ConfigMap>({.ns = "ns"});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().kind, ErrorKind::Invalid);
  EXPECT_EQ(all.error().message,
            "list configmaps of namespace ns: object 3 of the list is longer than 16 MiB");
}

TEST_F(ClientTest, RefusesAnObjectThatIsTooLong) {
  server.script(too_long());
  EXPECT_EQ(client.get<ConfigMap>({"ns", "a"}).error().message,
            "get configmaps: the answer is longer than 16 MiB");
}

TEST_F(ClientTest, KeepsOfEachObjectWhatIsWanted) {
  for (const char* name : {"a", "b", "c"}) server.put(name, name);
  const auto kept = client.list_kept<ConfigMap>({}, [](const ConfigMap& map) {
    return map.meta.name == "b" ? std::nullopt : std::optional(map.data.at("value"));
  });
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_THAT(*kept, ElementsAre("a", "c"));
}

// As client-go's pager.
TEST_F(ClientTest, ListsInOnePieceWhatTakesLongerThanTheServerKeepsItsHistory) {
  for (int i = 0; i < 3; ++i) server.put(base::cat("c", i), "x");
  server.script(ok(R"({"kind":"ConfigMapList","apiVersion":"v1",
      "metadata":{"resourceVersion":"9","continue":"9.1"},"items":[]})"));
  server.script_status(410, "Expired");
  const auto all = client.list_all<ConfigMap>();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), 3U);
  EXPECT_THAT(server.targets(), ElementsAre("GET /api/v1/configmaps?limit=500",
                                            "GET /api/v1/configmaps?limit=500&continue=9.1",
                                            "GET /api/v1/configmaps"));
}

TEST_F(ClientTest, ProvesNothingByAListOfWhichAnObjectCannotBeRead) {
  server.put("a", "x");
  server.put("odd", kOddValue);
  const auto all = client.list_all<ConfigMap>();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().kind, ErrorKind::Invalid);
  EXPECT_EQ(all.error().message, "ConfigMap ns/odd: data.odd: must be a string, is number");

  std::vector<api::Unreadable> odd;
  const auto readable = client.list_all<ConfigMap>({}, &odd);
  ASSERT_TRUE(readable) << readable.error().message;
  EXPECT_EQ(readable->size(), 1U);
  ASSERT_EQ(odd.size(), 1U);
  EXPECT_EQ(odd[0].uid, "uid-odd");
}

TEST_F(ClientTest, AsksForNothingWhoseNameCannotBeOne) {
  for (const char* name : {"", ".", "..", "a/b", "a%2Fb"}) {
    EXPECT_EQ(client.get<ConfigMap>({"ns", name}).error().kind, ErrorKind::Invalid) << name;
    EXPECT_EQ(client.get<ConfigMap>({name, "a"}).error().kind, ErrorKind::Invalid) << name;
    EXPECT_FALSE(client.patch<ConfigMap>({"ns", name}, "", "{}"));
    EXPECT_FALSE(client.remove<ConfigMap>({"ns", name}, {}));
  }
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(ClientTest, ListsTheMetadataOfEveryObjectAndNothingElse) {
  const auto page = [](const std::string& next, const std::string& name) {
    return ok(base::cat(R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",
        "metadata":{"resourceVersion":"9","continue":")",
                        next, R"("},"items":[{"kind":"PartialObjectMetadata",
        "apiVersion":"meta.k8s.io/v1","metadata":{"name":")",
                        name, R"(","namespace":"ns","uid":"u","labels":{"job":"a"},
        "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"a","uid":"o",
        "controller":true,"blockOwnerDeletion":true}]}}]})"));
  };
  server.script(page("1.1", "a-0"));
  server.script(page("", "a-1"));
  const auto all = client.list_metadata<api::Pod>({"ns", "job=a", ""});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->front().name, "a-0");
  EXPECT_EQ(all->back().label("job"), "a");
  EXPECT_THAT(
      all->back().owners,
      ElementsAre(api::OwnerReference{
          .api_version = "batch/v1", .kind = "Job", .name = "a", .uid = "o", .controller = true}));
  EXPECT_EQ(last().headers.at("Accept"),
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  EXPECT_THAT(
      server.targets(),
      ElementsAre("GET /api/v1/namespaces/ns/pods?labelSelector=job%3Da&limit=500",
                  "GET /api/v1/namespaces/ns/pods?labelSelector=job%3Da&limit=500&continue=1.1"));
}

TEST_F(ClientTest, AnEmptyListOfMetadataMayBeNull) {
  server.script(ok(R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",
      "metadata":{"resourceVersion":"9"},"items":null})"));
  const auto all = client.list_metadata<api::Pod>();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->empty());
}

TEST_F(ClientTest, AsksForTheVersionOfACollectionByTheMetadataOfOneObject) {
  server.put("a", "1");
  const auto version = client.collection_version(api::kind_of<ConfigMap>(), "");
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_EQ(*version, "101");
  EXPECT_THAT(server.targets(), ElementsAre("GET /api/v1/configmaps?limit=1"));
  EXPECT_TRUE(is_of_metadata(last()));
}

TEST_F(ClientTest, NamesTheWriterOfEveryWrite) {
  server.script(http::Response{201, {}, config_map_json("a", "x", 7)});
  server.script(ok(config_map_json("a", "y", 8)));
  ConfigMap map;
  map.meta.ns = "ns";
  map.meta.name = "a";
  ASSERT_TRUE(client.create(map));
  EXPECT_EQ(last().headers.at("Content-Type"), "application/json");
  ASSERT_TRUE(client.patch<ConfigMap>({"ns", "a"}, "status", R"({"data":{"value":"y"}})"));
  EXPECT_EQ(last().headers.at("Content-Type"), "application/merge-patch+json");
  EXPECT_THAT(
      server.targets(),
      ElementsAre("POST /api/v1/namespaces/ns/configmaps?fieldManager=controller",
                  "PATCH /api/v1/namespaces/ns/configmaps/a/status?fieldManager=controller"));
}

TEST_F(ClientTest, RemovesOnlyWhatThePreconditionNames) {
  server.script(ok(status_json(200, "", "")));
  ASSERT_TRUE(client.remove<ConfigMap>({"ns", "a"}, {.uid = "u1", .resource_version = ""}));
  EXPECT_EQ(last().method, "DELETE");
  EXPECT_THAT(last().body, HasSubstr(R"("uid":"u1")"));
}

TEST_F(ClientTest, TellsInWhichVersionAFinalizerHoldsWhatItRemoves) {
  server.script(ok(config_map_json("a", "x", 7)));
  const auto held = client.begin_removal<ConfigMap>({"ns", "a"}, {.uid = "u1"});
  ASSERT_TRUE(held && *held);
  EXPECT_EQ((*held)->meta.resource_version, "7");
  EXPECT_EQ(last().method, "DELETE");
  EXPECT_THAT(last().body, HasSubstr(R"("uid":"u1")"));
  server.script(ok(status_json(200, "", "")));
  const auto gone = client.begin_removal<ConfigMap>({"ns", "a"}, {.uid = "u1"});
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_FALSE(*gone);
}

TEST_F(ClientTest, UpdatesALeaseAsAWhole) {
  server.script_status(409, "Conflict");
  api::Lease lease;
  lease.meta.ns = "ns";
  lease.meta.name = "leader";
  lease.meta.resource_version = "3";
  const auto updated = client.update(lease);
  ASSERT_FALSE(updated);
  EXPECT_EQ(updated.error().kind, ErrorKind::Conflict);
  EXPECT_THAT(server.targets("PUT"),
              ElementsAre("PUT /apis/coordination.k8s.io/v1/namespaces/ns/leases/leader"
                          "?fieldManager=controller"));
  EXPECT_THAT(last().body, HasSubstr(R"("resourceVersion":"3")"));
}

const api::Kind& widgets() {
  static const api::Kind kind{"Widget", "widgets", "example.com", true, {"v2"}};
  return kind;
}

constexpr char kWidget[] =
    R"({"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"w","namespace":"ns",)"
    R"("resourceVersion":"3"},"spec":{"size":1}})";

TEST_F(ClientTest, ReadsAndWritesWholeObjectsOfAKindThatItIsGiven) {
  const auto widget = api::dynamic_object(widgets(), kWidget);
  ASSERT_TRUE(widget);
  server.script(http::Response{201, {}, kWidget});
  const auto created = client.create(*widget, widgets());
  ASSERT_TRUE(created);
  EXPECT_EQ(created->json, kWidget);
  EXPECT_EQ(last().body, kWidget);
  for (int i = 0; i < 3; ++i) server.script(ok(kWidget));
  ASSERT_TRUE(client.get<api::DynamicObject>({"ns", "w"}, widgets()));
  ASSERT_TRUE(client.patch<api::DynamicObject>({"ns", "w"}, "", "{}", {}, widgets()));
  ASSERT_TRUE(client.update(*widget, widgets(), "status"));
  EXPECT_EQ(last().body, kWidget);
  server.script(ok(status_json(200, "", "")));
  ASSERT_TRUE(client.remove<api::DynamicObject>({"ns", "w"}, {}, {}, widgets()));
  server.script(
      ok(base::cat(R"({"kind":"WidgetList","apiVersion":"v1","items":[)", kWidget, "]}")));
  const auto all = client.list_all<api::DynamicObject>({.ns = "ns"}, nullptr, widgets());
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 1U);
  const std::string path = "/apis/example.com/v2/namespaces/ns/widgets";
  EXPECT_THAT(server.targets(),
              ElementsAre("POST " + path + "?fieldManager=controller", "GET " + path + "/w",
                          "PATCH " + path + "/w?fieldManager=controller",
                          "PUT " + path + "/w/status?fieldManager=controller",
                          "DELETE " + path + "/w", "GET " + path + "?limit=500"));
}

TEST_F(ClientTest, SaysWhatBecomesOfDependentsAndContainers) {
  server.script(ok(status_json(200, "", "")));
  ASSERT_TRUE(client.remove<api::Pod>(
      {"ns", "p"}, {.uid = "u1"},
      {.propagation = api::Deletion::Propagation::Foreground, .grace_period_seconds = 0}));
  EXPECT_THAT(last().body, HasSubstr(R"("propagationPolicy":"Foreground")"));
  EXPECT_THAT(last().body, HasSubstr(R"("gracePeriodSeconds":0)"));
}

TEST_F(ClientTest, PostsToASubresourceAndReadsWhatIsNotAnObject) {
  server.script(http::Response{201, {}, "{}"});
  ASSERT_TRUE(client.create_subresource(api::kind_of<api::Pod>(), {"ns", "p"}, "binding", "{}"));
  server.script(ok(R"({"kind":"APIResourceList"})"));
  const auto resources = client.read("/apis/batch/v1");
  ASSERT_TRUE(resources);
  EXPECT_EQ(*resources, R"({"kind":"APIResourceList"})");
  EXPECT_THAT(server.targets(),
              ElementsAre("POST /api/v1/namespaces/ns/pods/p/binding?fieldManager=controller",
                          "GET /apis/batch/v1"));
}

TEST_F(ClientTest, SpeaksNoVersionThatAKindDoesNotHave) {
  server.script(ok(R"({"kind":"APIGroup","versions":[{"version":"v1beta2"}]})"));
  ASSERT_TRUE(client.discover());
  EXPECT_EQ(client.version_of(api::kind_of<api::ResourceClaim>()), "v1beta2");
  EXPECT_EQ(client.version_of({"ResourceClaim", "resourceclaims", "resource.k8s.io", true, {"v1"}}),
            "v1");
}

TEST_F(ClientTest, TellsTheKindOfEveryFailure) {
  const std::vector<std::tuple<int, const char*, ErrorKind>> answers = {
      {404, "NotFound", ErrorKind::NotFound},
      {409, "AlreadyExists", ErrorKind::AlreadyExists},
      {409, "Conflict", ErrorKind::Conflict},
      {410, "Expired", ErrorKind::Expired},
      {422, "Invalid", ErrorKind::Invalid},
      {403, "Forbidden", ErrorKind::Forbidden},
      {500, "InternalError", ErrorKind::Unavailable},
  };
  for (const auto& [code, reason, kind] : answers) {
    server.script_status(code, reason);
    const auto got = client.get<ConfigMap>({"ns", "a"});
    ASSERT_FALSE(got) << code;
    EXPECT_EQ(got.error().kind, kind) << code << " " << reason;
    EXPECT_THAT(got.error().message, HasSubstr("get configmaps: "));
  }
}

// What an API server says of a path that it does not know, or not yet, after it has started or a
// definition was applied. Nobody may take that for the end of the object.
TEST_F(ClientTest, TakesAnObjectForGoneOnlyWhereTheServerNamesIt) {
  constexpr char kUnknownPath[] =
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server)"
      R"( could not find the requested resource","reason":"NotFound","details":{},"code":404})";
  for (const char* body : {kUnknownPath, "404 page not found\n"}) {
    const http::Response unknown{404, {}, body};
    server.script(unknown);
    const auto got = client.get<ConfigMap>({"ns", "a"});
    EXPECT_EQ(got.error().kind, ErrorKind::Unavailable) << body;
    EXPECT_TRUE(got.error().is_answer);
    EXPECT_THAT(got.error().message,
                testing::EndsWith("; the API server does not serve configmaps now"));
    server.script(unknown);
    EXPECT_EQ(client.remove<ConfigMap>({"ns", "a"}, {}).error().kind, ErrorKind::Unavailable);
    server.script(unknown);
    EXPECT_EQ(client.patch<ConfigMap>({"ns", "a"}, "", "{}").error().kind, ErrorKind::Unavailable);
    server.script(unknown);
    EXPECT_EQ(client.list_all<ConfigMap>({}).error().kind, ErrorKind::NotFound) << "no object";
  }
}

TEST_F(ClientTest, TakesTheWaitFromTheHeaderWhenTheBodyIsPlainText) {
  server.script(
      http::Response{429, {{"retry-after", "7"}}, "Too many requests, please try again later.\n"});
  const auto got = client.get<ConfigMap>({"ns", "a"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(got.error().retry_after, base::Duration(7s));
}

TEST_F(ClientTest, OpensAWatchWithBookmarks) {
  const auto stream = client.open_watch<ConfigMap>({{"ns", "", ""}, "42", 90500ms});
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_EQ(last().target,
            "/api/v1/namespaces/ns/configmaps?watch=true&allowWatchBookmarks=true"
            "&timeoutSeconds=91&resourceVersion=42");
}

TEST_F(ClientTest, AWatchThatIsRefusedIsAnError) {
  server.script_status(410, "Expired");
  const auto stream = client.open_watch<ConfigMap>({{}, "1"});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().kind, ErrorKind::Expired);
}

TEST_F(ClientTest, SettlesOnTheFirstVersionThatIsServed) {
  server.script(ok(
      R"({"kind":"APIGroup","apiVersion":"v1","name":"resource.k8s.io","versions":[
          {"groupVersion":"resource.k8s.io/v1beta1","version":"v1beta1"},
          {"groupVersion":"resource.k8s.io/v1beta2","version":"v1beta2"}],
          "preferredVersion":{"groupVersion":"resource.k8s.io/v1beta1","version":"v1beta1"}})"));
  const api::Kind& claims = api::kind_of<api::ResourceClaim>();
  EXPECT_EQ(client.version_of(claims), "v1");
  const auto done = client.discover();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(client.version_of(claims), "v1beta2");
  EXPECT_THAT(server.targets(), ElementsAre("GET /apis/resource.k8s.io"));
}

// As a page for logging in, which has status 200, or a web server's answer to everything.
TEST_F(ClientTest, AsksWhetherWhatAnswersIsAnApiServer) {
  for (const char* page : {"<html>Please log in</html>", "{}", "[]"}) {
    server.script(ok(page));
    const auto done = client.discover();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::Invalid);
    EXPECT_THAT(done.error().message, testing::StartsWith("get /apis/resource.k8s.io: "));
    EXPECT_THAT(done.error().message, testing::EndsWith(": is this an API server?"));
  }
  server.script(http::Response{404, {}, "not found"});
  const auto done = client.discover();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, testing::EndsWith("v1beta1: enable one of them; or is this "
                                                      "another server than an API server?"));
}

TEST_F(ClientTest, SaysWhichGroupIsNotServed) {
  const auto done = client.discover();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::NotFound);
  EXPECT_THAT(done.error().message, HasSubstr("resource.k8s.io in none of the versions v1, "));
}

TEST_F(ClientTest, KnowsAMissingKindFromAFailure) {
  const auto there = client.serves(api::kind_of<ConfigMap>());
  ASSERT_TRUE(there);
  EXPECT_TRUE(*there);
  const auto missing = client.serves(api::kind_of<api::ComputeDomain>());
  ASSERT_TRUE(missing);
  EXPECT_FALSE(*missing);
  server.script_status(403, "Forbidden");
  const auto unknown = client.serves(api::kind_of<ConfigMap>());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::Forbidden);
}

TEST_F(ClientTest, CountsRequestsByMethodResourceAndCode) {
  server.script(ok(config_map_json("a", "x", 7)));
  server.script(std::nullopt);
  (void)client.get<ConfigMap>({"ns", "a"});
  (void)client.get<ConfigMap>({"ns", "a"});
  const std::string text = metrics.render();
  EXPECT_THAT(
      text,
      HasSubstr(R"(rest_client_requests_total{code="200",method="GET",resource="configmaps"} 1)"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(rest_client_requests_total{code="Unavailable",method="GET",resource="configmaps"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(rest_client_request_duration_seconds_count{verb="GET"} 2)"));
}

}  // namespace
}  // namespace cdom::kube
