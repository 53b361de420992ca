#include "dra/services.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "dra/claim_request.h"
#include "dra/grpc_server.h"
#include "dra/health_streams.h"
#include "dra/wire_text.h"
#include "dra_proto/health.grpc.pb.h"
#include "dra_proto/health_v1.grpc.pb.h"
#include "dra_proto/liveness.grpc.pb.h"
#include "dra_proto/registration.grpc.pb.h"
#include "dra_proto/v1.grpc.pb.h"
#include "dra_proto/v1beta1.grpc.pb.h"

namespace cdom::dra {

namespace {

namespace v1 = ::k8s::io::kubelet::pkg::apis::dra::v1;
namespace v1beta1 = ::k8s::io::kubelet::pkg::apis::dra::v1beta1;
namespace registrar = ::pluginregistration;
namespace liveness = ::grpc::health::v1;

// Kubelet takes what is older for Unknown.
constexpr std::int64_t kHealthIsGoodForSeconds = 30;
constexpr std::size_t kLongestHealthMessage = 1024;
// One more than an object's may have: enough to see that it is none.
constexpr std::size_t kLongestName = 254;

// Has `handle` answer each call of a method, at once.
template <class Service, class Owner, class Request, class Response, class Handle>
void answer(GrpcServer& server, Service& service,
            void (Owner::*ask)(grpc::ServerContext*, Request*,
                               grpc::ServerAsyncResponseWriter<Response>*, grpc::CompletionQueue*,
                               grpc::ServerCompletionQueue*, void*),
            Handle handle) {
  using Call = UnaryCall<Request, Response>;
  Call::await(server, {.ask =
                           [&service, ask](auto* context, auto* request, auto* writer, auto* queue,
                                           void* tag) {
                             (service.*ask)(context, request, writer, queue, queue, tag);
                           },
                       .handle = std::move(handle)});
}

// ---- Registration

class RegistrationService {
 public:
  RegistrationService(std::string driver_name, std::string endpoint)
      : driver_name_(std::move(driver_name)), endpoint_(std::move(endpoint)) {}

  [[nodiscard]] grpc::Service* service() { return &service_; }
  void answer_calls(GrpcServer& server) {
    answer(server, service_, &Async::RequestGetInfo, [this](auto& call) {
      introduce(call.response());
      call.finish();
    });
    answer(server, service_, &Async::RequestNotifyRegistrationStatus, [this](auto& call) {
      hear(call.request());
      call.finish();
    });
  }

  [[nodiscard]] Registration said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }

 private:
  using Async = registrar::Registration::AsyncService;

  void introduce(registrar::PluginInfo& info) {
    {
      const std::lock_guard lock(mutex_);
      before_question_ = std::exchange(said_, {});
    }
    info.set_type("DRAPlugin");
    info.set_name(driver_name_);
    info.set_endpoint(endpoint_);
    // The first that it knows is the one that kubelet speaks.
    for (const char* version : {"v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth",
                                "v1alpha1.DRAResourceHealth"}) {
      info.add_supported_versions(version);
    }
  }

  void hear(const registrar::RegistrationStatus& status) {
    Registration said{.state = Registration::State::Registered, .error = {}};
    if (!status.plugin_registered()) {
      said = {.state = Registration::State::Refused, .error = status.error()};
    }
    Registration before;
    {
      const std::lock_guard lock(mutex_);
      before = said_.state == Registration::State::Awaited ? before_question_ : said_;
      said_ = said;
    }
    if (status.plugin_registered()) {
      base::log_info("registered with kubelet", {{"driver", driver_name_}});
    } else if (before != said) {
      // It tries again with a backoff: only news is logged.
      base::log_error("kubelet refuses the plugin: is another one registered for this driver?",
                      {{"driver", driver_name_}, {"error", status.error()}});
    }
  }

  const std::string driver_name_, endpoint_;
  Async service_;
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

template <class Async>
class DraService {
 public:
  DraService(Driver& driver, std::stop_token end) : driver_(driver), end_(std::move(end)) {}

