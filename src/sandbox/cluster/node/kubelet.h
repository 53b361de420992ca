// Kubelet: runs the pods of one simulated node.
//
// How a pod goes: its claims are checked and prepared, its containers start, run for as long as
// their workload says and end; its claims are unprepared, and only then its terminal phase or its
// deletion is told to the API server. A pod that is deleted goes straight to the end. Failures are
// told in kubelet's words and tried again. What has to survive a restart of kubelet is in
// ClaimCache. Claims of other drivers than the node agent's count as prepared. One thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/kube/events.h"
#include "compute_domain/sandbox/cluster.h"
#include "compute_domain/sandbox/imex.h"
#include "compute_domain/sandbox/node_plugin.h"
#include "sandbox/cluster/imex/connection_log.h"
#include "sandbox/cluster/informers.h"
#include "sandbox/cluster/json_client.h"
#include "sandbox/cluster/node/claim_cache.h"
#include "sandbox/cluster/node/pod_status.h"
#include "sandbox/cluster/own_writes.h"

namespace cdom::sandbox {

struct KubeletConfig {
  std::string node;
  std::string address;
  std::string pod_network;       // "10.244.7.": what pod addresses begin with
  std::string resource_version;  // of resource.k8s.io
  PodLog log;                    // may be empty
};

class Kubelet : public Part {
 public:
  // Needs an informer of pods. `imex` learns when a workload with a channel runs.
  Kubelet(const kube::Client& client, Informers& informers, const base::Clock& clock,
          base::Random random, KubeletConfig config, Imex& imex, kube::EventRecorder& recorder);

  // The DRA driver's plugin, or null while none is registered.
  void set_plugin(NodePlugin* plugin) { plugin_ = plugin; }
  // The node has started (again): every pod that the API server shows here begins anew.
  void boot();
  // Nothing moves until boot().
  void power_off();
  // Containers run on, and nothing else happens: the API server is out of reach.
  void set_frozen(bool frozen) { is_frozen_ = frozen; }
  // The readiness of a pod that the sandbox answers for; pods are ready by default.
  void set_ready(const api::ObjectName& pod, bool ready);
  // Ends a pod's containers as a crash would.
  void crash(const api::ObjectName& pod);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;
  [[nodiscard]] std::vector<ClaimRef> claims() const { return claims_.claims(); }
  // Whether the pod's containers run.
  [[nodiscard]] bool is_running(const api::ObjectName& pod) const;

 private:
  enum class Stage { Admitted, Preparing, Starting, Running, BackOff, Unpreparing, Ended };
  struct Run {
    // The last state seen, and what each step asks of it.
    ObjectPtr pod;
    bool is_deleting = false;
    bool shows_ready = false;
    api::ObjectName key;
    Stage stage = Stage::Admitted;
    base::Duration due{};  // not before
    std::optional<std::vector<ClaimRef>> claims;
    std::optional<base::Duration> started, ends;
    std::vector<std::string> devices;
    std::uint64_t told_connections = 0;
    PodState state;
    bool is_gone = false;           // the API server has no such pod any more
    bool has_been_deleted = false;  // by us, at the end of a graceful deletion
  };

  static void show(Run& run, const ObjectPtr& pod);
  void see_pod(const Change& change);
  bool advance(const std::string& uid, Run& run);
  bool admit(Run& run);
  bool prepare(const std::string& uid, Run& run);
  bool start(const std::string& uid, Run& run);
  bool watch_containers(Run& run);
  void end_containers(Run& run, int exit_code);
  bool unprepare(const std::string& uid, Run& run);
  bool finish(Run& run);
  bool release_orphans();

  base::Result<std::vector<ClaimRef>> resolve_claims(const json& pod);
  // nullopt: it is not for the node agent.
  base::Result<std::optional<ClaimRef>> resolve(const json& pod, const std::string& name,
                                                bool is_generated);
  void fail_prepare(Run& run, const std::string& why);
  // False: try again later (run.due).
  bool write_status(Run& run);
  void note_importing();
  std::string next_address();
  [[nodiscard]] std::vector<std::string> devices_of(const Run& run, const json& container) const;
  void log(const Run& run, const std::string& text);
  void log(const Run& run, const json& container, const std::string& text);

  JsonClient objects_;
  const base::Clock& clock_;
  base::Random random_;
  const KubeletConfig config_;
  Imex& imex_;
  ConnectionLog connections_;
  const JsonInformer& pods_;
  kube::EventRecorder& recorder_;
  OwnWrites writes_;
  ClaimCache claims_;
  NodePlugin* plugin_ = nullptr;
  bool is_on_ = false, is_frozen_ = false;
  bool is_importing_ = false;        // a container with a channel runs
  std::map<std::string, Run> runs_;  // by pod UID
  std::map<api::ObjectName, bool> readiness_;
  std::map<std::string, base::Duration> orphans_due_;  // by pod UID
  unsigned next_host_ = 1;
};

}  // namespace cdom::sandbox
