#include "dra/grpc_server.h"

#include <grpc/support/log.h>
#include <pthread.h>

#include "compute_domain/base/log.h"

namespace cdom::dra {

namespace {

// gRPC's own words are lines of our log.
void log_of_grpc(gpr_log_func_args* said) {
  const bool is_error = said->severity == GPR_LOG_SEVERITY_ERROR;
  base::log(is_error ? base::LogLevel::Error : base::LogLevel::Debug, said->message,
            {{"library", "gRPC"}});
}

}  // namespace

std::unique_ptr<GrpcServer> GrpcServer::start(const std::vector<grpc::Service*>& services,
                                              const std::string& address) {
  gpr_set_log_function(log_of_grpc);
  grpc::ServerBuilder builder;
  // Kubelet's connections stay for ever, and it pings as it likes.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  // On a socket of this machine nothing is gained by larger windows, and to find out how large they
  // should be takes a timer after each call.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  for (grpc::Service* const service : services) builder.RegisterService(service);
  if (!address.empty()) builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  std::unique_ptr<GrpcServer> made(new GrpcServer());
  made->queue_ = builder.AddCompletionQueue();
  made->server_ = builder.BuildAndStart();
  if (!made->server_) return nullptr;
  return made;
}

void GrpcServer::run() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "grpc-calls");
    serve();
  });
}

void GrpcServer::shut_down(std::chrono::system_clock::time_point deadline) {
  if (!has_shut_down_) server_->Shutdown(deadline);
  has_shut_down_ = true;
}

GrpcServer::~GrpcServer() {
  if (server_) {
    shut_down(std::chrono::system_clock::now());
    alarm_.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), &leave_);
  } else {
    is_leaving_ = true;
  }
  if (thread_.joinable()) {
    thread_.join();
  } else {
    serve();
  }
}

// What is in the queue when it ends may ask it for more, which ends the process (also gRPC's own
// answers to methods that do not exist): so it ends once it is empty.
void GrpcServer::serve() {
  void* tag = nullptr;
  bool is_ok = false;
  const auto happen = [&] { static_cast<Event*>(tag)->done(is_ok); };
  while (!is_leaving_ || calls_ > 0) {
    queue_->Next(&tag, &is_ok);
    happen();
  }
  while (queue_->AsyncNext(&tag, &is_ok, gpr_time_0(GPR_CLOCK_MONOTONIC)) ==
         grpc::CompletionQueue::GOT_EVENT) {
    happen();
  }
  queue_->Shutdown();
  while (queue_->Next(&tag, &is_ok)) happen();
}

}  // namespace cdom::dra
