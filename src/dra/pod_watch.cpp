#include "compute_domain/dra/pod_watch.h"

#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/pause.h"
#include "compute_domain/base/text.h"
#include "dra_proto/core_v1.pb.h"
#include "dra_proto/pods.grpc.pb.h"

namespace cdom::dra {

namespace {

namespace core_v1 = ::compute_domain::core_v1;

constexpr std::chrono::seconds kBetweenLooks{10};  // at a kubelet that has no such socket
constexpr std::chrono::seconds kBetweenWatches{1};
// A pod may be as large as etcd lets it be.
constexpr int kLargestEvent = 8 << 20;

bool any_runs(const core_v1::PodStatus& status) {
  for (const auto* containers : {&status.initcontainerstatuses(), &status.containerstatuses(),
                                 &status.ephemeralcontainerstatuses()}) {
    for (const core_v1::ContainerStatus& container : *containers) {
      if (container.state().has_running()) return true;
    }
  }
  return false;
}

bool is_final(const core_v1::PodStatus& status) {
  return status.phase() == "Succeeded" || status.phase() == "Failed";
}

// Where the unprepare of another driver fails, kubelet says Running of a pod whose containers have
// ended.
bool has_ended(const core_v1::Pod& pod) {
  const core_v1::PodStatus& status = pod.status();
  const bool is_deleted = pod.metadata().has_deletiontimestamp();
  return (is_final(status) || is_deleted) && status.containerstatuses_size() > 0 &&
         !any_runs(status);
}

// Kubelet's rejectPod (pkg/kubelet/kubelet.go) makes a status of a phase, a reason and a message.
bool is_rejected(const core_v1::PodStatus& status) {
  return is_final(status) && status.containerstatuses_size() == 0 && !any_runs(status);
}

NodePod pod_of(const core_v1::Pod& object) {
  NodePod pod{.ns = object.metadata().namespace_(),
              .name = object.metadata().name(),
              .uid = object.metadata().uid(),
              .claims = {},
              .grace_seconds = object.spec().terminationgraceperiodseconds(),
              .has_ended = has_ended(object),
              .is_rejected = is_rejected(object.status())};
  if (!any_runs(object.status())) return pod;
  for (const core_v1::PodResourceClaim& claim : object.spec().resourceclaims()) {
    if (!claim.resourceclaimname().empty()) pod.claims.insert(claim.resourceclaimname());
  }
  return pod;
}

}  // namespace

class PodWatch::Loop {
 public:
  Loop(std::string socket, PodListener& listener)
      : socket_(std::move(socket)),
        listener_(listener),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::error_code ignored;
      if (!std::filesystem::exists(socket_, ignored)) {
        base::pause(stop, kBetweenLooks);
        continue;
      }
      is_complete_ = false;
      const grpc::Status end = watch(stop);
      if (stop.stop_requested()) return;
      listener_.on_end();
      report_end(end);
      // One that never said all is not about to.
      base::pause(stop, is_complete_ ? kBetweenWatches : kBetweenLooks);
    }
  }

  grpc::Status watch(const std::stop_token& stop) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kLargestEvent);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // as in grpc_server.cpp
    const auto channel = grpc::CreateCustomChannel(base::cat("unix:", socket_),
                                                   grpc::InsecureChannelCredentials(), arguments);
    const auto stub = v1alpha1::Pods::NewStub(channel);
    grpc::ClientContext context;
    const std::stop_callback on_stop(stop, [&context] { context.TryCancel(); });
    const auto reader = stub->WatchPods(&context, {});
    listener_.on_begin();
    v1alpha1::WatchPodsEvent event;
    while (reader->Read(&event)) take(event);
    return reader->Finish();
  }

  void take(const v1alpha1::WatchPodsEvent& event) {
    if (event.type() == v1alpha1::INITIAL_SYNC_COMPLETE) {
      is_complete_ = true;
      listener_.on_complete();
      if (!is_logged_) base::log_info("watching the pods of this node", {{"socket", socket_}});
      is_logged_ = true;
      logged_end_.clear();
      return;
    }
    core_v1::Pod object;
    // One that cannot be read is as if it had not been named.
    if (!object.ParseFromString(event.pod()) || object.metadata().uid().empty()) return;
    if (event.type() == v1alpha1::DELETED) {
      listener_.on_gone(object.metadata().uid());
    } else {
      listener_.on_pod(pod_of(object));
    }
  }

  // Once, however often it is the same.
  void report_end(const grpc::Status& end) {
    if (end.error_message() == logged_end_) return;
    logged_end_ = end.error_message();
    base::log_info("lost the watch of kubelet's pods; trying again",
                   {{"socket", socket_}, {"error", end.error_message()}});
  }

  const std::string socket_;
  PodListener& listener_;
  bool is_logged_ = false;
  bool is_complete_ = false;  // this watch has named all
  std::string logged_end_;
  std::jthread thread_;  // the last: it uses the others
};

PodWatch::PodWatch(std::string socket, PodListener& listener)
    : loop_(std::make_unique<Loop>(std::move(socket), listener)) {}

PodWatch::~PodWatch() = default;

}  // namespace cdom::dra
