// What the server's own program applies, and then somebody with kubectl.
#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

constexpr char kDaemonSets[] = "/apis/apps/v1/namespaces/default/daemonsets";
constexpr char kAgent[] = R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: ours}]}
)";

class Apply : public ApiServerTest {
 protected:
  // `kubectl apply --server-side` of the same with another image.
  Answer apply_with_kubectl() {
    const std::string agent = std::string(kDaemonSets) + "/agent";
    json object = api.get(agent).body;
    object["metadata"] = {{"name", "agent"}, {"namespace", "default"}};
    object["spec"]["template"]["spec"]["containers"][0]["image"] = "theirs";
    return api.send("PATCH", agent + "?fieldManager=kubectl", object,
                    "application/apply-patch+yaml");
  }
};

TEST_F(Apply, LeavesWhatItBringsToWhoeverAppliesItWithKubectl) {
  ASSERT_TRUE(server.apply(kAgent));
  EXPECT_EQ(apply_with_kubectl().status, 200);
}

TEST_F(Apply, IsNotToLoad) {
  ASSERT_TRUE(server.load(kAgent));
  EXPECT_EQ(apply_with_kubectl().status, 409);
}

TEST_F(Apply, SaysWhatIsRefused) {
  EXPECT_EQ(server.apply("{apiVersion: v1, kind: Nothing, metadata: {name: a}}").error().message,
            "Nothing a: this server knows no kind Nothing in v1");
}

}  // namespace
}  // namespace cdom::sandbox
