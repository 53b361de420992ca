#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using ::testing::ElementsAre;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
constexpr const char* kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

class MetadataOnly : public ApiServerTest {
 protected:
  MetadataOnly() {
    for (const char* name : {"a-0", "a-1", "a-2", "b-0"}) {
      const json owner = {{"apiVersion", "batch/v1"},
                          {"kind", "Job"},
                          {"name", std::string(1, name[0])},
                          {"uid", "0a"},
                          {"controller", true}};
      const json pod = {{"metadata",
                         {{"name", name},
                          {"labels", {{"job", std::string(1, name[0])}}},
                          {"ownerReferences", json::array({owner})}}},
                        {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
      EXPECT_EQ(api.post(kPods, pod).status, 201);
    }
  }

  static std::vector<std::string> names_in(const json& list) {
    std::vector<std::string> names;
    for (const json& item : list["items"]) names.push_back(item["metadata"]["name"]);
    return names;
  }
};

TEST_F(MetadataOnly, AListHasNothingButTheMetadataOfEach) {
  const Answer answer = api.get_as(kMetadataList, kPods);
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body["kind"], "PartialObjectMetadataList");
  EXPECT_EQ(answer.body["apiVersion"], "meta.k8s.io/v1");
  ASSERT_THAT(names_in(answer.body), ElementsAre("a-0", "a-1", "a-2", "b-0"));
  const json whole = api.get(std::string(kPods) + "/a-0").body;
  EXPECT_EQ(answer.body["items"][0], json({{"kind", "PartialObjectMetadata"},
                                           {"apiVersion", "meta.k8s.io/v1"},
                                           {"metadata", whole["metadata"]}}));
}

TEST_F(MetadataOnly, AnEmptyListIsNull) {
  const Answer answer = api.get_as(kMetadataList, "/api/v1/namespaces/default/configmaps");
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.body.at("items").is_null());
}

TEST_F(MetadataOnly, AListComesInPagesAndAsSelected) {
  const std::string selected = std::string(kPods) + "?labelSelector=job%3Da&limit=2";
  const Answer first = api.get_as(kMetadataList, selected);
  EXPECT_THAT(names_in(first.body), ElementsAre("a-0", "a-1"));
  const std::string token = first.body["metadata"]["continue"];
  const Answer second = api.get_as(kMetadataList, selected + "&continue=" + token);
  EXPECT_THAT(names_in(second.body), ElementsAre("a-2"));
  EXPECT_FALSE(second.body["metadata"].contains("continue"));
}

TEST_F(MetadataOnly, AListNeedsTheRightToListTheObjects) {
  ASSERT_TRUE(server.load(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: lister, namespace: default}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: lister, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: lister}
subjects:
- {kind: ServiceAccount, namespace: default, name: lister}
)"));
  ApiClient lister(server, service_account_user("default", "lister"));
  ApiClient nobody(server, service_account_user("default", "nobody"));
  EXPECT_EQ(lister.get_as(kMetadataList, kPods).status, 200);
  EXPECT_EQ(lister.get_as(kMetadata, std::string(kPods) + "/a-0").status, 403);
  EXPECT_EQ(nobody.get_as(kMetadataList, kPods).status, 403);
}

TEST_F(MetadataOnly, OfOneObjectItIsNoListAndOfAListNoObject) {
  const std::string one = std::string(kPods) + "/a-0";
  EXPECT_EQ(api.get_as(kMetadata, one).body["kind"], "PartialObjectMetadata");
  const Answer list_of_one = api.get_as(kMetadataList, one);
  EXPECT_EQ(list_of_one.status, 406);
  EXPECT_EQ(list_of_one.body["reason"], "NotAcceptable");
  EXPECT_EQ(api.get_as(kMetadata, kPods).status, 406);
}

}  // namespace
}  // namespace cdom::sandbox
