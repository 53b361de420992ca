// ClusterTest: an embedded API server and a simulated cluster around it, in virtual time.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute_domain/sandbox/api_server.h"
#include "compute_domain/sandbox/cluster.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {

// A node agent that offers one channel and prepares whatever it is asked to.
class FakeAgent : public NodePlugin {
 public:
  // What all agents of a test share.
  struct Script {
    std::string refusal;                            // not empty: prepare fails with it
    bool waits = false;                             // prepare never ends
    std::vector<std::string> prepared, unprepared;  // "<node>/<claim UID>"
    int starts = 0;
  };

  FakeAgent(const NodeEnvironment& environment, Script& script);
  PrepareStep prepare(const ClaimRef& claim) override;
  PrepareStep unprepare(const ClaimRef& claim) override;
  bool step() override;
  std::optional<base::Duration> next_due() override { return std::nullopt; }

 private:
  const NodeEnvironment environment_;
  Script& script_;
  bool has_published_ = false;
};

class ClusterTest : public testing::Test {
 protected:
  explicit ClusterTest(ClusterOptions options = two_small_racks());
  static ClusterOptions two_small_racks();

  // Until nothing is left to do at this moment.
  void settle();
  // All that can be done without any time passing.
  void do_what_is_due();
  // Lets virtual time go by.
  void wait(base::Duration time);
  // Waits, at most `limit`, until the condition holds; a failure of the test if it never does.
  void wait_for(const std::string& what, const std::function<bool()>& condition,
                base::Duration limit = std::chrono::minutes(10));

  void apply(const std::string& yaml);
  json get(const api::Kind& kind, const api::ObjectName& key);
  std::vector<json> list(const api::Kind& kind, const std::string& ns = {});
  std::string phase(const std::string& pod);
  // Reasons of all Events about that object, each once.
  std::set<std::string> reasons(const std::string& object);
  std::string message(const std::string& object, const std::string& reason);
  // What the container has printed.
  std::string log(const std::string& pod, const std::string& container);
  void annotate(const api::Kind& kind, const api::ObjectName& key, const std::string& name,
                const std::string& value);
  void remove(const api::Kind& kind, const api::ObjectName& key, const api::Deletion& how = {});

  // A claim template `channel` in namespace default, for one channel of a node.
  void apply_template();
  // A pod of namespace default with a claim from that template, running `command`.
  void apply_pod(const std::string& name, const std::string& command = "sleep infinity");

  base::ManualClock clock_;
  ApiServer server_;
  std::unique_ptr<http::Client> client_;
  kube::Client kube_client_;
  JsonClient objects_;
  FakeAgent::Script script_;
  Cluster cluster_;
};

}  // namespace cdom::sandbox
