#include "compute_domain/dra/pod_watch.h"

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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
// For what a watch still has to say when another has taken its place.
constexpr std::chrono::seconds kOverlap{1};
// A pod may be as large as etcd lets it be.
constexpr int kLargestEvent = 8 << 20;

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

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

// What kubelet says of a pod.
struct Word {
  NodePod pod;
  bool is_gone = false;  // then the pod has its UID only
};

// Nothing of what cannot be read, which is as if it had not been named.
std::optional<Word> word_of(const v1alpha1::WatchPodsEvent& event) {
  core_v1::Pod object;
  if (!object.ParseFromString(event.pod()) || object.metadata().uid().empty()) return std::nullopt;
  if (event.type() != v1alpha1::DELETED) return Word{.pod = pod_of(object)};
  Word gone{.pod = {}, .is_gone = true};
  gone.pod.uid = object.metadata().uid();
  return gone;
}

// One call of WatchPods. The queue gives it back for each of its steps, the last time when it is
// over.
class Stream {
 public:
  enum class News { None, Event, Over };

  Stream(v1alpha1::Pods::Stub& stub, grpc::CompletionQueue& queue)
      : reader_(stub.PrepareAsyncWatchPods(&context_, {}, &queue)) {
    reader_->StartCall(this);
  }

  // What the step was that the queue has given back. After an event read() goes on.
  News take(bool is_ok) {
    if (step_ == Step::End) return News::Over;
    if (!is_ok) {
      step_ = Step::End;
      reader_->Finish(&end_, this);
      return News::None;
    }
    if (std::exchange(step_, Step::Read) == Step::Read) return News::Event;
    read();
    return News::None;
  }
  void read() { reader_->Read(&event_, this); }
  void cancel() { context_.TryCancel(); }

  [[nodiscard]] const v1alpha1::WatchPodsEvent& event() const { return event_; }
  [[nodiscard]] const grpc::Status& end() const { return end_; }

 private:
  enum class Step { Start, Read, End };

  grpc::ClientContext context_;
  const std::unique_ptr<grpc::ClientAsyncReader<v1alpha1::WatchPodsEvent>> reader_;
  Step step_ = Step::Start;
  v1alpha1::WatchPodsEvent event_;
  grpc::Status end_;
};

}  // namespace

