#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Crud : public ApiServerTest {};

TEST_F(Crud, ACreatedObjectHasWhatTheServerGivesIt) {
  const Answer created = api.post(kConfigMaps, config_map("a"));
  ASSERT_EQ(created.status, 201);
  const json& metadata = created.body["metadata"];
  EXPECT_EQ(created.body["kind"], "ConfigMap");
  EXPECT_EQ(metadata["namespace"], "default");
  EXPECT_EQ(metadata["creationTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(metadata["uid"].get<std::string>().size(), 36u);
  EXPECT_EQ(api.get(std::string(kConfigMaps) + "/a").body, created.body);
}

TEST_F(Crud, EqualSeedsGiveEqualObjects) {
  ApiServer twin(clock);
  ApiClient other(twin);
  other.post("/api/v1/namespaces", {{"metadata", {{"name", "default"}}}});
  EXPECT_EQ(api.post(kConfigMaps, config_map("a")).body,
            other.post(kConfigMaps, config_map("a")).body);
}

TEST_F(Crud, AnEventIsKeptForAnHourAfterItsLastWrite) {
  constexpr char kEvents[] = "/api/v1/namespaces/default/events";
  const auto event = [](const std::string& name) {
    return json{{"metadata", {{"name", name}}}, {"involvedObject", {{"namespace", "default"}}}};
  };
  const auto exists = [&](const std::string& name) {
    return api.get(std::string(kEvents) + "/" + name).status == 200;
  };
  api.post(kEvents, event("once"));
  json again = api.post(kEvents, event("again")).body;
  clock.advance(std::chrono::minutes(40));
  again["count"] = 2;
  EXPECT_EQ(api.put(std::string(kEvents) + "/again", again).status, 200);
  clock.advance(std::chrono::minutes(30));
  api.post(kEvents, event("another"));
  EXPECT_FALSE(exists("once"));
  EXPECT_TRUE(exists("again"));
}

TEST_F(Crud, ANameIsMadeFromGenerateName) {
  json object = config_map("");
  object["metadata"] = {{"generateName", "claim-"}};
  const Answer first = api.post(kConfigMaps, object);
  const Answer second = api.post(kConfigMaps, object);
  EXPECT_THAT(first.body["metadata"]["name"].get<std::string>(), StartsWith("claim-"));
  EXPECT_NE(first.body["metadata"]["name"], second.body["metadata"]["name"]);
}

TEST_F(Crud, TheVersionHasBothItsPaths) {
  EXPECT_EQ(api.get("/version/").body, api.get("/version").body);
}

TEST_F(Crud, DisruptionBudgetsAndNetworkPoliciesAreKept) {
  const json named{{"metadata", {{"name", "a"}}}, {"spec", json::object()}};
  EXPECT_EQ(api.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", named).status, 201);
  EXPECT_EQ(api.post("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", named).status,
            201);
}

TEST_F(Crud, WhatASimulatedPodCannotDoIsSaid) {
  const Answer answer = api.post("/api/v1/namespaces/default/pods/a/exec?command=ls", {});
  EXPECT_EQ(answer.status, 501);
  EXPECT_THAT(answer.body["message"].get<std::string>(),
              HasSubstr("pod a is simulated: it has no container for exec"));
}

TEST_F(Crud, WhereMetricsAreIsSaid) {
  const Answer answer = api.get("/metrics");
  EXPECT_EQ(answer.status, 501);
  EXPECT_THAT(answer.body["message"].get<std::string>(), HasSubstr("--metrics-listen"));
}

TEST_F(Crud, AnAbsentObjectIsNotFound) {
  const Answer answer = api.get(std::string(kConfigMaps) + "/a");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body["reason"], "NotFound");
  EXPECT_EQ(answer.body["message"], "configmaps \"a\" not found");
  EXPECT_EQ(answer.body["details"], json({{"name", "a"}, {"kind", "configmaps"}}));
}

TEST_F(Crud, ASecondCreateSaysAlreadyExists) {
  api.post(kConfigMaps, config_map("a"));
  const Answer answer = api.post(kConfigMaps, config_map("a"));
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body["reason"], "AlreadyExists");
}

TEST_F(Crud, AStaleUpdateIsAConflict) {
  json object = api.post(kConfigMaps, config_map("a")).body;
  object["data"]["a"] = "2";
  EXPECT_EQ(api.put(std::string(kConfigMaps) + "/a", object).status, 200);
  const Answer answer = api.put(std::string(kConfigMaps) + "/a", object);
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body["reason"], "Conflict");
  EXPECT_THAT(answer.body["message"].get<std::string>(),
              HasSubstr("the object has been modified; please apply your changes"));
}

