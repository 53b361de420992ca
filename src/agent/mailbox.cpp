#include "compute_domain/agent/mailbox.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::agent {

using base::cat;

struct Mailbox::Letter {
  explicit Letter(Call of) : call(std::move(of)) {}
  [[nodiscard]] std::optional<base::Duration> age(base::Duration now) const {
    return since ? std::optional(now - *since) : std::nullopt;
  }
  // The claim's name, for an error that kubelet gets before the agent has seen the call.
  [[nodiscard]] std::string claim() const {
    return cat("ResourceClaim \"", call.claim.ns, "/", call.claim.name, "\"");
  }
  [[nodiscard]] std::string unanswered(const std::string& how) const {
    const bool prepares = call.operation == Operation::Prepare;
    return cat("ResourceClaim ", core::to_string(call.claim),
               prepares ? " is not prepared" : " is not unprepared", how, ": ", reason);
  }

  const Call call;
  std::uint64_t number = 0;
  // Under the mutex while it is in the queue; then of the thread that has taken it.
  std::optional<base::Duration> since;  // it has its turn
  bool was_shown = false;
  std::string reason = "the agent is busy";
  // Its destructor waits for a withdraw() in progress: never run it with the mutex.
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

Mailbox::Mailbox(const base::Clock& clock, std::function<void()> on_news, MailboxLimits limits)
    : clock_(clock), on_news_(std::move(on_news)), limits_(limits) {}

Mailbox::~Mailbox() = default;

void Mailbox::post(Call call) {
  const auto letter = std::make_shared<Letter>(std::move(call));
  const Shared refused = add(letter);
  if (refused) refuse(*refused);
  if (refused == letter) return;
  // A token that is stopped already withdraws the call here and now.
  letter->on_stop.emplace(letter->call.stop, [this, uid = letter->call.claim.uid,
                                              number = letter->number] { withdraw(uid, number); });
  on_news_();
}

void Mailbox::on_answer(std::function<void(Operation, const CallAnswer&)> told) {
  const std::lock_guard lock(telling_);
  told_ = std::move(told);
}

void Mailbox::reply(const Letter& letter, const CallAnswer& answer) {
  {
    const std::lock_guard lock(telling_);
    if (told_) told_(letter.call.operation, answer);
  }
  letter.call.reply(answer);
}

void Mailbox::refuse(const Letter& letter) {
  reply(letter, {.error = cat(letter.claim(), ": ", limits_.most,
                              " other calls are in progress on this node; kubelet tries again"),
                 .took = letter.age(clock_.elapsed())});
}

std::size_t& Mailbox::count(Operation operation) {
  return operation == Operation::Prepare ? prepares_ : unprepares_;
}

Mailbox::Shared Mailbox::make_room(const std::string& ns) {
  std::map<std::string, std::vector<Shared>> prepares;  // by namespace
  for (const auto& [uid, letters] : by_uid_) {
    for (const Shared& letter : letters) {
      if (letter->call.operation != Operation::Prepare) continue;
      prepares[letter->call.claim.ns].push_back(letter);
    }
  }
  const auto size_of = [](const auto& entry) { return entry.second.size(); };
  const auto most = std::ranges::max_element(prepares, {}, size_of);
  if (most == prepares.end() || size_of(*most) <= prepares[ns].size() + 1) return nullptr;
  const Shared newest =
      *std::ranges::max_element(most->second, {}, [](const Shared& one) { return one->number; });
  return take(by_uid_.find(newest->call.claim.uid), newest->number);
}

Mailbox::Shared Mailbox::add(const Shared& letter) {
  const std::lock_guard lock(mutex_);
  const Operation operation = letter->call.operation;
  Shared removed;
  if (count(operation) >= limits_.most) {
    if (operation == Operation::Prepare) removed = make_room(letter->call.claim.ns);
    if (!removed) return letter;
  }
  ++count(operation);
  letter->number = ++last_number_;
  std::deque<Shared>& queue = by_uid_[letter->call.claim.uid];
  queue.push_back(letter);
  if (queue.size() == 1) begin_turn(*letter);
  return removed;
}

void Mailbox::begin_turn(Letter& letter) {
  letter.since = clock_.elapsed();
  ++revision_;
}

Mailbox::Shared Mailbox::take(Queues::iterator queue, std::uint64_t number) {
  auto& [uid, letters] = *queue;
  const auto it = std::ranges::find(letters, number, [](const Shared& one) { return one->number; });
  if (it == letters.end()) return nullptr;
  Shared letter = *it;
  const bool had_turn = it == letters.begin();
  letters.erase(it);
  --count(letter->call.operation);
  if (letters.empty()) {
    by_uid_.erase(queue);
    ++revision_;
  } else if (had_turn) {
    begin_turn(*letters.front());
  }
  return letter;
}

void Mailbox::withdraw(const std::string& uid, std::uint64_t number) {
  Shared letter;
  {
    const std::lock_guard lock(mutex_);
    if (const auto queue = by_uid_.find(uid); queue != by_uid_.end()) letter = take(queue, number);
  }
  if (!letter) return;
  const std::string error =
      letter->since
          ? letter->unanswered(", the call was given up")
          : cat(letter->claim(),
                ": given up before an earlier call for it had ended; kubelet tries again");
  on_news_();
  reply(*letter, {.error = error, .took = letter->age(clock_.elapsed())});
}

std::optional<base::Duration> Mailbox::answer(Operation operation, const std::string& uid,
                                              CallAnswer answer) {
  Shared letter;
  {
    const std::lock_guard lock(mutex_);
    const auto queue = by_uid_.find(uid);
    if (queue == by_uid_.end()) return std::nullopt;
    const Letter& first = *queue->second.front();
    // What was decided of a call that has been given up says nothing of the next one.
    if (first.call.operation != operation || !first.was_shown) return std::nullopt;
    letter = take(queue, first.number);
  }
  answer.took = letter->age(clock_.elapsed());
  reply(*letter, answer);
  return answer.took;
}

void Mailbox::end_overdue() {
  const base::Duration now = clock_.elapsed();
  std::vector<Shared> overdue;
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<std::string, std::uint64_t>> found;
    for (const auto& [uid, letters] : by_uid_) {
      const Letter& first = *letters.front();
      if (now - *first.since >= limits_.patience) found.emplace_back(uid, first.number);
    }
    for (const auto& [uid, number] : found) overdue.push_back(take(by_uid_.find(uid), number));
  }
  if (overdue.empty()) return;
  on_news_();
  const std::string how = cat(" after ", base::short_duration(limits_.patience));
  for (const Shared& letter : overdue) {
    reply(*letter, {.error = letter->unanswered(how), .took = letter->age(now)});
  }
}