class PodWatch::Loop {
 public:
  Loop(std::string socket, PodListener& listener)
      : socket_(std::move(socket)),
        listener_(listener),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Loop() {
    thread_.request_stop();
    thread_.join();
    queue_.Shutdown();
    void* tag = nullptr;
    bool is_ok = false;
    while (queue_.Next(&tag, &is_ok)) continue;
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void renew() {
    is_renewal_asked_ = true;
    wake();
  }

 private:
  using Clock = std::chrono::system_clock;  // as gRPC has its deadlines

  void run(const std::stop_token& stop) {
    bool was_missing = false;
    while (!stop.stop_requested()) {
      if (!is_there(socket_)) {
        const bool has_folder = is_there(std::filesystem::path(socket_).parent_path());
        if (std::exchange(was_missing, true) || !has_folder) listener_.on_none();
        base::pause(stop, kBetweenLooks);
        continue;
      }
      was_missing = false;
      is_complete_ = false;
      const grpc::Status end = watch(stop);
      if (stop.stop_requested()) return;
      listener_.on_end();
      if (end.error_code() == grpc::StatusCode::UNIMPLEMENTED) listener_.on_none();
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
    grpc::Status end;
    watch_ = std::make_unique<Stream>(*stub, queue_);
    listener_.on_begin();
    const std::stop_callback on_stop(stop, [this] { wake(); });
    while (watch_ || renewal_ || old_) {
      void* tag = nullptr;
      bool is_ok = false;
      const auto deadline = old_ends_.value_or(Clock::time_point::max());
      if (queue_.AsyncNext(&tag, &is_ok, deadline) == grpc::CompletionQueue::TIMEOUT) {
        end_old();
      } else if (tag == &alarm_) {
        is_woken_ = false;
        const bool is_asked = is_renewal_asked_.exchange(false);
        if (stop.stop_requested()) {
          cancel_all();
        } else if (is_asked) {
          begin_renewal(*stub);
        }
      } else {
        step(static_cast<Stream*>(tag), is_ok, end);
      }
    }
    return end;
  }

  // From any thread: the loop looks at what it is asked for.
  void wake() {
    if (is_woken_.exchange(true)) return;
    alarm_.Set(&queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), &alarm_);
  }

  void begin_renewal(v1alpha1::Pods::Stub& stub) {
    if (!watch_ || !is_complete_ || renewal_ || old_) return;
    held_back_.clear();
    renewal_ = std::make_unique<Stream>(stub, queue_);
  }

  void step(Stream* stream, bool is_ok, grpc::Status& end) {
    const Stream::News news = stream->take(is_ok);
    if (news == Stream::News::Event) {
      see(*stream);
      stream->read();
    } else if (news == Stream::News::Over) {
      if (stream == watch_.get()) end = stream->end();
      forget(stream);
    }
  }

  void forget(Stream* stream) {
    if (stream == old_.get()) {
      old_.reset();
      old_ends_.reset();
    } else if (stream == renewal_.get()) {
      // Nothing of it was passed on.
      renewal_.reset();
    } else {
      watch_.reset();
      cancel_all();
    }
  }

  void cancel_all() {
    for (Stream* stream : {watch_.get(), renewal_.get(), old_.get()}) {
      if (stream != nullptr) stream->cancel();
    }
  }

  void end_old() {
    old_ends_.reset();
    if (old_) old_->cancel();
  }

  void see(const Stream& stream) {
    if (stream.event().type() == v1alpha1::INITIAL_SYNC_COMPLETE) {
      if (&stream == watch_.get()) complete();
      if (&stream == renewal_.get()) complete_renewal();
      return;
    }
    std::optional<Word> word = word_of(stream.event());
    if (!word) return;
    if (&stream == renewal_.get()) {
      held_back_.push_back(*std::move(word));
    } else if (&stream == watch_.get() || word->is_gone || word->pod.has_ended) {
      pass_on(*word);
    }
  }

  void pass_on(const Word& word) {
    word.is_gone ? listener_.on_gone(word.pod.uid) : listener_.on_pod(word.pod);
  }

  void complete() {
    is_complete_ = true;
    listener_.on_complete();
    if (!is_logged_) base::log_info("watching the pods of this node", {{"socket", socket_}});
    is_logged_ = true;
    logged_end_.clear();
  }

  // What the watch before says from here on may be older than what this one says; but what has
  // ended has.
  void complete_renewal() {
    for (const Word& word : std::exchange(held_back_, {})) pass_on(word);
    old_ = std::move(watch_);
    watch_ = std::move(renewal_);
    old_ends_ = Clock::now() + kOverlap;
    base::log_debug("kubelet has named the pods of this node again", {{"socket", socket_}});
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
  std::atomic<bool> is_renewal_asked_ = false, is_woken_ = false;
  grpc::CompletionQueue queue_;
  grpc::Alarm alarm_;
  // The one that counts; one that has not named all yet; one whose place another has taken.
  std::unique_ptr<Stream> watch_, renewal_, old_;
  std::vector<Word> held_back_;                // what `renewal_` has said
  std::optional<Clock::time_point> old_ends_;  // when `old_` is cancelled
  std::jthread thread_;                        // the last: it uses the others
};

PodWatch::PodWatch(std::string socket, PodListener& listener)
    : loop_(std::make_unique<Loop>(std::move(socket), listener)) {}

PodWatch::~PodWatch() = default;

void PodWatch::renew() { loop_->renew(); }

}  // namespace cdom::dra
