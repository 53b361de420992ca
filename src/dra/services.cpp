#include "dra/services.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_posix.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "dra/claim_request.h"
#include "dra/health_streams.h"
#include "dra/wire_text.h"
#include "dra_proto/health.grpc.pb.h"
#include "dra_proto/health_v1.grpc.pb.h"
#include "dra_proto/registration.grpc.pb.h"
#include "dra_proto/v1.grpc.pb.h"
#include "dra_proto/v1beta1.grpc.pb.h"

namespace cdom::dra {

namespace {

namespace v1 = ::k8s::io::kubelet::pkg::apis::dra::v1;
namespace v1beta1 = ::k8s::io::kubelet::pkg::apis::dra::v1beta1;
namespace registrar = ::pluginregistration;

// Kubelet takes what is older for Unknown.
constexpr std::int64_t kHealthIsGoodForSeconds = 30;
constexpr std::size_t kLongestHealthMessage = 1024;
// One more than an object's may have: enough to see that it is none.
constexpr std::size_t kLongestName = 254;

// ---- Registration

class RegistrationService final : public registrar::Registration::CallbackService {
 public:
  RegistrationService(std::string driver_name, std::string endpoint)
      : driver_name_(std::move(driver_name)), endpoint_(std::move(endpoint)) {}

  grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* context,
                                    const registrar::InfoRequest* /*request*/,
                                    registrar::PluginInfo* info) override {
    {
      const std::lock_guard lock(mutex_);
      before_question_ = std::exchange(said_, {});
    }
    info->set_type("DRAPlugin");
    info->set_name(driver_name_);
    info->set_endpoint(endpoint_);
    // The first that it knows is the one that kubelet speaks.
    for (const char* version : {"v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth",
                                "v1alpha1.DRAResourceHealth"}) {
      info->add_supported_versions(version);
    }
    return finished(context);
  }

  grpc::ServerUnaryReactor* NotifyRegistrationStatus(
      grpc::CallbackServerContext* context, const registrar::RegistrationStatus* status,
      registrar::RegistrationStatusResponse* /*response*/) override {
    Registration said{.state = Registration::State::Registered, .error = {}};
    if (!status->plugin_registered()) {
      said = {.state = Registration::State::Refused, .error = status->error()};
    }
    Registration before;
    {
      const std::lock_guard lock(mutex_);
      before = said_.state == Registration::State::Awaited ? before_question_ : said_;
      said_ = said;
    }
    if (status->plugin_registered()) {
      base::log_info("registered with kubelet", {{"driver", driver_name_}});
    } else if (before != said) {
      // It tries again with a backoff: only news is logged.
      base::log_error("kubelet refuses the plugin: is another one registered for this driver?",
                      {{"driver", driver_name_}, {"error", status->error()}});
    }
    return finished(context);
  }

  [[nodiscard]] Registration said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }

 private:
  static grpc::ServerUnaryReactor* finished(grpc::CallbackServerContext* context) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  const std::string driver_name_, endpoint_;
  mutable std::mutex mutex_;
  Registration said_, before_question_;
};

// ---- Claims, in both versions

template <class Request>
std::vector<Claim> claims_of(const Request& request) {
  std::vector<Claim> claims;
  claims.reserve(static_cast<std::size_t>(request.claims_size()));
  for (const auto& claim : request.claims()) {
    claims.push_back({.ns = wire_text(claim.namespace_(), kLongestName),
                      .name = wire_text(claim.name(), kLongestName),
                      .uid = claim.uid()});
  }
  return claims;
}

template <class Device>
void write(const PreparedDevice& device, Device& out) {
  for (const std::string& request : device.requests) out.add_request_names(wire_text(request));
  out.set_pool_name(wire_text(device.pool));
  out.set_device_name(wire_text(device.device));
  for (const std::string& id : device.cdi_ids) out.add_cdi_device_ids(wire_text(id));
}

// A request for claims. Ends with the answer to the last of them, also when nobody waits for it.
class ClaimsCall final : public grpc::ServerUnaryReactor {
 public:
  explicit ClaimsCall(const std::stop_token& end) : at_the_end_(end, [this] { OnCancel(); }) {}
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

 private:
  // The client has cancelled or is gone, or the deadline has passed. The replies that this brings
  // about may end the call, and this object with it.
  void OnCancel() override {
    std::stop_source stop = stop_;
    stop.request_stop();
  }
  void OnDone() override { delete this; }

  std::stop_source stop_;
  std::stop_callback<std::function<void()>> at_the_end_;
};

template <class Service, class PrepareRequest, class PrepareResponse, class UnprepareRequest,
          class UnprepareResponse>
class DraService final : public Service {
 public:
  DraService(Driver& driver, std::stop_token end) : driver_(driver), end_(std::move(end)) {}

