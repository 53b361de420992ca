#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

class Delete : public ApiServerTest {
 protected:
  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";
  json bound_pod(const std::string& name) {
    return {
        {"metadata", {{"name", name}}},
        {"spec", {{"nodeName", "n1"}, {"containers", {{{"name", "c"}, {"image", "busybox"}}}}}}};
  }
  const std::string a = std::string(kConfigMaps) + "/a";
};

TEST_F(Delete, IsAnsweredWithSuccessAndTheUid) {
  const json object = api.post(kConfigMaps, config_map("a")).body;
  const Answer answer = api.remove(a);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body["status"], "Success");
  EXPECT_EQ(answer.body["details"]["uid"], object["metadata"]["uid"]);
  EXPECT_EQ(api.get(a).status, 404);
}

TEST_F(Delete, WaitsForFinalizers) {
  json object = config_map("a");
  object["metadata"]["finalizers"] = {"example.com/one"};
  api.post(kConfigMaps, object);
  const Answer answer = api.remove(a);
  EXPECT_EQ(answer.body["metadata"]["deletionTimestamp"], "2026-01-01T00:00:00Z");

  const json more = {{"metadata", {{"finalizers", {"example.com/one", "example.com/two"}}}}};
  EXPECT_EQ(api.merge(a, more).status, 422);
  EXPECT_EQ(api.post(kConfigMaps, object).body["message"],
            "object is being deleted: configmaps \"a\" already exists");

  EXPECT_EQ(api.merge(a, {{"metadata", {{"finalizers", nullptr}}}}).status, 200);
  EXPECT_EQ(api.get(a).status, 404);
}

TEST_F(Delete, OfAnotherUidIsAConflict) {
  api.post(kConfigMaps, config_map("a"));
  const Answer answer = api.remove(a, {{"preconditions", {{"uid", "other"}}}});
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(api.get(a).status, 200);
}

TEST_F(Delete, ABoundPodStaysUntilItsKubeletRemovesIt) {
  ASSERT_EQ(api.post(kPods, bound_pod("p")).status, 201);
  const std::string path = std::string(kPods) + "/p";
  const Answer answer = api.remove(path);
  EXPECT_EQ(answer.body["metadata"]["deletionGracePeriodSeconds"], 30);
  EXPECT_EQ(answer.body["metadata"]["deletionTimestamp"], "2026-01-01T00:00:30Z");
  EXPECT_EQ(api.get(path).status, 200);

  api.remove(path, {{"gracePeriodSeconds", 0}});
  EXPECT_EQ(api.get(path).status, 404);
}

TEST_F(Delete, APodThatNoNodeHasGoesAtOnce) {
  json pod = bound_pod("p");
  pod["spec"].erase("nodeName");
  api.post(kPods, pod);
  api.remove(std::string(kPods) + "/p");
  EXPECT_EQ(api.get(std::string(kPods) + "/p").status, 404);
}

TEST_F(Delete, ANamespaceWaitsForItsFinalize) {
  const Answer answer = api.remove("/api/v1/namespaces/default");
  EXPECT_EQ(answer.body["status"]["phase"], "Terminating");
  EXPECT_EQ(api.post(kConfigMaps, config_map("a")).status, 403);
  json object = api.get("/api/v1/namespaces/default").body;
  object["spec"]["finalizers"] = json::array();
  EXPECT_EQ(api.put("/api/v1/namespaces/default/finalize", object).status, 200);
  EXPECT_EQ(api.get("/api/v1/namespaces/default").status, 404);
}

TEST_F(Delete, ACollectionGoesBySelector) {
  for (const char* name : {"a", "b"}) {
    json object = config_map(name);
    object["metadata"]["labels"] = {{"app", name}};
    api.post(kConfigMaps, object);
  }
  EXPECT_EQ(api.remove(std::string(kConfigMaps) + "?labelSelector=app%3Da").status, 200);
  EXPECT_EQ(api.get(a).status, 404);
  EXPECT_EQ(api.get(std::string(kConfigMaps) + "/b").status, 200);
}

}  // namespace
}  // namespace cdom::sandbox