  [[nodiscard]] grpc::Service* service() { return &service_; }
  void answer_calls(GrpcServer& server) {
    answer(server, service_, &Async::RequestNodePrepareResources, [this](auto& call) {
      this->pass_on(call, Operation::Prepare, [](const ClaimAnswer& answer, auto& out) {
        if (!answer.error.empty()) out.set_error(wire_text(answer.error));
        for (const PreparedDevice& device : answer.devices) write(device, *out.add_devices());
      });
    });
    answer(server, service_, &Async::RequestNodeUnprepareResources, [this](auto& call) {
      this->pass_on(call, Operation::Unprepare, [](const ClaimAnswer& answer, auto& out) {
        out.set_error(wire_text(answer.error));
      });
    });
  }

 private:
  // The call ends with the answer to the last of its claims, also when nobody waits for it.
  template <class Call, class Write>
  void pass_on(Call& call, Operation operation, const Write& write_answer) {
    // When the plugin ends, the driver learns that nobody waits.
    call.stop_with(end_);
    post_request(driver_, operation, claims_of(call.request()), call.stop(),
                 [&call, write_answer](const ClaimAnswers& answers) {
                   for (const auto& [uid, answer] : answers) {
                     write_answer(answer, (*call.response().mutable_claims())[uid]);
                   }
                   call.finish();
                 });
  }

  Driver& driver_;
  const std::stop_token end_;
  Async service_;
};

using DraV1 = DraService<v1::DRAPlugin::AsyncService>;
using DraV1beta1 = DraService<v1beta1::DRAPlugin::AsyncService>;

// ---- Health of devices

// The service of Kubernetes 1.37, and that of older kubelets: the same messages in two packages.
struct HealthV1 {
  using Service = ::v1::DRAResourceHealth::AsyncService;
  using Request = ::v1::NodeWatchResourcesRequest;
  using Response = ::v1::NodeWatchResourcesResponse;
  static constexpr auto kHealthy = ::v1::HEALTHY, kUnhealthy = ::v1::UNHEALTHY,
                        kUnknown = ::v1::UNKNOWN;
};
struct HealthV1alpha1 {
  using Service = ::v1alpha1::DRAResourceHealth::AsyncService;
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

// A call of one who watches. It makes itself, and its successor when it has begun.
template <typename Version>
class Watcher final : public HealthStream {
 public:
  using Service = typename Version::Service;

  static void await(GrpcServer& server, Service& service, HealthStreams& streams) {
    new Watcher(server, service, streams);
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

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
    writer_.Write(message_, &written_);
  }
  void finish() override {
    writer_.Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the plugin ends"), &finished_);
  }

 private:
  Watcher(GrpcServer& server, Service& service, HealthStreams& streams)
      : server_(server), service_(service), streams_(streams), writer_(&context_) {
    server_.note_begin();
    context_.AsyncNotifyWhenDone(&over_);
    service_.RequestNodeWatchResources(&context_, &request_, &writer_, server_.queue(),
                                       server_.queue(), &begun_);
  }
  ~Watcher() override { server_.note_end(); }

  void begin(bool is_call) {
    if (!is_call) {  // the server ends: gRPC says nothing more of it
      delete this;
      return;
    }
    await(server_, service_, streams_);
    streams_.open(*this);
  }
  void see_over() {
    is_over_ = true;
    if (is_finished_) return end();
    streams_.gone(*this);
  }
  void see_finished() {
    is_finished_ = true;
    if (is_over_) end();
  }
  void end() {
    streams_.closed(*this);
    delete this;
  }

  GrpcServer& server_;
  Service& service_;
  HealthStreams& streams_;
  grpc::ServerContext context_;
  typename Version::Request request_;
  typename Version::Response message_;
  grpc::ServerAsyncWriter<typename Version::Response> writer_;
  bool is_over_ = false, is_finished_ = false;
  Event begun_{[this](bool is_call) { begin(is_call); }};
  Event written_{[this](bool is_ok) { streams_.written(*this, is_ok); }};
  Event over_{[this](bool) { see_over(); }};
  Event finished_{[this](bool) { see_finished(); }};
};

// ---- Whether the plugin serves

class LivenessService {
 public:
  [[nodiscard]] grpc::Service* service() { return &service_; }
  void answer_calls(GrpcServer& server) {
    answer(server, service_, &liveness::Health::AsyncService::RequestCheck, [this](auto& call) {
      const std::string& asked = call.request().service();
      if (!asked.empty() && asked != "liveness") {
        return call.finish(grpc::Status(grpc::StatusCode::NOT_FOUND, "there is no such service"));
      }
      call.response().set_status(is_serving_ ? liveness::HealthCheckResponse::SERVING
                                             : liveness::HealthCheckResponse::NOT_SERVING);
      call.finish();
    });
  }
  void set(bool is_serving) { is_serving_ = is_serving; }