  grpc::ServerUnaryReactor* NodePrepareResources(grpc::CallbackServerContext* /*context*/,
                                                 const PrepareRequest* request,
                                                 PrepareResponse* response) override {
    auto* const call = new ClaimsCall(end_);
    post_request(driver_, Operation::Prepare, claims_of(*request), call->stop(),
                 [call, response](const ClaimAnswers& answers) {
                   for (const auto& [uid, answer] : answers) {
                     auto& out = (*response->mutable_claims())[uid];
                     if (!answer.error.empty()) out.set_error(wire_text(answer.error));
                     for (const PreparedDevice& device : answer.devices) {
                       write(device, *out.add_devices());
                     }
                   }
                   call->Finish(grpc::Status::OK);
                 });
    return call;
  }

  grpc::ServerUnaryReactor* NodeUnprepareResources(grpc::CallbackServerContext* /*context*/,
                                                   const UnprepareRequest* request,
                                                   UnprepareResponse* response) override {
    auto* const call = new ClaimsCall(end_);
    post_request(driver_, Operation::Unprepare, claims_of(*request), call->stop(),
                 [call, response](const ClaimAnswers& answers) {
                   for (const auto& [uid, answer] : answers) {
                     (*response->mutable_claims())[uid].set_error(wire_text(answer.error));
                   }
                   call->Finish(grpc::Status::OK);
                 });
    return call;
  }

 private:
  Driver& driver_;
  const std::stop_token end_;
};

using DraV1 = DraService<v1::DRAPlugin::CallbackService, v1::NodePrepareResourcesRequest,
                         v1::NodePrepareResourcesResponse, v1::NodeUnprepareResourcesRequest,
                         v1::NodeUnprepareResourcesResponse>;
using DraV1beta1 =
    DraService<v1beta1::DRAPlugin::CallbackService, v1beta1::NodePrepareResourcesRequest,
               v1beta1::NodePrepareResourcesResponse, v1beta1::NodeUnprepareResourcesRequest,
               v1beta1::NodeUnprepareResourcesResponse>;

// ---- Health of devices

// The service of Kubernetes 1.37, and that of older kubelets: the same messages in two packages.
struct HealthV1 {
  using Service = ::v1::DRAResourceHealth::CallbackService;
  using Request = ::v1::NodeWatchResourcesRequest;
  using Response = ::v1::NodeWatchResourcesResponse;
  static constexpr auto kHealthy = ::v1::HEALTHY, kUnhealthy = ::v1::UNHEALTHY,
                        kUnknown = ::v1::UNKNOWN;
};
struct HealthV1alpha1 {
  using Service = ::v1alpha1::DRAResourceHealth::CallbackService;
  using Request = ::v1alpha1::NodeWatchResourcesRequest;
  using Response = ::v1alpha1::NodeWatchResourcesResponse;
  static constexpr auto kHealthy = ::v1alpha1::HEALTHY, kUnhealthy = ::v1alpha1::UNHEALTHY,
                        kUnknown = ::v1alpha1::UNKNOWN;
};

template <typename Version>
auto to_wire(Health state) {
  switch (state) {
    case Health::Healthy:
      return Version::kHealthy;
    case Health::Unhealthy:
      return Version::kUnhealthy;
    case Health::Unknown:
      break;
  }
  return Version::kUnknown;
}

template <typename Version>
class Watcher final : public grpc::ServerWriteReactor<typename Version::Response>,
                      public HealthStream {
 public:
  explicit Watcher(HealthStreams& streams) : streams_(streams) {}

  void write(const HealthMessage& message) override {
    message_.Clear();
    const auto as_of = std::chrono::floor<std::chrono::seconds>(message.as_of.time_since_epoch());
    for (const DeviceHealth& device : message.devices) {
      auto& out = *message_.add_devices();
      out.mutable_device()->set_pool_name(wire_text(device.pool));
      out.mutable_device()->set_device_name(wire_text(device.device));
      out.set_health(to_wire<Version>(device.health));
      out.set_last_updated_time(as_of.count());
      out.set_health_check_timeout_seconds(kHealthIsGoodForSeconds);
      out.set_message(wire_text(device.message, kLongestHealthMessage));
    }
    this->StartWrite(&message_);
  }
  void finish() override {
    this->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the plugin ends"));
  }

 private:
  void OnWriteDone(bool ok) override { streams_.written(*this, ok); }
  void OnCancel() override { streams_.gone(*this); }
  void OnDone() override {
    streams_.closed(*this);
    delete this;
  }

  HealthStreams& streams_;
  typename Version::Response message_;
};

template <typename Version>
class HealthService final : public Version::Service {
 public:
  explicit HealthService(HealthStreams& streams) : streams_(streams) {}

