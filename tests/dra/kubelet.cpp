#include "dra/kubelet.h"

#include <fcntl.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "compute_domain/base/descriptor.h"
#include "dra_proto/health.grpc.pb.h"
#include "dra_proto/health_v1.grpc.pb.h"
#include "dra_proto/registration.grpc.pb.h"
#include "dra_proto/v1.grpc.pb.h"
#include "dra_proto/v1beta1.grpc.pb.h"

namespace cdom::dra {

namespace {

namespace v1 = ::k8s::io::kubelet::pkg::apis::dra::v1;
namespace v1beta1 = ::k8s::io::kubelet::pkg::apis::dra::v1beta1;

// -1 when nobody listens: every call is then Unavailable.
int connected(const std::string& path) {
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return -1;
  fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  return socket.release();
}

template <class Request>
Request request_for(const std::vector<Claim>& claims) {
  Request request;
  for (const Claim& claim : claims) {
    auto& out = *request.add_claims();
    out.set_namespace_(claim.ns);
    out.set_name(claim.name);
    out.set_uid(claim.uid);
  }
  return request;
}

template <class Entry>
ClaimAnswer read(const Entry& entry) {
  ClaimAnswer answer{.error = entry.error(), .devices = {}};
  if constexpr (requires { entry.devices(); }) {
    for (const auto& device : entry.devices()) {
      answer.devices.push_back(
          {.requests = {device.request_names().begin(), device.request_names().end()},
           .pool = device.pool_name(),
           .device = device.device_name(),
           .cdi_ids = {device.cdi_device_ids().begin(), device.cdi_device_ids().end()}});
    }
  }
  return answer;
}

void limit(grpc::ClientContext& context, std::chrono::milliseconds timeout) {
  context.set_deadline(std::chrono::system_clock::now() + timeout);
}

template <class Request, class Response, class Stub, class Method>
Answer call(Stub& stub, Method method, const std::vector<Claim>& claims,
            const CallOptions& options) {
  grpc::ClientContext context;
  limit(context, options.timeout);
  const std::stop_callback cancel(options.cancel, [&] { context.TryCancel(); });
  Response response;
  const grpc::Status status = (stub.*method)(&context, request_for<Request>(claims), &response);
  Answer answer{.code = status.error_code(), .message = status.error_message(), .claims = {}};
  for (const auto& [uid, entry] : response.claims()) answer.claims.emplace(uid, read(entry));
  return answer;
}

// The two packages number the states alike.
Health read_health(int number) {
  return number == ::v1::HEALTHY     ? Health::Healthy
         : number == ::v1::UNHEALTHY ? Health::Unhealthy
                                     : Health::Unknown;
}

template <typename Stub, typename Response>
class GrpcHealthWatch : public HealthWatch {
 public:
  explicit GrpcHealthWatch(Stub& stub) {
    limit(context_, std::chrono::seconds(10));
    reader_ = stub.NodeWatchResources(&context_, {});
  }
  ~GrpcHealthWatch() override {
    context_.TryCancel();
    GrpcHealthWatch::code();
  }

  std::optional<std::vector<StreamedHealth>> next() override {
    Response message;
    if (!reader_->Read(&message)) return std::nullopt;
    std::vector<StreamedHealth> out;
    for (const auto& device : message.devices()) {
      out.push_back({.device = {.pool = device.device().pool_name(),
                                .device = device.device().device_name(),
                                .health = read_health(device.health()),
                                .message = device.message()},
                     .updated = device.last_updated_time(),
                     .good_for_seconds = device.health_check_timeout_seconds()});
    }
    return out;
  }
  int code() override {
    if (!code_) code_ = reader_->Finish().error_code();
    return *code_;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<Response>> reader_;
  std::optional<int> code_;
};

bool is_healthy(const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
  // grpc.health.v1.HealthCheckRequest { string service = 1; }, and SERVING is {1: 1}.
  std::string bytes;
  if (!service.empty()) bytes = std::string("\x0a") + static_cast<char>(service.size()) + service;
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  limit(context, std::chrono::seconds(10));
  grpc::CompletionQueue queue;
  auto reader = grpc::GenericStub(channel).PrepareUnaryCall(
      &context, "/grpc.health.v1.Health/Check", request, &queue);
  reader->StartCall();
  grpc::Status status;
  reader->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  grpc::Slice answer;
  return status.ok() && response.DumpToSingleSlice(&answer).ok() &&
         std::string(answer.begin(), answer.end()) == "\x08\x01";
}

}  // namespace

struct Kubelet::Stubs {
  Stubs(int fd, std::shared_ptr<grpc::Channel> to) : connection(dup(fd)), channel(std::move(to)) {}