 private:
  liveness::Health::AsyncService service_;
  std::atomic<bool> is_serving_ = true;
};

}  // namespace

struct Services::Parts {
  Parts(const std::string& driver_name, const std::string& endpoint, Driver& driver,
        const base::Clock& clock)
      : registration(driver_name, endpoint),
        v1(driver, end.get_token()),
        v1beta1(driver, end.get_token()),
        streams(clock) {}

  // A service is one server's.
  std::stop_source end;
  RegistrationService registration;
  DraV1 v1;
  DraV1beta1 v1beta1;
  HealthStreams streams;
  HealthV1::Service health_v1;
  HealthV1alpha1::Service health_v1alpha1;
  LivenessService registration_liveness, dra_liveness, liveness;
  std::unique_ptr<GrpcServer> registration_server, dra_server,
      liveness_server;  // the last: or none

  [[nodiscard]] std::vector<GrpcServer*> servers() const {
    std::vector<GrpcServer*> all{registration_server.get(), dra_server.get()};
    if (liveness_server) all.push_back(liveness_server.get());
    return all;
  }
  void answer_calls() {
    registration.answer_calls(*registration_server);
    registration_liveness.answer_calls(*registration_server);
    v1.answer_calls(*dra_server);
    v1beta1.answer_calls(*dra_server);
    dra_liveness.answer_calls(*dra_server);
    Watcher<HealthV1>::await(*dra_server, health_v1, streams);
    Watcher<HealthV1alpha1>::await(*dra_server, health_v1alpha1, streams);
    if (liveness_server) liveness.answer_calls(*liveness_server);
    for (GrpcServer* const server : servers()) server->run();
  }
};

base::Result<std::unique_ptr<Services>> Services::start(const PluginOptions& options,
                                                        const std::string& endpoint, Driver& driver,
                                                        const base::Clock& clock) {
  auto parts = std::make_unique<Parts>(options.driver, endpoint, driver, clock);
  parts->registration_server = GrpcServer::start(
      {parts->registration.service(), parts->registration_liveness.service()}, "");
  parts->dra_server =
      GrpcServer::start({parts->v1.service(), parts->v1beta1.service(), &parts->health_v1,
                         &parts->health_v1alpha1, parts->dra_liveness.service()},
                        "");
  if (!parts->registration_server || !parts->dra_server) {
    return base::Error{base::ErrorKind::Unavailable,
                       base::cat("gRPC cannot start the servers of ", options.driver,
                                 ": the lines of gRPC before this one say why")};
  }
  if (!options.health_listen.empty()) {
    parts->liveness_server = GrpcServer::start({parts->liveness.service()}, options.health_listen);
    if (!parts->liveness_server) {
      return base::Error{base::ErrorKind::Unavailable,
                         base::cat("cannot answer health checks at ", options.health_listen,
                                   ": the lines of gRPC before this one say why; give a port "
                                   "that is free")};
    }
  }
  parts->answer_calls();
  return std::unique_ptr<Services>(new Services(std::move(parts)));
}

Services::Services(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Services::~Services() {
  parts_->end.request_stop();
  parts_->streams.end();
  // Answers that are on their way still get there.
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
  for (GrpcServer* const server : parts_->servers()) server->shut_down(deadline);
}

void Services::serve_registration(base::Descriptor connection) {
  grpc::AddInsecureChannelFromFd(&parts_->registration_server->server(), connection.release());
}
void Services::serve_dra(base::Descriptor connection) {
  grpc::AddInsecureChannelFromFd(&parts_->dra_server->server(), connection.release());
}

void Services::set_health(std::vector<DeviceHealth> devices) {
  parts_->streams.set(std::move(devices));
}
void Services::repeat_health() { parts_->streams.repeat(); }

void Services::set_serving(bool is_serving) {
  for (LivenessService* const service :
       {&parts_->registration_liveness, &parts_->dra_liveness, &parts_->liveness}) {
    service->set(is_serving);
  }
}

Registration Services::registration() const { return parts_->registration.said(); }

}  // namespace cdom::dra
