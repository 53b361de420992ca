#include "dra/claim_calls.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "dra/claim_check.h"

namespace cdom::dra {

using base::cat;

namespace {

std::string name_of(const Claim& claim) {
  return cat("ResourceClaim \"", claim.ns, "/", claim.name, "\"");
}

}  // namespace

struct ClaimCalls::Request {
  const Operation operation;
  const std::stop_token stop;
  const std::function<void(ClaimAnswers)> done;

  std::mutex mutex;
  std::size_t open = 1;  // the one who starts the calls is one of them
  ClaimAnswers answers;

  Request(Operation of, std::stop_token token, std::function<void(ClaimAnswers)> when_done)
      : operation(of), stop(std::move(token)), done(std::move(when_done)) {}

  void answer(const std::string& uid, ClaimAnswer answer) {
    const std::lock_guard lock(mutex);
    answers[uid] = std::move(answer);
  }
  void leave() {
    {
      const std::lock_guard lock(mutex);
      if (--open > 0) return;
    }
    done(std::move(answers));
  }
};

ClaimCalls::~ClaimCalls() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return running_.empty(); });
  for (std::thread& thread : ended_) thread.join();
}

void ClaimCalls::start(Operation operation, const std::vector<Claim>& claims,
                       const std::stop_token& stop, std::function<void(ClaimAnswers)> done) {
  auto request = std::make_shared<Request>(operation, stop, std::move(done));
  std::map<std::string, Claim> by_uid;
  for (const Claim& claim : claims) {
    const auto [first, is_new] = by_uid.emplace(claim.uid, claim);
    if (std::string problem = problem_of(operation, claim); !problem.empty()) {
      request->answer(claim.uid, {.error = std::move(problem)});
    } else if (!is_new && first->second != claim) {
      request->answer(claim.uid,
                      {.error = cat(name_of(claim), " and ", name_of(first->second),
                                    " cannot both have UID ", claim.uid, "; restart kubelet")});
    }
  }
  std::erase_if(by_uid, [&](const auto& entry) { return request->answers.contains(entry.first); });
  for (const auto& [uid, claim] : by_uid) {
    if (std::string error = start_call(request, claim); !error.empty()) {
      request->answer(uid, {.error = std::move(error)});
    }
  }
  request->leave();
}

std::string ClaimCalls::start_call(const std::shared_ptr<Request>& request, const Claim& claim) {
  std::list<std::thread> ended;
  std::string error;
  {
    const std::lock_guard lock(mutex_);
    ended.splice(ended.end(), ended_);
    if (running_.size() >= most_) {
      error = cat(name_of(claim), ": ", most_,
                  " other calls are in progress on this node; kubelet tries again");
    } else {
      const Ticket ticket = ++last_ticket_;
      running_.emplace_back();
      const auto self = std::prev(running_.end());
      try {
        // It ends only when this lock is free again.
        *self = std::thread([this, request, claim, ticket, self] {
          run(*request, claim, ticket);
          const std::lock_guard ending(mutex_);
          ended_.splice(ended_.end(), running_, self);
          changed_.notify_all();
        });
        turns_[claim.uid].push_back(ticket);
        const std::lock_guard counting(request->mutex);
        ++request->open;
      } catch (const std::system_error& failure) {
        running_.erase(self);
        error = cat(name_of(claim), ": cannot start a thread (", failure.what(),
                    "); raise the pod's limit of processes");
      }
    }
  }
  for (std::thread& thread : ended) thread.join();
  return error;
}

void ClaimCalls::run(Request& request, const Claim& claim, Ticket ticket) {
  ClaimAnswer answer;
  if (await_turn(claim.uid, ticket, request.stop)) {
    answer = call(request, claim);
  } else {
    answer.error = cat(name_of(claim),
                       ": given up before an earlier call for it had ended; kubelet tries again");
  }
  // Before the answer: what kubelet asks next need not wait.
  end_turn(claim.uid, ticket);
  request.answer(claim.uid, std::move(answer));
  request.leave();
}

ClaimAnswer ClaimCalls::call(const Request& request, const Claim& claim) {
  ClaimAnswer answer;
  const auto failed = [&](const base::Error& error) {
    answer.error =
        error.message.empty() ? cat(name_of(claim), ": ", name_of(error.kind)) : error.message;
  };
  try {
    if (request.operation == Operation::Prepare) {
      auto devices = driver_.prepare(claim, request.stop);
      if (devices) {
        answer.devices = std::move(*devices);
      } else {
        failed(devices.error());
      }
    } else if (auto done = driver_.unprepare(claim, request.stop); !done) {
      failed(done.error());
    }
  } catch (const std::exception& broken) {
    base::log_error(
        "a call for a claim has broken an invariant",
        {{"claim", claim.ns + "/" + claim.name}, {"uid", claim.uid}, {"what", broken.what()}});
    answer.error = cat(name_of(claim), ": ", broken.what(), "; see the log of the driver's pod");
  }
  return answer;
}

bool ClaimCalls::await_turn(const std::string& uid, Ticket ticket, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const std::deque<Ticket>& waiting = turns_[uid];
  changed_.wait(lock, stop, [&] { return waiting.front() == ticket; });
  return waiting.front() == ticket && !stop.stop_requested();
}

void ClaimCalls::end_turn(const std::string& uid, Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto waiting = turns_.find(uid);
  std::erase(waiting->second, ticket);
  if (waiting->second.empty()) turns_.erase(waiting);
  changed_.notify_all();
}

}  // namespace cdom::dra
