#include "dra/pods_server.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
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
    for (const auto& event : events) writer->Write(event);
    while (!ends_ && !context->IsCancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "watch client channel closed"};
  }

  std::vector<v1alpha1::WatchPodsEvent> events;

 private:
  const bool ends_;
  std::unique_ptr<grpc::Server> server_;
};

PodsServer::PodsServer(const std::string& socket, bool ends)
    : service_(std::make_unique<Service>(socket, ends)) {}

PodsServer::~PodsServer() = default;

void PodsServer::says(PodEvent event, const std::string& pod) {
  service_->events.emplace_back();
  service_->events.back().set_type(type_of(event));
  service_->events.back().set_pod(pod);
}

}  // namespace cdom::dra
