// Fields that built-in kinds do not have.
#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using testing::HasSubstr;

class UnknownFields : public testing::Test {
 protected:
  UnknownFields() { api.post("/api/v1/namespaces", {{"metadata", {{"name", "default"}}}}); }

  // What a strict create of an object with this field more is answered.
  std::string refusal(const std::string& path, json object, const json::json_pointer& field) {
    object["metadata"]["name"] = "x";
    object[field] = 1;
    const Answer answer = api.post(path + "?fieldValidation=Strict", object);
    return answer.status == 400 ? answer.body.value("message", "") : answer.body.dump();
  }

  base::ManualClock clock;
  ApiServer server{clock};
  ApiClient api{server};
  const std::string core = "/api/v1/namespaces/default/";
  const std::string dra = "/apis/resource.k8s.io/v1/namespaces/default/";
  const json pod = {{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
};

TEST_F(UnknownFields, AreRefusedWhenStrict) {
  EXPECT_EQ(refusal(core + "pods", pod, "/spec/foo"_json_pointer),
            "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown "
            "field \"spec.foo\"");
  EXPECT_THAT(refusal(core + "pods", pod, "/spec/containers/0/imgae"_json_pointer),
              HasSubstr("unknown field \"spec.containers[0].imgae\""));
  EXPECT_THAT(refusal(core + "pods", pod, "/metadata/lables"_json_pointer),
              HasSubstr("unknown field \"metadata.lables\""));
  EXPECT_THAT(refusal(core + "configmaps", {{"data", {{"k", "v"}}}}, "/foo"_json_pointer),
              HasSubstr("unknown field \"foo\""));
  EXPECT_THAT(refusal("/api/v1/nodes", json::object(), "/spec/foo"_json_pointer),
              HasSubstr("unknown field \"spec.foo\""));
  EXPECT_THAT(refusal("/apis/batch/v1/namespaces/default/jobs",
                      {{"spec", {{"template", {{"spec", pod["spec"]}}}}}},
                      "/spec/template/spec/foo"_json_pointer),
              HasSubstr("unknown field \"spec.template.spec.foo\""));
}

TEST_F(UnknownFields, OfClaimsAreThoseOfTheirVersion) {
  const json exactly = {{"name", "r"}, {"exactly", {{"deviceClassName", "c"}}}};
  const json claim = {{"spec", {{"devices", {{"requests", {exactly}}}}}}};
  EXPECT_THAT(refusal(dra + "resourceclaims", claim,
                      "/spec/devices/requests/0/deviceClassName"_json_pointer),
              HasSubstr("unknown field \"spec.devices.requests[0].deviceClassName\""));
  EXPECT_THAT(refusal(dra + "resourceclaimtemplates", {{"spec", claim}}, "/spec/foo"_json_pointer),
              HasSubstr("unknown field \"spec.foo\""));
  const json flat = {
      {"spec", {{"devices", {{"requests", {{{"name", "r"}, {"deviceClassName", "c"}}}}}}}},
      {"metadata", {{"name", "flat"}}}};
  const Answer answer = api.post(
      "/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims?fieldValidation=Strict",
      flat);
  EXPECT_EQ(answer.status, 201) << answer.body;
}

TEST_F(UnknownFields, GoWithAWarningByDefault) {
  json object = pod;
  object["metadata"]["name"] = "x";
  object["spec"]["foo"] = 1;
  const Answer created = api.post(core + "pods", object);
  ASSERT_EQ(created.status, 201);
  EXPECT_FALSE(created.body["spec"].contains("foo"));
  EXPECT_THAT(created.headers.at("Warning"), HasSubstr("unknown field"));
}

TEST_F(UnknownFields, AreRefusedInAPatchAndInAnApply) {
  json object = pod;
  object["metadata"]["name"] = "x";
  ASSERT_EQ(api.post(core + "pods", object).status, 201);
  const Answer patched =
      api.merge(core + "pods/x?fieldValidation=Strict", {{"metadata", {{"foo", 1}}}});
  EXPECT_THAT(patched.body["message"], HasSubstr("unknown field \"metadata.foo\""));
  object["spec"]["foo"] = 1;
  const Answer applied = api.send("PATCH", core + "pods/x?fieldManager=m&force=true", object,
                                  "application/apply-patch+yaml");
  EXPECT_THAT(applied.body["message"], HasSubstr(".spec.foo: field not declared in schema"));
}

TEST_F(UnknownFields, TheSchemaOfAPodSaysWhatItHas) {
  const json schemas = api.get("/openapi/v3/api/v1").body["components"]["schemas"];
  EXPECT_EQ(schemas["Pod"]["x-kubernetes-group-version-kind"][0]["kind"], "Pod");
  const json& claims = schemas["PodSpec"]["properties"]["resourceClaims"];
  EXPECT_THAT(claims["description"], HasSubstr("must be allocated and reserved"));
  EXPECT_EQ(claims["items"]["allOf"][0]["$ref"], "#/components/schemas/PodResourceClaim");
  EXPECT_TRUE(schemas.contains("PodResourceClaim"));
}

TEST_F(UnknownFields, OfSlicesAreThoseOfTheirVersion) {
  const std::string slices = "/apis/resource.k8s.io/v1/resourceslices";
  const json slice = {{"spec",
                       {{"driver", "d.example"},
                        {"allNodes", true},
                        {"pool", {{"name", "p"}, {"generation", 1}, {"resourceSliceCount", 1}}},
                        {"devices", {{{"name", "d"}}}}}}};
  EXPECT_THAT(refusal(slices, slice, "/spec/nodeselector"_json_pointer),
              HasSubstr("unknown field \"spec.nodeselector\""));
  EXPECT_THAT(refusal(slices, slice, "/spec/devices/0/basic"_json_pointer),
              HasSubstr("unknown field \"spec.devices[0].basic\""));
  json old = slice;
  old["metadata"]["name"] = "old";
  old["spec"]["devices"][0]["basic"] = {{"attributes", {{"id", {{"int", 1}}}}}};
  const Answer answer =
      api.post("/apis/resource.k8s.io/v1beta1/resourceslices?fieldValidation=Strict", old);
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(api.get(slices + "/old").body["spec"]["devices"][0]["attributes"]["id"]["int"], 1);
}

TEST_F(UnknownFields, TheSchemaOfASliceSaysWhichNodesItCanBeFor) {
  const json schemas = api.get("/openapi/v3/apis/resource.k8s.io/v1").body["components"]["schemas"];
  const json& spec = schemas["ResourceSliceSpec"]["properties"];
  EXPECT_THAT(spec["nodeSelector"]["description"], HasSubstr("Which nodes have access"));
  EXPECT_TRUE(schemas.contains("NodeSelectorTerm"));
  EXPECT_TRUE(spec.contains("perDeviceNodeSelection"));
}

}  // namespace
}  // namespace cdom::sandbox
