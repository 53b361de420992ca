#include "sandbox/apiserver/rules/admission.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cdom::sandbox {
namespace {

using nlohmann::json;

// "A node's token may write only its own report", as this project's manifests say it.
json policy() {
  return json::parse(R"json({"metadata": {"name": "own-node"}, "spec": {
    "failurePolicy": "Fail",
    "matchConstraints": {"resourceRules": [{"apiGroups": ["resource.nvidia.com"],
      "apiVersions": ["v1beta1"], "operations": ["CREATE", "UPDATE"],
      "resources": ["computedomainnodes", "computedomainnodes/status"]}]},
    "matchConditions": [{"name": "agent", "expression": "request.userInfo.username == 'agent'"}],
    "variables": [{"name": "node", "expression":
      "request.userInfo.extra[?'authentication.kubernetes.io/node-name'].optMap(n, n[0]).orValue('')"}],
    "validations": [{"expression": "object.metadata.name == variables.node",
      "messageExpression": "'node ' + variables.node + ' may not'", "reason": "Forbidden"}]}})json");
}

json binding(const char* action = "Deny") {
  return {{"metadata", {{"name", "all"}}},
          {"spec", {{"policyName", "own-node"}, {"validationActions", {action}}}}};
}

const json kExtra = {{"authentication.kubernetes.io/node-name", json::array({"n1"})}};
const json kReport1 = {{"metadata", {{"name", "n1"}}}};
const json kReport2 = {{"metadata", {{"name", "n2"}}}};

AdmissionRequest write_of(const json& report) {
  return {.operation = "UPDATE",
          .group = "resource.nvidia.com",
          .version = "v1beta1",
          .resource = "computedomainnodes",
          .kind = "ComputeDomainNode",
          .name = report["metadata"]["name"],
          .user = "agent",
          .user_extra = &kExtra,
          .object = &report,
          .old_object = &report};
}

std::optional<Denial> review(const AdmissionRequest& request, const json& of = policy()) {
  return AdmissionPolicies::load({of}, {binding()}).value().review(request);
}

TEST(Admission, LetsPassWhatThePolicyAllows) { EXPECT_FALSE(review(write_of(kReport1))); }

TEST(Admission, DeniesInTheApiServersWords) {
  const auto denial = review(write_of(kReport2));
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->code, 403);
  EXPECT_EQ(denial->reason, "Forbidden");
  EXPECT_EQ(
      denial->cause,
      "ValidatingAdmissionPolicy 'own-node' with binding 'all' denied request: node n1 may not");
  EXPECT_EQ(denial->message,
            "computedomainnodes.resource.nvidia.com \"n2\" is forbidden: ValidatingAdmissionPolicy "
            "'own-node' with binding 'all' denied request: node n1 may not");
}

TEST(Admission, IsAboutTheNamedOperationsAndResourcesOnly) {
  AdmissionRequest request = write_of(kReport2);
  request.operation = "DELETE";
  EXPECT_FALSE(review(request));
  request = write_of(kReport2);
  request.subresource = "status";
  EXPECT_TRUE(review(request));
  request.subresource = "scale";
  EXPECT_FALSE(review(request));
  request = write_of(kReport2);
  request.group = "other";
  EXPECT_FALSE(review(request));
}

TEST(Admission, MatchConditionsExempt) {
  AdmissionRequest request = write_of(kReport2);
  request.user = "admin";
  EXPECT_FALSE(review(request));
}

TEST(Admission, WithoutADenyingBindingNothingIsDenied) {
  EXPECT_FALSE(AdmissionPolicies::load({policy()}, {}).value().review(write_of(kReport2)));
  EXPECT_FALSE(
      AdmissionPolicies::load({policy()}, {binding("Audit")}).value().review(write_of(kReport2)));
}

TEST(Admission, AnErrorDeniesUnlessThePolicyIgnoresIt) {
  AdmissionRequest request = write_of(kReport2);
  request.user_extra = nullptr;
  const auto denial = review(request);
  ASSERT_TRUE(denial);
  EXPECT_NE(denial->message.find("no such key: extra"), std::string::npos) << denial->message;
  json ignoring = policy();
  ignoring["spec"]["failurePolicy"] = "Ignore";
  EXPECT_FALSE(review(request, ignoring));
}

TEST(Admission, AVariableThatNobodyReadsMayFail) {
  json with_variable = policy();
  with_variable["spec"]["variables"].push_back({{"name", "bad"}, {"expression", "object.gone"}});
  EXPECT_FALSE(review(write_of(kReport1), with_variable));
}

TEST(Admission, MessagesFallBackToTheExpression) {
  json plain = policy();
  plain["spec"]["validations"] = json::array({{{"expression", "object.metadata.name == 'x'"}}});
  const auto denial = review(write_of(kReport1), plain);
  ASSERT_TRUE(denial);
  EXPECT_EQ(denial->code, 422);
  EXPECT_NE(denial->message.find("failed expression: object.metadata.name == 'x'"),
            std::string::npos);
}

TEST(Admission, RefusesAPolicyThatItDoesNotUnderstand) {
  json params = policy();
  params["spec"]["paramKind"] = {{"kind", "ConfigMap"}};
  json unknown = policy();
  unknown["spec"]["validations"][0]["expression"] = "authorizer.group('').allowed()";
  EXPECT_FALSE(AdmissionPolicies::load({params}, {}));
  const auto loaded = AdmissionPolicies::load({unknown}, {});
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("undeclared reference to 'authorizer'"), std::string::npos);
}

TEST(Admission, SelectsByLabelsOfNamespaceAndObject) {
  json selecting = policy();
  selecting["spec"]["matchConstraints"]["objectSelector"] = {{"matchLabels", {{"a", "b"}}}};
  EXPECT_FALSE(review(write_of(kReport2), selecting));
  json labelled = kReport2;
  labelled["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_TRUE(review(write_of(labelled), selecting));
}

}  // namespace
}  // namespace cdom::sandbox