  base::Descriptor connection;
  std::shared_ptr<grpc::Channel> channel;
  pluginregistration::Registration::Stub registration{channel};
  v1::DRAPlugin::Stub v1_plugin{channel};
  v1beta1::DRAPlugin::Stub v1beta1_plugin{channel};
  ::v1::DRAResourceHealth::Stub health_v1{channel};
  v1alpha1::DRAResourceHealth::Stub health_v1alpha1{channel};
};

Kubelet::Kubelet(const std::string& socket, const std::string& authority)
    : stubs_([&] {
        const int fd = connected(socket);
        grpc::ChannelArguments arguments;
        arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, authority);
        return std::make_unique<Stubs>(
            fd, fd < 0 ? grpc::CreateCustomChannel("unix:" + socket,
                                                   grpc::InsecureChannelCredentials(), arguments)
                       : grpc::CreateCustomInsecureChannelFromFd("kubelet", fd, arguments));
      }()) {}
Kubelet::~Kubelet() = default;

Info Kubelet::get_info() {
  grpc::ClientContext context;
  limit(context, std::chrono::seconds(10));
  pluginregistration::PluginInfo info;
  const grpc::Status status = stubs_->registration.GetInfo(&context, {}, &info);
  return {.code = status.error_code(),
          .type = info.type(),
          .name = info.name(),
          .endpoint = info.endpoint(),
          .versions = {info.supported_versions().begin(), info.supported_versions().end()}};
}

int Kubelet::notify(bool is_registered, const std::string& error) {
  grpc::ClientContext context;
  limit(context, std::chrono::seconds(10));
  pluginregistration::RegistrationStatus status;
  status.set_plugin_registered(is_registered);
  status.set_error(error);
  pluginregistration::RegistrationStatusResponse response;
  return stubs_->registration.NotifyRegistrationStatus(&context, status, &response).error_code();
}

Answer Kubelet::prepare(const std::vector<Claim>& claims, const CallOptions& options) {
  if (options.api == Api::V1) {
    return call<v1::NodePrepareResourcesRequest, v1::NodePrepareResourcesResponse>(
        stubs_->v1_plugin, &v1::DRAPlugin::Stub::NodePrepareResources, claims, options);
  }
  return call<v1beta1::NodePrepareResourcesRequest, v1beta1::NodePrepareResourcesResponse>(
      stubs_->v1beta1_plugin, &v1beta1::DRAPlugin::Stub::NodePrepareResources, claims, options);
}

Answer Kubelet::unprepare(const std::vector<Claim>& claims, const CallOptions& options) {
  if (options.api == Api::V1) {
    return call<v1::NodeUnprepareResourcesRequest, v1::NodeUnprepareResourcesResponse>(
        stubs_->v1_plugin, &v1::DRAPlugin::Stub::NodeUnprepareResources, claims, options);
  }
  return call<v1beta1::NodeUnprepareResourcesRequest, v1beta1::NodeUnprepareResourcesResponse>(
      stubs_->v1beta1_plugin, &v1beta1::DRAPlugin::Stub::NodeUnprepareResources, claims, options);
}

std::unique_ptr<HealthWatch> Kubelet::watch_health(HealthApi api) {
  if (api == HealthApi::V1) {
    return std::make_unique<
        GrpcHealthWatch<::v1::DRAResourceHealth::Stub, ::v1::NodeWatchResourcesResponse>>(
        stubs_->health_v1);
  }
  return std::make_unique<
      GrpcHealthWatch<v1alpha1::DRAResourceHealth::Stub, v1alpha1::NodeWatchResourcesResponse>>(
      stubs_->health_v1alpha1);
}

bool Kubelet::is_serving(const std::string& service) {
  return is_healthy(stubs_->channel, service);
}

bool is_serving_at(const std::string& address, const std::string& service) {
  return is_healthy(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()), service);
}

void Kubelet::lose_connection() { shutdown(stubs_->connection.get(), SHUT_RDWR); }

}  // namespace cdom::dra
