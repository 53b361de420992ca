#include "dra/pods_server.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "compute_domain/base/text.h"
#include "dra_proto/core_v1.pb.h"
#include "dra_proto/pods.grpc.pb.h"

namespace cdom::dra {

namespace {

v1alpha1::EventType type_of(PodEvent event) {
  switch (event) {
    case PodEvent::Added:
      return v1alpha1::ADDED;
    case PodEvent::Modified:
      return v1alpha1::MODIFIED;
    case PodEvent::Deleted:
      return v1alpha1::DELETED;
    case PodEvent::InitialSyncComplete:
      return v1alpha1::INITIAL_SYNC_COMPLETE;
    case PodEvent::Unspecified:
      break;
  }
  return v1alpha1::UNSPECIFIED;
}

}  // namespace

std::string bytes_of(const PodText& pod) {
  ::compute_domain::core_v1::Pod object;
  object.mutable_metadata()->set_namespace_(pod.ns);
  object.mutable_metadata()->set_name(pod.name);
  object.mutable_metadata()->set_uid(pod.uid);
  object.mutable_spec()->set_terminationgraceperiodseconds(pod.grace_seconds);
  for (const std::string& claim : pod.claims) {
    auto* made = object.mutable_spec()->add_resourceclaims();
    if (!claim.empty()) made->set_resourceclaimname(claim);
  }
  object.mutable_status()->set_phase(pod.phase);
  if (pod.is_deleted) object.mutable_metadata()->mutable_deletiontimestamp();
  if (!pod.has_containers) return object.SerializeAsString();
  auto* container = object.mutable_status()->add_containerstatuses()->mutable_state();
  if (pod.container_runs) container->mutable_running();
  auto* sidecar = object.mutable_status()->add_initcontainerstatuses()->mutable_state();
  if (pod.sidecar_runs) sidecar->mutable_running();
  return object.SerializeAsString();
}

class PodsServer::Service final : public v1alpha1::Pods::Service {
 public:
  Service(const std::string& socket, bool ends) : ends_(ends) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(base::cat("unix:", socket), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Service() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status WatchPods(grpc::ServerContext* context,
                         const v1alpha1::WatchPodsRequest* /*request*/,
                         grpc::ServerWriter<v1alpha1::WatchPodsEvent>* writer) override {
    const bool is_first = begun_++ == 0;
    ++open_;
    std::size_t written = 0;
    while (!context->IsCancelled()) {
      const std::vector<v1alpha1::WatchPodsEvent> events = said(is_first);
      for (; written < events.size(); ++written) writer->Write(events[written]);
      if (ends_ || (!is_first && cuts_off_later_)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    --open_;
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "watch client channel closed"};
  }

  void say(bool is_later, PodEvent type, const std::string& pod) {
    v1alpha1::WatchPodsEvent event;
    event.set_type(type_of(type));
    event.set_pod(pod);
    const std::lock_guard lock(mutex_);
    (is_later ? later_ : events_).push_back(event);
  }
  void cut_off_later() { cuts_off_later_ = true; }
  [[nodiscard]] int begun() const { return begun_; }
  [[nodiscard]] int open() const { return open_; }

 private:
  std::vector<v1alpha1::WatchPodsEvent> said(bool is_first) {
    const std::lock_guard lock(mutex_);
    return is_first || later_.empty() ? events_ : later_;
  }

  const bool ends_;
  std::atomic<bool> cuts_off_later_ = false;
  std::atomic<int> begun_ = 0, open_ = 0;
  std::mutex mutex_;
  std::vector<v1alpha1::WatchPodsEvent> events_, later_;
  std::unique_ptr<grpc::Server> server_;
};

PodsServer::PodsServer(const std::string& socket, bool ends)
    : service_(std::make_unique<Service>(socket, ends)) {}

PodsServer::~PodsServer() = default;

void PodsServer::says(PodEvent event, const std::string& pod) { service_->say(false, event, pod); }

void PodsServer::says_later(PodEvent event, const std::string& pod) {
  service_->say(true, event, pod);
}

void PodsServer::cuts_off_later() { service_->cut_off_later(); }

int PodsServer::begun() const { return service_->begun(); }

int PodsServer::open() const { return service_->open(); }

}  // namespace cdom::dra