  grpc::ServerWriteReactor<typename Version::Response>* NodeWatchResources(
      grpc::CallbackServerContext* /*context*/,
      const typename Version::Request* /*request*/) override {
    auto* const watcher = new Watcher<Version>(streams_);
    streams_.open(*watcher);
    return watcher;
  }

 private:
  HealthStreams& streams_;
};

// gRPC's own words are lines of our log.
void log_of_grpc(gpr_log_func_args* said) {
  const bool is_error = said->severity == GPR_LOG_SEVERITY_ERROR;
  base::log(is_error ? base::LogLevel::Error : base::LogLevel::Debug, said->message,
            {{"library", "gRPC"}});
}

void configure(grpc::ServerBuilder& builder) {
  gpr_set_log_function(log_of_grpc);
  grpc::EnableDefaultHealthCheckService(true);
  // Kubelet's connections stay for ever, and it pings as it likes.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

// A server without an address: it is given connections.
std::unique_ptr<grpc::Server> serve(const std::vector<grpc::Service*>& services) {
  grpc::ServerBuilder builder;
  configure(builder);
  for (grpc::Service* const service : services) builder.RegisterService(service);
  return builder.BuildAndStart();
}

// Only health. Without a service of somebody else gRPC starts no server.
std::unique_ptr<grpc::Server> serve_health_at(const std::string& address,
                                              grpc::CallbackGenericService& unimplemented) {
  grpc::ServerBuilder builder;
  configure(builder);
  builder.RegisterCallbackGenericService(&unimplemented);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  return builder.BuildAndStart();
}

}  // namespace

struct Services::Parts {
  Parts(const std::string& driver_name, const std::string& endpoint, Driver& driver,
        const base::Clock& clock)
      : registration(driver_name, endpoint),
        v1(driver, end.get_token()),
        v1beta1(driver, end.get_token()),
        streams(clock) {}

  std::stop_source end;
  RegistrationService registration;
  DraV1 v1;
  DraV1beta1 v1beta1;
  HealthStreams streams;
  HealthService<HealthV1> health_v1{streams};
  HealthService<HealthV1alpha1> health_v1alpha1{streams};
  std::unique_ptr<grpc::Server> registration_server, dra_server;
  grpc::CallbackGenericService unimplemented;
  std::unique_ptr<grpc::Server> health_server;  // or none

  [[nodiscard]] std::vector<grpc::Server*> servers() const {
    std::vector<grpc::Server*> all{registration_server.get(), dra_server.get()};
    if (health_server) all.push_back(health_server.get());
    return all;
  }
};

base::Result<std::unique_ptr<Services>> Services::start(const PluginOptions& options,
                                                        const std::string& endpoint, Driver& driver,
                                                        const base::Clock& clock) {
  auto parts = std::make_unique<Parts>(options.driver, endpoint, driver, clock);
  parts->registration_server = serve({&parts->registration});
  parts->dra_server =
      serve({&parts->v1, &parts->v1beta1, &parts->health_v1, &parts->health_v1alpha1});
  if (!parts->registration_server || !parts->dra_server) {
    return base::Error{base::ErrorKind::Unavailable,
                       base::cat("gRPC cannot start the servers of ", options.driver,
                                 ": the lines of gRPC before this one say why")};
  }
  if (!options.health_listen.empty()) {
    parts->health_server = serve_health_at(options.health_listen, parts->unimplemented);
    if (!parts->health_server) {
      return base::Error{base::ErrorKind::Unavailable,
                         base::cat("cannot answer health checks at ", options.health_listen,
                                   ": the lines of gRPC before this one say why; give a port "
                                   "that is free")};
    }
  }
  std::unique_ptr<Services> services(new Services(std::move(parts)));
  services->set_serving(true);
  return services;
}

Services::Services(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Services::~Services() {
  parts_->end.request_stop();
  parts_->streams.end();
  // Answers that are on their way still get there.
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
  for (grpc::Server* const server : parts_->servers()) server->Shutdown(deadline);
}

void Services::serve_registration(base::Descriptor connection) {
  grpc::AddInsecureChannelFromFd(parts_->registration_server.get(), connection.release());
}
void Services::serve_dra(base::Descriptor connection) {
  grpc::AddInsecureChannelFromFd(parts_->dra_server.get(), connection.release());
}

void Services::set_health(std::vector<DeviceHealth> devices) {
  parts_->streams.set(std::move(devices));
}
void Services::repeat_health() { parts_->streams.repeat(); }

void Services::set_serving(bool is_serving) {
  for (grpc::Server* const server : parts_->servers()) {
    grpc::HealthCheckServiceInterface* const service = server->GetHealthCheckService();
    service->SetServingStatus("liveness", is_serving);
    service->SetServingStatus(is_serving);  // of all that are known
  }
}

Registration Services::registration() const { return parts_->registration.said(); }

}  // namespace cdom::dra
