// ResourceSlices, as the API server of Kubernetes 1.36 takes them.
#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSlices = "/apis/resource.k8s.io/v1/resourceslices";
constexpr const char* kOneOfFour =
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

class Slice : public ApiServerTest {
 protected:
  static json slice(const json& more = {}) {
    json out = {{"metadata", {{"name", "s"}}},
                {"spec",
                 {{"driver", "d.example"},
                  {"pool", {{"name", "clique.0"}, {"generation", 1}, {"resourceSliceCount", 1}}},
                  {"devices", {{{"name", "d0"}}}}}}};
    out["spec"].update(more);
    return out;
  }
  static json expression(const std::string& op, const json& values) {
    return {{"key", "nvidia.com/gpu.clique"}, {"operator", op}, {"values", values}};
  }
  static json term(const json& expression) {
    return {{"matchExpressions", json::array({expression})}};
  }
  static json selector(const json& terms) {
    return {{"nodeSelector", {{"nodeSelectorTerms", terms}}}};
  }
  static json of_clique(const std::string& clique) {
    return selector(json::array({term(expression("In", json::array({clique})))}));
  }
  // What is wrong with a slice that has these fields more: "<field>: <message>" each.
  std::vector<std::string> causes(const json& more) {
    const Answer answer = api.post(kSlices, slice(more));
    EXPECT_EQ(answer.status, 422) << answer.body;
    std::vector<std::string> out;
    for (const json& cause : answer.body["details"]["causes"]) {
      out.push_back(cause.value("field", "") + ": " + cause.value("message", ""));
    }
    return out;
  }
  std::vector<std::string> names(const std::string& field_selector) {
    std::vector<std::string> out;
    const Answer answer = api.get(std::string(kSlices) + "?fieldSelector=" + field_selector);
    for (const json& item : answer.body["items"]) out.push_back(item["metadata"]["name"]);
    return out;
  }
};

TEST_F(Slice, IsForNodesByTheirNameOrTheirLabelsOrForAll) {
  for (const json& nodes :
       {json{{"nodeName", "n1"}}, of_clique("aaaa.0"), json{{"allNodes", true}}}) {
    const Answer answer = api.post(kSlices, slice(nodes));
    EXPECT_EQ(answer.status, 201) << answer.body;
    api.remove(std::string(kSlices) + "/s");
  }
}

TEST_F(Slice, SaysInExactlyOneWayForWhichNodesItIs) {
  EXPECT_THAT(causes(json::object()),
              ElementsAre(std::string("spec: Required value: ") + kOneOfFour));
  json two = of_clique("aaaa.0");
  two["nodeName"] = "n1";
  EXPECT_THAT(causes(two),
              ElementsAre(std::string("spec: Invalid value: \"{`nodeName`, `nodeSelector`}\": ") +
                          kOneOfFour + ", but multiple fields are set"));
  two = of_clique("aaaa.0");
  two["allNodes"] = false;
  EXPECT_THAT(causes(two), ElementsAre("spec.allNodes: Invalid value: false: must be either unset "
                                       "or set to true"));
}

TEST_F(Slice, HasASelectorOfExactlyOneTerm) {
  EXPECT_THAT(causes(selector(json::array())),
              ElementsAre("spec.nodeSelector.nodeSelectorTerms: Required value: must have at least "
                          "one node selector term",
                          "spec.nodeSelector.nodeSelectorTerms: Invalid value: []: must have "
                          "exactly one node selector term"));
  const json one = term(expression("In", json::array({"a"})));
  EXPECT_THAT(causes(selector(json::array({one, one}))),
              ElementsAre(HasSubstr("must have exactly one node selector term")));
}

TEST_F(Slice, HasASelectorThatANodeCanFit) {
  const std::string field = "spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0]";
  const auto causes_of = [&](const json& wanted) {
    return causes(selector(json::array({term(wanted)})));
  };
  EXPECT_THAT(causes_of(expression("In", json::array())),
              ElementsAre(field + ".values: Required value: must be specified when `operator` is "
                                  "'In' or 'NotIn'"));
  EXPECT_THAT(causes_of(expression("Is", json::array({"a"}))),
              ElementsAre(field + ".operator: Invalid value: \"Is\": not a valid selector "
                                  "operator"));
  EXPECT_THAT(causes_of(expression("In", json::array({"a/b"}))),
              ElementsAre(HasSubstr(field + ".values[0]: Invalid value: \"a/b\": a valid label")));
  const json by_name = {{"key", "name"}, {"operator", "In"}, {"values", {"n1"}}};
  EXPECT_THAT(causes(selector(json::array({{{"matchFields", json::array({by_name})}}}))),
              ElementsAre(HasSubstr("matchFields[0].key: Invalid value: \"name\": not a valid "
                                    "field selector key")));
}

TEST_F(Slice, OfAPoolHasAPathOfSubdomainsAsItsName) {
  json more = {{"allNodes", true}};
  more["pool"] = {{"name", "fabric/AAAA.0"}, {"generation", -1}, {"resourceSliceCount", 1}};
  EXPECT_THAT(causes(more),
              ElementsAre(HasSubstr("spec.pool.name: Invalid value: \"AAAA.0\": a lowercase"),
                          "spec.pool.generation: Invalid value: -1: must be greater than or equal "
                          "to zero"));
}

TEST_F(Slice, HoldsHalfAsManyDevicesWhenOneIsTainted) {
  json devices = json::array();
  for (int i = 0; i < 65; ++i) devices.push_back({{"name", "d" + std::to_string(i)}});
  EXPECT_EQ(api.post(kSlices, slice({{"allNodes", true}, {"devices", devices}})).status, 201);
  devices[0]["taints"] = {{{"key", "k"}, {"effect", "NoSchedule"}}};
  EXPECT_THAT(causes({{"allNodes", true}, {"devices", devices}}),
              ElementsAre("spec.devices: Too many: 65: must have at most 64 items"));
}

TEST_F(Slice, KeepsItsNodeButNotItsSelector) {
  ASSERT_EQ(api.post(kSlices, slice(of_clique("aaaa.0"))).status, 201);
  const std::string s = std::string(kSlices) + "/s";
  EXPECT_EQ(api.merge(s, {{"spec", of_clique("aaaa.1")}}).status, 200);
  const Answer moved = api.merge(s, {{"spec", {{"nodeSelector", nullptr}, {"nodeName", "n1"}}}});
  EXPECT_EQ(moved.status, 422);
  EXPECT_THAT(moved.body["message"].get<std::string>(),
              HasSubstr("spec.nodeName: Invalid value: \"n1\": field is immutable"));
}

TEST_F(Slice, OfManyNodesIsSelectedByAnEmptyNodeName) {
  ASSERT_EQ(api.post(kSlices, slice(of_clique("aaaa.0"))).status, 201);
  json of_node = slice({{"nodeName", "n1"}});
  of_node["metadata"]["name"] = "of-node";
  ASSERT_EQ(api.post(kSlices, of_node).status, 201);
  EXPECT_THAT(names("spec.nodeName="), ElementsAre("s"));
  EXPECT_THAT(names("spec.nodeName=n1"), ElementsAre("of-node"));
  EXPECT_THAT(names("spec.nodeName=,spec.driver=d.example"), ElementsAre("s"));
  EXPECT_THAT(names("spec.driver=other.example"), IsEmpty());
}

}  // namespace
}  // namespace cdom::sandbox
