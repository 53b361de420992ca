// GrpcServer: a server of gRPC, and the one thread that has its calls answered.
//
// Not gRPC's callback interface: of its threads, up to sixteen, each wakes once a second to find
// that there is nothing to do, and then hears nothing for 100 ms (gRPC 1.51,
// src/cpp/common/completion_queue_cc.cc): a call that comes in these waits.
//
// How it goes: start(), UnaryCall::await() for each method, run(). gRPC gives back what it has done
// as an Event, on the server's thread; a call is there until gRPC has done all for it.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cdom::dra {

// Something that gRPC does for a call: the tag that it gives back. "false": it could not.
struct Event {
  std::function<void(bool)> done;
};

class GrpcServer {
 public:
  // `address`: where it listens, besides the connections that it is given; "": nowhere. Null when
  // gRPC cannot start it, which its own lines in the log explain.
  static std::unique_ptr<GrpcServer> start(const std::vector<grpc::Service*>& services,
                                           const std::string& address);
  // Waits for the calls that there are: each has to be answered.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  void run();
  // No further calls; those that there are have until then, and are cancelled. Waits for that.
  void shut_down(std::chrono::system_clock::time_point deadline);

  [[nodiscard]] grpc::Server& server() { return *server_; }
  [[nodiscard]] grpc::ServerCompletionQueue* queue() { return queue_.get(); }
  // Of the calls, by themselves: before run(), and then on the server's thread.
  void note_begin() { ++calls_; }
  void note_end() { --calls_; }

 private:
  GrpcServer() = default;
  void serve();

  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::size_t calls_ = 0;  // also those that gRPC has still to find
  bool has_shut_down_ = false, is_leaving_ = false;
  Event leave_{[this](bool) { is_leaving_ = true; }};
  grpc::Alarm alarm_;
  std::thread thread_;
};

// A call with one request and one response. It makes itself, and its successor when it has begun.
template <class Request, class Response>
class UnaryCall {
 public:
  // How gRPC is asked for the next call of a method, and what answers it.
  struct Method {
    std::function<void(grpc::ServerContext*, Request*, grpc::ServerAsyncResponseWriter<Response>*,
                       grpc::ServerCompletionQueue*, void*)>
        ask;
    // finish() is then called once, by any thread. It throws nothing.
    std::function<void(UnaryCall&)> handle;
  };

  static void await(GrpcServer& server, Method method) {
    new UnaryCall(server, std::make_shared<const Method>(std::move(method)));
  }
  UnaryCall(const UnaryCall&) = delete;
  UnaryCall& operator=(const UnaryCall&) = delete;

  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] Response& response() { return response_; }
  // Stopped when nobody waits for the answer any more; with stop_with() also by another.
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }
  void stop_with(const std::stop_token& other) {
    other_.emplace(other, [this] { request_stop(); });
  }
  // The last that is done with it.
  void finish(const grpc::Status& status = grpc::Status::OK) {
    writer_.Finish(response_, status, &finished_);
  }

 private:
  UnaryCall(GrpcServer& server, std::shared_ptr<const Method> method)
      : server_(server), method_(std::move(method)), writer_(&context_) {
    server_.note_begin();
    context_.AsyncNotifyWhenDone(&over_);
    method_->ask(&context_, &request_, &writer_, server_.queue(), &begun_);
  }
  ~UnaryCall() { server_.note_end(); }

  void begin(bool is_call) {
    if (!is_call) return end();  // the server ends: gRPC says nothing more of it
    new UnaryCall(server_, method_);
    method_->handle(*this);
  }
  // The client has cancelled or is gone, the deadline has passed, or it has its answer.
  void see_over() {
    if (context_.IsCancelled()) request_stop();
    is_over_ = true;
    if (is_finished_) end();
  }
  void see_finished() {
    is_finished_ = true;
    if (is_over_) end();
  }
  void end() { delete this; }
  // The answer that this brings about may end the call, and this object with it.
  void request_stop() {
    std::stop_source stop = stop_;
    stop.request_stop();
  }

  GrpcServer& server_;
  const std::shared_ptr<const Method> method_;
  grpc::ServerContext context_;
  Request request_;
  Response response_;
  grpc::ServerAsyncResponseWriter<Response> writer_;
  std::stop_source stop_;
  std::optional<std::stop_callback<std::function<void()>>> other_;
  bool is_over_ = false, is_finished_ = false;
  Event begun_{[this](bool is_call) { begin(is_call); }};
  Event over_{[this](bool) { see_over(); }};
  Event finished_{[this](bool) { see_finished(); }};
};

}  // namespace cdom::dra