std::optional<base::Duration> Mailbox::next_end() const {
  const std::lock_guard lock(mutex_);
  std::optional<base::Duration> earliest;
  for (const auto& [uid, letters] : by_uid_) {
    const base::Duration end = *letters.front()->since + limits_.patience;
    if (!earliest || end < *earliest) earliest = end;
  }
  return earliest;
}

void Mailbox::show(core::NodeWorld& world) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [uid, letters] : by_uid_) {
    Letter& first = *letters.front();
    first.was_shown = true;
    auto& wanted = first.call.operation == Operation::Prepare ? world.prepares : world.unprepares;
    wanted.push_back({first.call.claim, *first.since});
  }
}

std::uint64_t Mailbox::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

void Mailbox::set_reasons(const std::map<std::string, std::string>& reasons) {
  const std::lock_guard lock(mutex_);
  for (const auto& [uid, reason] : reasons) {
    if (const auto queue = by_uid_.find(uid); queue != by_uid_.end()) {
      queue->second.front()->reason = reason;
    }
  }
}

void Mailbox::set_reason_of_all(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  for (const auto& [uid, letters] : by_uid_) letters.front()->reason = reason;
}

std::string Mailbox::reason_of(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  const auto queue = by_uid_.find(uid);
  return queue == by_uid_.end() ? "" : queue->second.front()->reason;
}

}  // namespace cdom::agent
