#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>  // boost/asio/awaitable.hpp lacks it

#include <pplx/pplx.h>
#include <pplx/threadpool.h>

#include "compute_domain/base/descriptor_limit.h"
#include "compute_domain/http/client.h"

namespace cdom::http {
namespace {

constexpr std::size_t kThreads = 2;  // the default of 40 costs a factor of five on a stream
constexpr std::chrono::seconds kLongestEnd{2};

using Deadline = std::chrono::steady_clock::time_point;

boost::asio::io_service& pool() { return crossplat::threadpool::shared_instance().service(); }

// Runs the library's tasks on its own pool, and knows how many there are: the pool forgets, and
// leaks, those that have not run when the process ends.
class CountedTasks final : public pplx::scheduler_interface {
 public:
  void schedule(pplx::TaskProc_t task, void* argument) override {
    add(1);
    pool().post([this, task, argument] {
      task(argument);
      add(-1);
    });
  }

  // Until nothing runs and nothing is to run; not for ever, as the process wants to end.
  void drain() {
    const auto deadline = std::chrono::steady_clock::now() + kLongestEnd;
    std::unique_lock lock(mutex_);
    do {
      if (!changed_.wait_until(lock, deadline, [this] { return tasks_ == 0; })) return;
      if (!all_threads_meet(lock, deadline)) return;
    } while (tasks_ > 0);
  }

 private:
  void add(int tasks) {
    const std::lock_guard lock(mutex_);
    tasks_ += tasks;
    changed_.notify_all();
  }

  // A thread may be between hearing from a socket and scheduling what follows: once each has come
  // here, none is.
  bool all_threads_meet(std::unique_lock<std::mutex>& lock, Deadline deadline) {
    arrived_ = 0;
    const auto all_are_here = [this] { return arrived_ >= kThreads; };
    for (std::size_t i = 0; i < kThreads; ++i) {
      pool().post([this, all_are_here, deadline] {
        std::unique_lock arrival(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait_until(arrival, deadline, all_are_here);
      });
    }
    return changed_.wait_until(lock, deadline, all_are_here);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int tasks_ = 0;
  std::size_t arrived_ = 0;
};

// Ends before the pool, which was there first.
class Process {
 public:
  Process() {
    base::raise_descriptor_limit();
    // cpprest loads the system's CA bundle for each connection, 18 ms of CPU, although ClientTls
    // then replaces it.
    ::setenv("SSL_CERT_FILE", "/dev/null", 1);    // NOLINT(concurrency-mt-unsafe): no thread yet
    ::setenv("SSL_CERT_DIR", "/nonexistent", 1);  // NOLINT(concurrency-mt-unsafe)
    crossplat::threadpool::initialize_with_threads(kThreads);
    pplx::set_ambient_scheduler(tasks_);
  }
  ~Process() { tasks_->drain(); }

 private:
  const std::shared_ptr<CountedTasks> tasks_ = std::make_shared<CountedTasks>();
};

}  // namespace

void initialize_process() { static const Process process; }

}  // namespace cdom::http
