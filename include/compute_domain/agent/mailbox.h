// Mailbox: the one queue of kubelet's calls, from their arrival to their answer. Its calls are a
// NodeWorld's `prepares` and `unprepares`; an answer in the plan is the reply.
//
// When there is no room for another prepare, the newest one of the namespace that has the most
// makes room for those of others, so that no tenant shuts the others out.
//
// The agent sees one call at a time for each claim (UID), in the order of arrival. A call ends with
// its answer, with the stop of its token, or when its patience is over: kubelet then gets an error
// that says what is still missing. Thread-safe. The thread that ends a call calls its reply, once
// and without a lock; those who post outlive the mailbox or have stopped their calls.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/core/node_plan.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

enum class Operation { Prepare, Unprepare };

struct CallAnswer {
  std::string error = {};                          // empty: it is done
  bool permanent = false;                          // of an error: no repetition can help
  std::vector<core::PreparedDevice> devices = {};  // of a prepare that is done
  // Since it had its turn; nullopt: it never had.
  std::optional<base::Duration> took = {};
};

struct Call {
  Operation operation = Operation::Prepare;
  core::ClaimRef claim;
  std::function<void(const CallAnswer&)> reply;
  std::stop_token stop;
};

struct MailboxLimits {
  std::size_t most = 256;  // prepares at a time, and as many unprepares; more are refused
  // How long a call that has its turn may take. Kubelet gives up after 45 s; a plan gives a prepare
  // up after 40 s, with a better reason.
  base::Duration patience = std::chrono::seconds(42);
};

class Mailbox {
 public:
  // `on_news` is called by any thread when the agent has something new to see.
  explicit Mailbox(
      const base::Clock& clock, std::function<void()> on_news = [] {}, MailboxLimits limits = {});
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void post(Call call);

  // Called with each answer, whoever gives it, by the thread that does; the one that was set last.
  void on_answer(std::function<void(Operation, const CallAnswer&)> told);

  // The calls that have their turn.
  void show(core::NodeWorld& world) const;
  // Another number when those are others.
  [[nodiscard]] std::uint64_t revision() const;
  // What they wait for, by claim UID.
  void set_reasons(const std::map<std::string, std::string>& reasons);
  void set_reason_of_all(const std::string& reason);
  [[nodiscard]] std::string reason_of(const std::string& uid) const;
  // The reply to the one for this claim that was shown; gives how long it has waited. nullopt:
  // no call is waiting any more.
  std::optional<base::Duration> answer(Operation operation, const std::string& uid,
                                       CallAnswer answer);

  // The agent calls it when next_end() has come.
  void end_overdue();
  [[nodiscard]] std::optional<base::Duration> next_end() const;

 private:
  struct Letter;
  using Shared = std::shared_ptr<Letter>;
  using Queues =
      std::map<std::string, std::deque<Shared>>;  // by UID; of each the first has its turn

  // Gives the one for which there is no room: this one, one that was there, or null.
  Shared add(const Shared& letter);
  void reply(const Letter& letter, const CallAnswer& answer);
  void refuse(const Letter& letter);
  std::size_t& count(Operation operation);
  // Under the mutex; null when no namespace has so many more prepares than this one that it would
  // not take the place back in turn.
  Shared make_room(const std::string& ns);
  void withdraw(const std::string& uid, std::uint64_t number);
  // Under the mutex; null when it has ended before.
  Shared take(Queues::iterator queue, std::uint64_t number);
  void begin_turn(Letter& letter);

  const base::Clock& clock_;
  const std::function<void()> on_news_;
  const MailboxLimits limits_;
  mutable std::mutex mutex_;
  Queues by_uid_;
  std::size_t prepares_ = 0, unprepares_ = 0;
  std::uint64_t last_number_ = 0, revision_ = 0;
  std::mutex telling_;
  std::function<void(Operation, const CallAnswer&)> told_;
};

}  // namespace cdom::agent
