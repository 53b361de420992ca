#include "compute_domain/agent/nvml_fabric.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "agent/nvml_reading.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

using base::cat;

namespace {

std::string text_of_hang(base::Duration patience, const std::string& call) {
  return cat("NVML has not answered for ", base::short_duration(patience), " (", call,
             "): a GPU or its driver hangs");
}

}  // namespace

// What the thread shares with read(); it may outlive the fabric.
struct NvmlFabric::Exchange {
  explicit Exchange(NvmlOptions asked) : options(std::move(asked)) {}

  const NvmlOptions options;
  const base::Descriptor news{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  mutable std::mutex mutex;
  std::condition_variable changed;
  bool is_asking = false;  // from the question to its answer
  bool ends = false;
  std::string call;  // that is under way
  std::uint64_t answers = 0;
  FabricFacts facts;  // the last of them

  // The thread.
  void answer_questions() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return ends || is_asking; });
      if (ends) {
        is_asking = false;
        changed.notify_all();
        return;
      }
      lock.unlock();
      FabricFacts told = ask_nvml(options, [this](const std::string& next) {
        const std::lock_guard guard(mutex);
        call = next;
      });
      lock.lock();
      facts = std::move(told);
      ++answers;
      is_asking = false;
      changed.notify_all();
      const std::uint64_t one = 1;
      (void)!write(news.get(), &one, sizeof one);  // a full counter is readable as well
    }
  }
};

NvmlFabric::NvmlFabric(NvmlOptions options, const base::Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      exchange_(std::make_shared<Exchange>(options_)),
      due_(clock.elapsed()) {
  std::thread([exchange = exchange_] { exchange->answer_questions(); }).detach();
}

NvmlFabric::~NvmlFabric() { finish(); }

bool NvmlFabric::finish() {
  std::unique_lock lock(exchange_->mutex);
  const bool is_first_time = !exchange_->ends;
  exchange_->ends = true;
  exchange_->changed.notify_all();
  const auto has_answered = [this] { return !exchange_->is_asking; };
  if (!is_first_time) return has_answered();
  return exchange_->changed.wait_for(lock, std::chrono::seconds(1), has_answered);
}

void NvmlFabric::take_answer() {
  std::uint64_t count = 0;
  (void)!::read(exchange_->news.get(), &count, sizeof count);
  if (exchange_->answers == answers_seen_) return;
  answers_seen_ = exchange_->answers;
  last_ = reading_of(exchange_->facts, options_.mode);
  if (last_.clique == "" && !clique_.empty()) {
    last_ = {std::nullopt, cat("the GPUs were in NVLink clique ", clique_,
                               " and now say that they are in none; if that is meant, restart the "
                               "agent on this node")};
  }
  if (last_.clique) clique_ = *last_.clique;
  due_ = clock_.elapsed() + (last_.error.empty() ? options_.refresh : options_.retry);
}

core::FabricReading NvmlFabric::read() {
  const std::lock_guard guard(exchange_->mutex);
  take_answer();
  if (!exchange_->is_asking && clock_.elapsed() >= due_) {
    exchange_->is_asking = true;
    exchange_->call = "starting";
    asked_ = clock_.elapsed();
    exchange_->changed.notify_all();
  }
  if (exchange_->is_asking && clock_.elapsed() - asked_ >= options_.patience) {
    return {std::nullopt, text_of_hang(options_.patience, exchange_->call), true, last_.faults};
  }
  return last_;
}

NvmlAnswer read_nvml_within_patience(const NvmlOptions& options, const std::stop_token& stop) {
  struct Question {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::string call = "starting";
    std::optional<FabricFacts> facts;
  };
  const auto question = std::make_shared<Question>();
  // It may never end.
  std::thread([question, options] {
    FabricFacts facts = ask_nvml(options, [&](const std::string& next) {
      const std::lock_guard lock(question->mutex);
      question->call = next;
    });
    const std::lock_guard lock(question->mutex);
    question->facts = std::move(facts);
    question->changed.notify_all();
  }).detach();
  std::unique_lock lock(question->mutex);
  question->changed.wait_for(lock, stop, options.patience,
                             [&] { return question->facts.has_value(); });
  if (question->facts) return {std::move(*question->facts), false};
  FabricFacts facts;
  facts.source = options.library.empty() ? options.driver_root : options.library;
  facts.error = stop.stop_requested() ? cat("given up while NVML was asked (", question->call, ")")
                                      : text_of_hang(options.patience, question->call);
  return {std::move(facts), true};
}

FabricFacts NvmlFabric::facts() const {
  const std::lock_guard guard(exchange_->mutex);
  return exchange_->facts;
}

int NvmlFabric::descriptor() const { return exchange_->news.get(); }

}  // namespace cdom::agent
