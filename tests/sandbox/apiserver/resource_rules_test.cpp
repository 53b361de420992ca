// Extended resources, as the API server of Kubernetes 1.36 takes them.
#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPodsOfDefault = "/api/v1/namespaces/default/pods";
constexpr const char* kClasses = "/apis/resource.k8s.io/v1/deviceclasses";

class ExtendedResourceRules : public ApiServerTest {
 protected:
  static json pod(const json& resources) {
    return {
        {"metadata", {{"name", "p"}}},
        {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}, {"resources", resources}}}}}}};
  }
  std::string refusal_of(const json& resources) {
    const Answer answer = api.post(kPodsOfDefault, pod(resources));
    return answer.status == 422 ? answer.body["message"].get<std::string>() : "accepted";
  }
  std::string refusal_of_class(const std::string& extended_name) {
    const Answer answer = api.post(kClasses, {{"metadata", {{"name", "d.example.com"}}},
                                              {"spec", {{"extendedResourceName", extended_name}}}});
    return answer.status == 422 ? answer.body["message"].get<std::string>() : "accepted";
  }
};

TEST_F(ExtendedResourceRules, APodRequestsWhatItsLimitsSay) {
  const Answer answer = api.post(
      kPodsOfDefault,
      pod({{"limits", {{"example.com/port", "1"}, {"cpu", "2"}}}, {"requests", {{"cpu", "1"}}}}));
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(answer.body["spec"]["containers"][0]["resources"]["requests"],
            json({{"cpu", "1"}, {"example.com/port", "1"}}));
}

TEST_F(ExtendedResourceRules, AnAmountMayBeWrittenAsANumberAndIsAText) {
  const Answer answer = api.post(kPodsOfDefault, pod({{"limits", {{"example.com/port", 1}}}}));
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(
      answer.body["spec"]["containers"][0]["resources"],
      json({{"limits", {{"example.com/port", "1"}}}, {"requests", {{"example.com/port", "1"}}}}));
}

TEST_F(ExtendedResourceRules, ANameWithoutADomainIsOneOfKubernetes) {
  EXPECT_THAT(
      refusal_of({{"limits", {{"port", "1"}}}}),
      HasSubstr("spec.containers[0].resources.limits[port]: Invalid value: \"port\": must be "
                "a standard resource for containers"));
  EXPECT_THAT(refusal_of({{"limits", {{"example.com/-p", "1"}}}}),
              HasSubstr("Invalid value: \"example.com/-p\""));
  EXPECT_THAT(refusal_of({{"limits", {{"requests.example.com/p", "1"}}}}),
              HasSubstr("doesn't follow extended resource name standard"));
}

TEST_F(ExtendedResourceRules, AnAmountIsAnIntegerAndItsRequestIsItsLimit) {
  EXPECT_THAT(refusal_of({{"limits", {{"example.com/port", "1500m"}}}}),
              HasSubstr("spec.containers[0].resources.limits[example.com/port]: Invalid value: "
                        "\"1500m\": must be an integer"));
  EXPECT_THAT(
      refusal_of(
          {{"limits", {{"example.com/port", "2"}}}, {"requests", {{"example.com/port", "1"}}}}),
      HasSubstr("spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to "
                "example.com/port limit of 2"));
  EXPECT_THAT(
      refusal_of({{"requests", {{"example.com/port", "1"}}}}),
      HasSubstr("spec.containers[0].resources.limits: Required value: Limit must be set for "
                "non overcommitable resources"));
  EXPECT_THAT(refusal_of({{"limits", {{"cpu", "1"}}}, {"requests", {{"cpu", "2"}}}}),
              HasSubstr("\"2\": must be less than or equal to cpu limit of 1"));
}

TEST_F(ExtendedResourceRules, AClassMayNameItsDevicesInAnyDomainButKubernetes) {
  EXPECT_THAT(refusal_of_class("deviceclass.resource.kubernetes.io/d.example.com"),
              HasSubstr("spec.extendedResourceName: Invalid value: "));
  EXPECT_THAT(refusal_of_class("port"), HasSubstr("must be a valid extended resource name"));
  EXPECT_THAT(refusal_of_class("requests.example.com/port"), HasSubstr("Invalid value"));
  EXPECT_THAT(refusal_of_class("example.com/a port"), HasSubstr("Invalid value"));
  EXPECT_EQ(refusal_of_class("example.com/port"), "accepted");
}

}  // namespace
}  // namespace cdom::sandbox