TEST_F(Crud, AWriteThatChangesNothingKeepsTheResourceVersion) {
  const json object = api.post(kConfigMaps, config_map("a")).body;
  const auto before = server.resource_version();
  const Answer put = api.put(std::string(kConfigMaps) + "/a", object);
  const Answer patch = api.merge(std::string(kConfigMaps) + "/a", {{"data", {{"a", "1"}}}});
  EXPECT_EQ(put.body["metadata"]["resourceVersion"], object["metadata"]["resourceVersion"]);
  EXPECT_EQ(patch.status, 200);
  EXPECT_EQ(server.resource_version(), before);
}

TEST_F(Crud, APatchWithAnOldResourceVersionIsAConflict) {
  const json object = api.post(kConfigMaps, config_map("a")).body;
  const json& version = object["metadata"]["resourceVersion"];
  const json patch = {{"metadata", {{"resourceVersion", version}}}, {"data", {{"a", "2"}}}};
  EXPECT_EQ(api.merge(std::string(kConfigMaps) + "/a", patch).status, 200);
  EXPECT_EQ(api.merge(std::string(kConfigMaps) + "/a", patch).status, 409);
}

TEST_F(Crud, ADryRunAnswersAndStoresNothing) {
  EXPECT_EQ(api.post(std::string(kConfigMaps) + "?dryRun=All", config_map("a")).status, 201);
  EXPECT_EQ(api.get(std::string(kConfigMaps) + "/a").status, 404);
}

TEST_F(Crud, NothingIsCreatedInANamespaceThatIsNotThere) {
  const Answer answer = api.post("/api/v1/namespaces/nowhere/configmaps", config_map("a"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body["message"], "namespaces \"nowhere\" not found");
}

TEST_F(Crud, ABadNameIsInvalid) {
  const Answer answer = api.post(kConfigMaps, config_map("A_b"));
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.body["details"]["kind"], "ConfigMap");
  EXPECT_EQ(answer.body["details"]["causes"][0]["field"], "metadata.name");
}

TEST_F(Crud, ListsComeInPagesOfOneState) {
  for (const char* name : {"a", "b", "c"}) api.post(kConfigMaps, config_map(name));
  const Answer first = api.get(std::string(kConfigMaps) + "?limit=2");
  ASSERT_EQ(first.body["items"].size(), 2u);
  EXPECT_EQ(first.body["metadata"]["remainingItemCount"], 1);
  EXPECT_FALSE(first.body["items"][0].contains("kind"));

  api.remove(std::string(kConfigMaps) + "/c");
  api.post(kConfigMaps, config_map("d"));
  const std::string token = first.body["metadata"]["continue"];
  const Answer second = api.get(std::string(kConfigMaps) + "?limit=2&continue=" + token);
  ASSERT_EQ(second.body["items"].size(), 1u);
  EXPECT_EQ(second.body["items"][0]["metadata"]["name"], "c");
  EXPECT_EQ(second.body["metadata"]["resourceVersion"], first.body["metadata"]["resourceVersion"]);
}

TEST_F(Crud, AContinueTokenFromBeforeACompactionIsExpired) {
  for (const char* name : {"a", "b"}) api.post(kConfigMaps, config_map(name));
  const std::string token =
      api.get(std::string(kConfigMaps) + "?limit=1").body["metadata"]["continue"];
  api.post(kConfigMaps, config_map("c"));
  server.compact();
  const Answer answer = api.get(std::string(kConfigMaps) + "?limit=1&continue=" + token);
  EXPECT_EQ(answer.status, 410);
  EXPECT_EQ(answer.body["reason"], "Expired");
  const std::string fresh = answer.body["metadata"]["continue"];
  EXPECT_EQ(api.get(std::string(kConfigMaps) + "?continue=" + fresh).status, 200);
}

TEST_F(Crud, SelectorsChooseFromAList) {
  for (const char* name : {"a", "b"}) {
    json object = config_map(name);
    object["metadata"]["labels"] = {{"app", name}};
    api.post(kConfigMaps, object);
  }
  EXPECT_EQ(api.get(std::string(kConfigMaps) + "?labelSelector=app%3Da").body["items"].size(), 1u);
  EXPECT_EQ(
      api.get(std::string(kConfigMaps) + "?labelSelector=app+in+%28a%2Cb%29").body["items"].size(),
      2u);
  EXPECT_EQ(
      api.get(std::string(kConfigMaps) + "?fieldSelector=metadata.name%3Db").body["items"].size(),
      1u);
  EXPECT_EQ(api.get(std::string(kConfigMaps) + "?fieldSelector=spec.x%3Db").status, 400);
}

}  // namespace
}  // namespace cdom::sandbox
