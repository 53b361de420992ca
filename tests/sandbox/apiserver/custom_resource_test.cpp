#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWidgets = "/apis/example.com/v1/namespaces/default/widgets";

constexpr const char* kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Color, type: string, jsonPath: .spec.color}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            properties:
              color: {type: string, enum: [red, blue], default: red}
              size: {type: integer, minimum: 0}
            x-kubernetes-validations:
            - {rule: self.color == oldSelf.color, message: color is immutable}
          status:
            type: object
            properties:
              phase: {type: string}
)";

class CustomResource : public ApiServerTest {
 protected:
  CustomResource() {
    const auto loaded = server.load(kDefinition);
    EXPECT_TRUE(loaded) << loaded.error().message;
  }
  static json widget(const json& spec) {
    return {{"apiVersion", "example.com/v1"},
            {"kind", "Widget"},
            {"metadata", {{"name", "w"}}},
            {"spec", spec}};
  }
  const std::string w = std::string(kWidgets) + "/w";
};

TEST_F(CustomResource, IsEstablishedAtOnce) {
  const json definition =
      api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com").body;
  EXPECT_EQ(definition["status"]["conditions"][1]["type"], "Established");
  EXPECT_EQ(definition["status"]["acceptedNames"]["singular"], "widget");
}

TEST_F(CustomResource, GetsDefaultsAndLosesUnknownFieldsWithAWarning) {
  const Answer created = api.post(kWidgets, widget({{"colour", "blue"}}));
  ASSERT_EQ(created.status, 201);
  EXPECT_EQ(created.body["spec"], json({{"color", "red"}}));
  EXPECT_EQ(created.headers.at("Warning"), "299 - \"unknown field \\\"spec.colour\\\"\"");
}

TEST_F(CustomResource, UnknownFieldsAreRefusedWhenStrict) {
  const Answer answer =
      api.post(std::string(kWidgets) + "?fieldValidation=Strict", widget({{"colour", "blue"}}));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body["message"], "strict decoding error: unknown field \"spec.colour\"");
}

TEST_F(CustomResource, IsValidatedByItsSchema) {
  const Answer answer = api.post(kWidgets, widget({{"color", "pink"}}));
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.body["details"]["kind"], "Widget");
  EXPECT_EQ(answer.body["details"]["causes"][0]["field"], "spec.color");
}

TEST_F(CustomResource, IsValidatedByItsRules) {
  api.post(kWidgets, widget({{"color", "red"}}));
  const Answer answer = api.merge(w, {{"spec", {{"color", "blue"}}}});
  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.body["message"].get<std::string>(), HasSubstr("color is immutable"));
}

TEST_F(CustomResource, KeepsStatusAndTheRestApart) {
  json object = widget({{"size", 1}});
  object["status"] = {{"phase", "made up"}};
  EXPECT_FALSE(api.post(kWidgets, object).body.contains("status"));

  const json patch = {{"spec", {{"size", 2}}}, {"status", {{"phase", "Ready"}}}};
  const Answer status = api.merge(w + "/status", patch);
  EXPECT_EQ(status.body["spec"]["size"], 1);
  EXPECT_EQ(status.body["status"]["phase"], "Ready");
  EXPECT_EQ(status.body["metadata"]["generation"], 1);

  const Answer main = api.merge(w, {{"spec", {{"size", 3}}}, {"status", {{"phase", "No"}}}});
  EXPECT_EQ(main.body["spec"]["size"], 3);
  EXPECT_EQ(main.body["status"]["phase"], "Ready");
  EXPECT_EQ(main.body["metadata"]["generation"], 2);
}

TEST_F(CustomResource, AnUpdateNeedsTheResourceVersion) {
  json object = api.post(kWidgets, widget({{"size", 1}})).body;
  object["metadata"].erase("resourceVersion");
  const Answer answer = api.put(w, object);
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.body["details"]["causes"][0]["message"],
            "Invalid value: 0: must be specified for an update");
}

TEST_F(CustomResource, TakesNoStrategicMergePatch) {
  api.post(kWidgets, widget({{"size", 1}}));
  EXPECT_EQ(api.send("PATCH", w, {{"spec", {}}}, "application/strategic-merge-patch+json").status,
            415);
}

TEST_F(CustomResource, ServerSideApplyTellsConflictsWithOtherManagers) {
  const auto apply = [&](const std::string& manager, int size, const std::string& more = "") {
    return api.send("PATCH", w + "?fieldManager=" + manager + more, widget({{"size", size}}),
                    "application/apply-patch+yaml");
  };
  EXPECT_EQ(apply("one", 1).status, 201);
  EXPECT_EQ(apply("two", 1).status, 200);
  const Answer conflict = apply("two", 2);
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(conflict.body["details"]["causes"][0]["reason"], "FieldManagerConflict");
  EXPECT_EQ(conflict.body["details"]["causes"][0]["field"], ".spec.size");
  EXPECT_EQ(apply("two", 2, "&force=true").body["spec"]["size"], 2);
}

TEST_F(CustomResource, AppliedTwiceAlikeIsWrittenOnce) {
  const auto apply = [&] {
    return api.send("PATCH", w + "?fieldManager=one", widget({{"size", 1}}),
                    "application/apply-patch+yaml");
  };
  apply();
  const auto before = server.resource_version();
  clock.advance(std::chrono::seconds(5));
  EXPECT_EQ(apply().status, 200);
  EXPECT_EQ(server.resource_version(), before);
}

TEST_F(CustomResource, PrintsTheColumnsOfItsDefinition) {
  api.post(kWidgets, widget({{"size", 1}}));
  clock.advance(std::chrono::hours(5));
  const http::Response table = server.handle(
      {.target = kWidgets,
       .headers = {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}}},
      admin_user());
  const json body = json::parse(table.body);
  EXPECT_EQ(body["kind"], "Table");
  EXPECT_EQ(body["rows"][0]["cells"], json({"w", "red", "5h"}));
}

TEST_F(CustomResource, GoesWithItsDefinition) {
  json object = widget({{"size", 1}});
  object["metadata"]["finalizers"] = {"example.com/wait"};
  api.post(kWidgets, object);
  const std::string definition =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
  api.remove(definition);
  EXPECT_EQ(api.get(definition).status, 200);
  EXPECT_EQ(api.merge(w, {{"metadata", {{"finalizers", nullptr}}}}).status, 200);
  EXPECT_EQ(api.get(definition).status, 404);
  EXPECT_EQ(api.get(kWidgets).status, 404);
}

TEST_F(CustomResource, ARuleThatIsNotUnderstoodIsRefusedWithTheDefinition) {
  std::string text = kDefinition;
  text.replace(text.find("self.color == oldSelf.color"), 27, "self.color.nonsense(1)     ");
  const auto loaded = server.load(text);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("x-kubernetes-validations"));
}

}  // namespace
}  // namespace cdom::sandbox
