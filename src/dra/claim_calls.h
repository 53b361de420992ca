// ClaimCalls: what becomes of a request of kubelet's: a call of the driver for each claim.
//
// Claims that cannot be are answered without a call, equal ones of a request share one. Calls run
// in a thread each, side by side; those for one claim UID one after the other, as they came. An
// exception of the driver becomes the claim's error. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "compute_domain/dra/driver.h"

namespace cdom::dra {

enum class Operation { Prepare, Unprepare };

struct ClaimAnswer {
  std::string error;  // empty: it is done
  std::vector<PreparedDevice> devices;

  friend bool operator==(const ClaimAnswer&, const ClaimAnswer&) = default;
};
using ClaimAnswers = std::map<std::string, ClaimAnswer>;  // by claim UID

class ClaimCalls {
 public:
  // More than `most` calls at a time are refused.
  explicit ClaimCalls(Driver& driver, std::size_t most = 256) : driver_(driver), most_(most) {}
  // Waits for the calls in progress; they end soon once their tokens are stopped.
  ~ClaimCalls();
  ClaimCalls(const ClaimCalls&) = delete;
  ClaimCalls& operator=(const ClaimCalls&) = delete;

  // `done` is called once, with an answer for each claim, by whichever thread has the last one.
  void start(Operation operation, const std::vector<Claim>& claims, const std::stop_token& stop,
             std::function<void(ClaimAnswers)> done);

 private:
  struct Request;
  using Ticket = std::uint64_t;

  // The error of a claim that gets no thread.
  std::string start_call(const std::shared_ptr<Request>& request, const Claim& claim);
  void run(Request& request, const Claim& claim, Ticket ticket);
  ClaimAnswer call(const Request& request, const Claim& claim);
  // False when the token was stopped before.
  bool await_turn(const std::string& uid, Ticket ticket, const std::stop_token& stop);
  void end_turn(const std::string& uid, Ticket ticket);

  Driver& driver_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Ticket last_ticket_ = 0;
  std::map<std::string, std::deque<Ticket>> turns_;  // the first of each runs
  std::list<std::thread> running_, ended_;
};

}  // namespace cdom::dra
