#include "compute_domain/controller/controller.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <thread>

#include "cache/informers.h"
#include "clique_writer.h"
#include "cluster_metrics.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/pause.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/apply.h"
#include "compute_domain/controller/gather.h"
#include "compute_domain/core/status.h"
#include "compute_domain/kube/events.h"
#include "every_key.h"
#include "expectations.h"
#include "idle_looks.h"
#include "lane.h"
#include "placer.h"
#include "refused_objects.h"
#include "triggers.h"

namespace cdom::controller {

namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

// What only a person can change is tried again, but seldom.
constexpr base::Duration kUntilAPersonActs = std::chrono::seconds(30);
// Of what a server may ask for: one in maintenance says hours, and pods would wait as long.
constexpr base::Duration kLongestAskedPause = std::chrono::minutes(2);

// After a failure, which may be of one workload, its namespace is looked at again.
constexpr base::Duration kUntilOthersGoOn = std::chrono::seconds(1);

// What found no place in the queue of Events is tried again then.
constexpr base::Duration kUntilThereIsPlace = std::chrono::seconds(30);

// A worker that waits for a key beats its pulse so often, and is woken for every key.
constexpr base::Duration kLongestNap = std::chrono::seconds(30);

// How often it looks at the watches, and whether it leads: until it does, and then.
constexpr base::Duration kBetweenLooks = std::chrono::milliseconds(50);
constexpr base::Duration kBetweenLooksAtWork = std::chrono::seconds(1);

// From one decision about all domains to the next: many seats become free or taken at once.
constexpr base::Duration kPlacementPace = std::chrono::milliseconds(50);

// How many unreadable objects are remembered because they had their Event.
constexpr std::size_t kMostReportedObjects = 10'000;

// No attempt helps until a person changes something: a quota, a policy, a webhook (one that does
// not answer is an internal error of the API server), or somebody's finalizer.
bool is_refusal(const Error& error) {
  return error.kind == ErrorKind::Invalid || error.kind == ErrorKind::Forbidden ||
         (error.kind == ErrorKind::Unavailable &&
          error.message.find("failed calling webhook") != std::string::npos);
}

std::optional<base::Duration> asked_pause(const Error& error) {
  if (!error.retry_after) return std::nullopt;
  return std::min<base::Duration>(*error.retry_after, kLongestAskedPause);
}

bool is_event(const core::Action& action) {
  return std::holds_alternative<core::RecordEvent>(action);
}

std::string_view name_of(Key::Kind kind) {
  switch (kind) {
    case Key::Kind::Domain:
      return "domain";
    case Key::Kind::Group:
      return "group";
    case Key::Kind::Clique:
      return "clique";
    case Key::Kind::Report:
      return "report";
    case Key::Kind::Label:
      return "label";
    case Key::Kind::AgentLabel:
      return "agent-label";
    case Key::Kind::Workloads:
      return "workloads";
    case Key::Kind::Placement:
      return "placement";
    case Key::Kind::SharedSlice:
      return "shared-slice";
    case Key::Kind::CliqueObjects:
      return "clique-objects";
  }
  return "";
}

// A mistake of ours concerns the key that it was made for only; the others go on.
Error broken_invariant(const std::exception& mistake) {
  return {ErrorKind::Invalid, cat("broken invariant: ", mistake.what())};
}

}  // namespace

class Controller::Loop {
 public:
  Loop(const kube::Client& client, const base::Clock& clock, base::Registry& metrics,
       Options options);

  Result<void> run(const std::stop_token& token);
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  [[nodiscard]] bool has_synced() const;
  [[nodiscard]] std::vector<std::string> unrest() const;
  [[nodiscard]] std::string scraped_metrics() const;
  [[nodiscard]] std::string not_ready() const { return informers_.watches().not_ready(); }
  [[nodiscard]] std::optional<Error> lost_kind() const { return informers_.watches().lost_kind(); }

 private:
  void connect_triggers();
  template <class T>
  void report_unreadable(InformerOf<T>& informer);
  void count_domains(const api::ComputeDomain* before, const api::ComputeDomain* after);

  using Queue = Lane::Queue;
  // A worker with the key that it has taken.
  struct Turn {
    Lane& lane;
    Queue& queue;
    const Apply::Beat& beat;
    base::Duration start{};
    bool is_cut = false;  // what was left is done by the other worker
  };
  Lane& lane_of(const Key& key) const { return *lanes_[base::fnv1a64(key.id) % lanes_.size()]; }
  Queue& queue_of(const Key& key) const { return lane_of(key).queue_of(key); }
  void wake_waiting();
  void add_domains_concerned(const Key& key) const;
  bool process_one(Lane& lane, Queue& queue);
  void process(Turn turn, const Key& key);
  void process_domain(Turn& turn, const Key& key);
  bool cuts_off(Turn& turn, bool begins_elsewhere = false) const;
  bool lacks_its_watch(const Key& key);
  using Decide = std::function<core::Plan()>;
  void reconcile_one(Turn& turn, const Key& key, const Decide& decide);
  Applied carry_out(Turn& turn, const Key& key, const Decide& decide, core::Plan& plan);
  Applied apply_each(Turn& turn, const Key& key, core::Plan& plan);
  [[nodiscard]] base::Duration wait_of_placement() const;
  static std::optional<base::Duration> next_look(const core::Plan& plan, const Applied& applied);
  void answer(const Turn& turn, const Key& key, const core::Plan& plan, const Applied& applied);
  void note_refusal(const Key& key, const core::Plan& plan, const Applied& applied);
  void note_failure(const Key& key, const core::Plan& plan, const Applied& applied);
  bool record(const api::ObjectReference& involved, core::Reason reason,
              const std::string& message);
  void work(Lane& lane, Queue& queue, const std::stop_token& token);
  Result<void> wait_until_synced(const std::stop_token& token);
  [[nodiscard]] std::function<void()> pulse_of(const std::string& thread) const;
  [[nodiscard]] bool may_work() const { return !options_.is_leading || options_.is_leading(); }
  std::vector<std::jthread> start_workers();

  const kube::Client& client_;
  const base::Clock& clock_;
  base::Registry& metrics_;
  const Options options_;

  Informers informers_;
  const Stores stores_;
  Memory memory_;
  Workloads workloads_;
  const Sources sources_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Expectations expectations_;
  IdleLooks idle_looks_;
  std::atomic<bool> is_lack_logged_ = false;  // of a watch that is not needed
  std::optional<base::Duration> placed_;      // when who gets which clique was last decided
  kube::EventRecorder events_;
  const Apply apply_;
  const CliqueWriter clique_writer_;
  Placer placer_;
  const Triggers triggers_;
  std::vector<Part> parts_;
};

Controller::Loop::Loop(const kube::Client& client, const base::Clock& clock,
                       base::Registry& metrics, Options options)
    : client_(client),
      clock_(clock),
      metrics_(metrics),
      options_(std::move(options)),
      informers_({client, clock, metrics, options_}),
      stores_(informers_.stores()),
      sources_{stores_, memory_, options_.settings, clock, workloads_},
      events_(client, clock,
              {.component = "compute-domain-controller",
               .instance = options_.instance,
               .seed = options_.seed,
               .host = {},
               .remembered = options_.remembered_events},
              &metrics),
      apply_(client, events_, memory_, workloads_, clock, &metrics),
      clique_writer_(sources_, apply_, memory_),
      placer_(sources_, apply_),
      triggers_(sources_, memory_, workloads_, [this](const Key& key) { queue_of(key).add(key); }) {
  connect_triggers();
  for (const Watch& watch : informers_.watches().all()) {
    parts_.push_back({watch.name, watch.step});
  }
  for (int i = 0; i < std::max(1, options_.workers); ++i) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>(clock, cat("worker-", i), &metrics));
    for (Queue* queue : lane.queues()) {
      parts_.push_back({queue->name(), [&lane, queue, this] { return process_one(lane, *queue); }});
    }
  }
  parts_.push_back({"events", [this] { return events_.step(); }});
}

bool Controller::Loop::record(const api::ObjectReference& involved, core::Reason reason,
                              const std::string& message) {
  const core::RecordEvent event = core::event_on(involved, reason, message);
  return events_.record(event.involved, event.type, event.reason, event.message);
}

// An Event, for those who can correct it.
template <class T>
void Controller::Loop::report_unreadable(InformerOf<T>& informer) {
  if constexpr (kUnreadable<T> != Unreadable::TellsNobody) {
    informer.on_unreadable(
        [this, reported = std::set<std::string>()](const api::Unreadable& object) mutable {
          if constexpr (kUnreadable<T> == Unreadable::TellsOnce) {
            if (object.name.name.empty() || object.uid.empty()) return;
            if (reported.size() >= kMostReportedObjects) reported.clear();
            if (reported.contains(object.uid)) return;
          }
          const api::Kind& kind = api::kind_of<T>();
          [[maybe_unused]] const bool is_taken =
              record({.api_version = api::api_version_of(kind, client_.version_of(kind)),
                      .kind = std::string(kind.kind),
                      .ns = object.name.ns,
                      .name = object.name.name,
                      .uid = object.uid},
                     "Unreadable",
                     cat("what has changed is ignored until this is corrected: ", object.problem));
          if constexpr (kUnreadable<T> == Unreadable::TellsOnce) {
            if (is_taken) reported.insert(object.uid);
          }
        });
  }
}

void Controller::Loop::connect_triggers() {
  informers_.of<api::ComputeDomain>().on_change(
      [this](const auto* before, const auto* after) { count_domains(before, after); });
  informers_.connect([this]<class T>(InformerOf<T>& informer) {
    report_unreadable(informer);
    informer.on_change([this](const Stored<T>* before, const Stored<T>* after) {
      triggers_.on_change(before, after);
      wake_waiting();
    });
  });
}

// The gauge has the reference driver's name, so that dashboards keep working.
void Controller::Loop::count_domains(const api::ComputeDomain* before,
                                     const api::ComputeDomain* after) {
  const auto count = [&](const api::ComputeDomain& domain, double by) {
    const bool ready = domain.status && domain.status->ready;
    metrics_
        .gauge("nvidia_dra_compute_domain_info", "ComputeDomains by status.",
               {{"status", ready ? "Ready" : "NotReady"}})
        .add(by);
  };
  if (before != nullptr) count(*before, -1);
  if (after != nullptr) count(*after, 1);
}

bool Controller::Loop::has_synced() const { return informers_.watches().have_synced(); }

std::string Controller::Loop::scraped_metrics() const {
  base::Registry work;
  for (const auto& lane : lanes_) {
    for (const Queue* queue : lane->queues()) queue->show_work_in_progress(work);
  }
  return work.render() + (has_synced() && may_work() ? cluster_metrics(sources_) : "");
}

std::vector<std::string> Controller::Loop::unrest() const {
  std::vector<std::string> lines;
  // What a watch will tell when it is open again is a trigger that is on its way.
  if (!has_synced() || !may_work() || informers_.watches().are_broken()) return lines;
  for (const Key& key : every_key(sources_)) {
    if (lane_of(key).is_failing(key)) continue;
    const core::Plan plan = plan_of(sources_, key);
    for (const core::Action& action : plan.actions) {
      lines.push_back(cat(to_string(key), ": ", core::to_string(action)));
    }
    // The worker that holds the list has noted that.
    if (plan.holds_list) lines.push_back(cat(to_string(key), ": hold its node list"));
  }
  return lines;
}

void Controller::Loop::add_domains_concerned(const Key& key) const {
  for (const std::string& uid : domains_concerned(sources_, key)) {
    queue_of(domain_key(uid)).add(domain_key(uid));
  }
}

// What was written by a key that waits to see it is there now.
void Controller::Loop::wake_waiting() {
  for (const Key& key : expectations_.fulfilled(stores_)) queue_of(key).add(key);
}

std::optional<base::Duration> Controller::Loop::next_due() const {
  auto earliest = base::earlier(events_.next_due(), informers_.watches().next_due());
  if (has_synced() && may_work()) {
    for (const auto& lane : lanes_) {
      for (const Queue* queue : lane->queues()) {
        earliest = base::earlier(earliest, queue->next_due());
      }
    }
  }
  return earliest;
}

bool Controller::Loop::process_one(Lane& lane, Queue& queue) {
  if (!has_synced() || !may_work()) return false;
  const std::optional<QueuedKey> key = queue.try_pop();
  if (!key) return false;
  process({lane, queue, [] {}, clock_.elapsed()}, key->key());
  return true;
}

void Controller::Loop::process(Turn turn, const Key& key) {
  if (!turn.lane.is_to_be_done(key, turn.queue)) return;
  memory_.decides(clock_.elapsed());
  try {
    if (lacks_its_watch(key)) {
      turn.queue.retry(key);
    } else if (key.kind == Key::Kind::Domain) {
      process_domain(turn, key);
    } else {
      reconcile_one(turn, key, [&] { return plan_of(sources_, key); });
    }
  } catch (const std::exception& mistake) {
    answer(turn, key, {}, {.result = broken_invariant(mistake), .written = {}});
  }
  turn.lane.end_turn(key, turn.queue, clock_.elapsed() - turn.start, turn.is_cut);
}

// Asked where something is left to do.
bool Controller::Loop::cuts_off(Turn& turn, bool begins_elsewhere) const {
  turn.is_cut = turn.lane.is_over(turn.queue, clock_.elapsed() - turn.start, begins_elsewhere);
  return turn.is_cut;
}

// What is written of a kind that only this key reads waits until its watch works; nobody waits for
// it. A lack that a person has to correct is logged once.
bool Controller::Loop::lacks_its_watch(const Key& key) {
  if (key.kind != Key::Kind::CliqueObjects) return false;
  const auto lacking = informers_.watches().lacking();
  const bool was_logged = is_lack_logged_.exchange(lacking.has_value());
  if (lacking && !was_logged) {
    base::log_warning(
        cat("cannot write ComputeDomainCliques; all else goes on: ", lacking->message),
        {{"error", std::string(base::name_of(lacking->kind))}});
  }
  return lacking || !stores_.cliques.has_synced();
}

// A domain comes with its groups, and after them: pods wait for a node list, nobody waits for a
// status. All are of one World, as long as the stores have not moved on.
void Controller::Loop::process_domain(Turn& turn, const Key& key) {
  std::vector<std::uint64_t> versions = informers_.seen_versions();
  core::World world = gather_groups(sources_, key.id);
  const auto keep_up = [&] {
    std::vector<std::uint64_t> now = informers_.seen_versions();
    if (now == versions) return;
    versions = std::move(now);
    world = gather_groups(sources_, key.id);
  };
  for (const Key& each : keys_of(world)) {
    if (cuts_off(turn)) return;
    if (each.kind == Key::Kind::Group) {
      reconcile_one(turn, each, [&] {
        keep_up();
        return core::reconcile_group(world, {each.id, each.clique});
      });
    } else if (each.kind == Key::Kind::Clique) {
      memory_.list_awaited(key.id, clock_.now());
      queue_of(each).add(each);
    }
  }
  if (cuts_off(turn)) return;
  reconcile_one(turn, key, [&] {
    keep_up();
    gather_rest(sources_, world);
    core::Plan plan = core::reconcile(world);
    if (world.view.domain && world.view.domain->status) {
      const auto events = memory_.events_of_stored(key.id, *world.view.domain->status);
      plan.actions.insert(plan.actions.begin(), events.begin(), events.end());
    }
    return plan;
  });
}

void Controller::Loop::reconcile_one(Turn& turn, const Key& key, const Decide& decide) {
  Queue& queue = turn.queue;
  turn.beat();
  if (const auto wait = expectations_.wait_for(key, stores_, clock_.elapsed())) {
    queue.add_after(key, *wait);
    return;
  }
  if (key.kind == Key::Kind::Placement && wait_of_placement() > base::Duration::zero()) {
    queue.add_after(key, wait_of_placement());
    return;
  }
  const base::Duration start = clock_.elapsed();
  core::Plan plan;
  Applied applied;
  try {
    applied = carry_out(turn, key, decide, plan);
  } catch (const std::exception& mistake) {
    applied.result = broken_invariant(mistake);
  }
  expectations_.expect(key, applied.written, clock_.elapsed());
  answer(turn, key, plan, applied);
  metrics_.gauge("compute_domain_refused_keys", "Keys whose writes the API server refuses.")
      .set(static_cast<double>(memory_.refusals()));
  metrics_
      .histogram("compute_domain_reconcile_seconds", "Time of one reconcile, with its writes.",
                 {0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5},
                 {{"key", std::string(name_of(key.kind))}})
      .observe(std::chrono::duration<double>(clock_.elapsed() - start).count());
}

base::Duration Controller::Loop::wait_of_placement() const {
  return placed_ ? *placed_ + kPlacementPace - clock_.elapsed() : base::Duration::zero();
}

Applied Controller::Loop::carry_out(Turn& turn, const Key& key, const Decide& decide,
                                    core::Plan& plan) {
  if (key.kind == Key::Kind::Clique) {
    CliqueWriter::Round round = clique_writer_.run(key.id, turn.beat);
    plan = std::move(round.plan);
    return round.applied;
  }
  if (key.kind != Key::Kind::Placement) {
    plan = decide();
    const bool is_of_many =
        key.kind == Key::Kind::Workloads || key.kind == Key::Kind::CliqueObjects;
    return is_of_many ? apply_each(turn, key, plan) : apply_(plan, turn.beat);
  }
  placed_ = clock_.elapsed();
  Placer::Round round = placer_.run(turn.beat);
  plan = std::move(round.plan);
  // The status is written by each domain's own key.
  for (const auto& [uid, verdict] : round.verdicts) {
    const Key domain = domain_key(uid);
    if (memory_.placement_found(uid, verdict)) queue_of(domain).add(domain);
  }
  return round.applied;
}

// Each action is for another workload of the namespace, or clique of the domain, so that one that
// fails holds back none of the others. Events do not fail, and come first. Gives the first failure;
// those that succeeded come first in the plan then. What is left when the turn is cut is not in it.
Applied Controller::Loop::apply_each(Turn& turn, const Key& key, core::Plan& plan) {
  const auto first = std::stable_partition(plan.actions.begin(), plan.actions.end(), is_event);
  std::vector<core::Action> done(plan.actions.begin(), first), failed;
  Applied all = apply_({.actions = done, .look_again = std::nullopt}, turn.beat);
  bool begins_elsewhere = false;  // the next turn: what did not succeed comes after the others then
  for (auto it = first; it != plan.actions.end() && !cuts_off(turn, begins_elsewhere); ++it) {
    core::Action& action = *it;
    begins_elsewhere = std::holds_alternative<core::CreateDomain>(action);
    Applied one = apply_({.actions = {action}, .look_again = std::nullopt}, turn.beat);
    all.written = newest_of(all.written, one.written);
    if (one.result) {
      done.push_back(std::move(action));
      continue;
    }
    const Error& error = one.result.error();
    const base::Duration asked = asked_pause(error).value_or(base::Duration::zero());
    const auto* create = std::get_if<core::CreateDomain>(&action);
    const auto* read = std::get_if<core::ReadPods>(&action);
    const bool is_stale = error.kind == ErrorKind::AlreadyExists ||
                          error.kind == ErrorKind::Conflict || error.kind == ErrorKind::Cancelled;
    if (create != nullptr && !is_stale) {
      workloads_.domain_refused(create->object, error.message, is_refusal(error), clock_.elapsed(),
                                asked);
      queue_of(key).add(key);
    }
    if (read != nullptr && !is_stale) {
      workloads_.read_failed(read->ns, clock_.elapsed(),
                             error.kind == ErrorKind::Invalid ? kUntilAPersonActs : asked);
    }
    if (all.result) all.result = std::move(one.result);
    failed.push_back(std::move(action));
  }
  all.actions = done.size();
  plan.actions = std::move(done);
  std::ranges::move(failed, std::back_inserter(plan.actions));
  return all;
}

// A plan that has nothing but Events and leaves some for the next look does not come back at once
// when one of them found no place: it would, again and again, for each that is sent.
std::optional<base::Duration> Controller::Loop::next_look(const core::Plan& plan,
                                                          const Applied& applied) {
  const bool waits = applied.has_untold && std::ranges::all_of(plan.actions, is_event);
  if (waits && plan.look_again == base::Duration::zero()) return std::nullopt;
  return plan.look_again;
}

void Controller::Loop::answer(const Turn& turn, const Key& key, const core::Plan& plan,
                              const Applied& applied) {
  Queue& queue = turn.queue;
  const std::string outcome(applied.result ? "Done" : base::name_of(applied.result.error().kind));
  metrics_
      .counter("compute_domain_reconciles_total", "Reconciles by outcome.",
               {{"key", std::string(name_of(key.kind))}, {"outcome", outcome}})
      .add();
  for (std::size_t i = 0; i < applied.actions; ++i) {
    if (applied.dropped.contains(i)) continue;
    base::log_info(core::to_string(plan.actions[i]), {{"key", to_string(key)}});
    const auto* read = std::get_if<core::ReadPods>(&plan.actions[i]);
    if (read != nullptr) triggers_.on_pods_read(read->ns);
    if (applied.result && std::holds_alternative<core::ReadJob>(plan.actions[i])) queue.add(key);
    const auto* event = std::get_if<core::RecordEvent>(&plan.actions[i]);
    if (event != nullptr) triggers_.on_recorded(*event);
  }
  if (applied.result) {
    // A namespace that puts off what was refused has tried nothing.
    const bool puts_off = key.kind == Key::Kind::Workloads && plan.look_again &&
                          std::ranges::all_of(plan.actions, is_event);
    if (!puts_off && memory_.accepted(key)) add_domains_concerned(key);
    queue.forget(key);
    const std::optional<base::Duration> look_again = next_look(plan, applied);
    if (look_again) queue.add_after(key, *look_again);
    if (applied.has_untold) queue.retry(key, kUntilThereIsPlace);
    if (plan.holds_list) {
      memory_.list_held({key.id, key.clique}, *plan.holds_list, clock_.now());
      // The domain's status is written after the list, not before it and after it.
      memory_.list_awaited(key.id, clock_.now());
    } else if (key.kind == Key::Kind::Group && !plan.look_again) {
      memory_.list_not_held({key.id, key.clique});
    }
    if (idle_looks_.note(key, !plan.actions.empty(), look_again, clock_.elapsed())) {
      metrics_
          .counter("compute_domain_idle_looks_total",
                   "Reconciles that asked to run again within 100 ms and changed nothing.",
                   {{"key", std::string(name_of(key.kind))}})
          .add();
      base::log_debug("a key runs again and again with nothing to do", {{"key", to_string(key)}});
    }
    return;
  }
  const Error& error = applied.result.error();
  is_refusal(error) ? note_refusal(key, plan, applied) : note_failure(key, plan, applied);
  // A status that waits to be written reports it.
  if (key.kind == Key::Kind::Domain && plan.look_again) queue.add_after(key, *plan.look_again);
  const base::LogField fields[] = {{"key", to_string(key)}, {"error", outcome}};
  switch (error.kind) {
    case ErrorKind::NotFound:
    case ErrorKind::AlreadyExists:
    case ErrorKind::Conflict:
    case ErrorKind::Expired:
      // Our snapshot is older than the server's; the informer is about to bring the newer one.
      base::log_debug(error.message, {fields[0], fields[1]});
      queue.retry(key, asked_pause(error));
      break;
    case ErrorKind::Unavailable:
      base::log_warning(error.message, {fields[0], fields[1]});
      queue.retry(key, asked_pause(error));
      break;
    case ErrorKind::Forbidden:
      // Also what an API server answers for a moment that has just started and not read its roles.
      base::log_error(error.message, {fields[0], fields[1]});
      queue.retry(key, asked_pause(error));
      break;
    case ErrorKind::Invalid:
      base::log_error(error.message, {fields[0], fields[1]});
      queue.retry(key, kUntilAPersonActs);
      break;
    case ErrorKind::Cancelled:
      // This process ends, or its writes were held back for a moment.
      queue.retry(key);
      break;
  }
  if (key.kind != Key::Kind::Workloads) return;
  // What other workloads wait for comes in its time, and after what was done for some of them there
  // may be more of it. Where nothing was done only the failure is left, which has its backoff.
  std::optional<base::Duration> next;
  if (plan.look_again > base::Duration::zero()) next = plan.look_again;
  const auto end = plan.actions.begin() + static_cast<std::ptrdiff_t>(applied.actions);
  if (!std::all_of(plan.actions.begin(), end, is_event)) {
    next = base::earlier(next, std::optional<base::Duration>(kUntilOthersGoOn));
  }
  if (next) queue.add_after(key, *next);
}

// A condition of the domains that it concerns; an Event where it concerns another object.
void Controller::Loop::note_refusal(const Key& key, const core::Plan& plan,
                                    const Applied& applied) {
  const Error& error = applied.result.error();
  if (!memory_.refused(key, error.message, clock_.elapsed())) return;
  add_domains_concerned(key);
  if (applied.actions >= plan.actions.size()) return;
  if (const auto object = object_of(plan.actions[applied.actions], client_)) {
    record(*object, "WriteRefused",
           cat("the API server refuses what the controller writes, which is tried again: ",
               error.message));
  }
}

// A webhook that is silent for longer than a request may take leaves no answer at all. When that
// lasts, the status of a domain names what its own keys have asked for in vain. A server that says
// when to ask again is there.
void Controller::Loop::note_failure(const Key& key, const core::Plan& plan,
                                    const Applied& applied) {
  const Error& error = applied.result.error();
  const bool is_of_domain = key.kind == Key::Kind::Domain || key.kind == Key::Kind::Group;
  if (!is_of_domain || error.kind != ErrorKind::Unavailable) return;
  if (applied.actions >= plan.actions.size()) return;
  const core::Action& action = plan.actions[applied.actions];
  if (std::holds_alternative<core::SetStatus>(action)) return memory_.status_failed(key.id);
  if (error.retry_after) return;
  const bool is_news = memory_.failed(key, {.action = action.index(), .what = error.message},
                                      clock_.now(), clock_.elapsed());
  if (is_news) add_domains_concerned(key);
}

void Controller::Loop::work(Lane& lane, Queue& queue, const std::stop_token& token) {
  const std::function<void()> beat = pulse_of(queue.name());
  while (!token.stop_requested()) {
    beat();
    const auto key = queue.pop(kLongestNap, token);
    if (key) process({lane, queue, beat, clock_.elapsed()}, key->key());
  }
}

// The pulse of a thread that runs as long as run() does: when such a thread is stuck at the end,
// run() cannot return.
std::function<void()> Controller::Loop::pulse_of(const std::string& thread) const {
  if (options_.pulses == nullptr) return [] {};
  return [&pulse = options_.pulses->add(thread)] { pulse.beat(); };
}

// An API server that does not answer is waited for.
Result<void> Controller::Loop::wait_until_synced(const std::stop_token& token) {
  while (!token.stop_requested() && !has_synced()) {
    if (auto missing = informers_.watches().missing_at_start()) return *std::move(missing);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

Result<void> Controller::Loop::run(const std::stop_token& token) {
  std::vector<std::jthread> threads;
  const std::vector<Watch>& watches = informers_.watches().all();
  threads.reserve(watches.size());
  for (const Watch& watch : watches) {
    threads.emplace_back([&watch, beat = pulse_of(cat("watch of ", watch.name))](
                             std::stop_token own) { watch.run(std::move(own), beat); });
  }
  const auto stop_all = [&] {
    for (std::jthread& thread : threads) thread.request_stop();
    for (const Watch& watch : watches) watch.stop();
  };
  const std::stop_callback on_stop(token, stop_all);
  if (Result<void> synced = wait_until_synced(token); !synced) {
    stop_all();
    return synced;
  }
  base::log_info("all watches are synced", {{"domains", cat(stores_.domains.size())},
                                            {"claims", cat(stores_.claims.size())},
                                            {"nodes", cat(stores_.nodes.size())}});
  std::vector<std::jthread> workers;
  std::optional<Error> lost;
  while (!token.stop_requested() && !(lost = lost_kind())) {
    if (workers.empty() && may_work()) workers = start_workers();
    base::pause(token, workers.empty() ? kBetweenLooks : kBetweenLooksAtWork);
  }
  for (std::jthread& worker : workers) worker.request_stop();
  workers.clear();
  stop_all();
  if (lost) return *lost;
  return {};
}

// The queues have filled meanwhile: whoever begins to lead looks at everything once.
std::vector<std::jthread> Controller::Loop::start_workers() {
  std::vector<std::jthread> workers;
  for (const auto& lane : lanes_) {
    for (Queue* queue : lane->queues()) {
      workers.emplace_back(
          [this, &lane, queue](const std::stop_token& own) { work(*lane, *queue, own); });
    }
  }
  workers.emplace_back(
      [this](const std::stop_token& own) { events_.run(own, pulse_of("events")); });
  return workers;
}

Controller::Controller(const kube::Client& client, const base::Clock& clock,
                       base::Registry& metrics, Options options)
    : loop_(std::make_unique<Loop>(client, clock, metrics, std::move(options))) {}
Controller::~Controller() = default;
Result<void> Controller::run(const std::stop_token& token) { return loop_->run(token); }
const std::vector<Controller::Part>& Controller::parts() const { return loop_->parts(); }
std::optional<base::Duration> Controller::next_due() const { return loop_->next_due(); }
bool Controller::has_synced() const { return loop_->has_synced(); }
std::vector<std::string> Controller::unrest() const { return loop_->unrest(); }
std::string Controller::scraped_metrics() const { return loop_->scraped_metrics(); }
std::string Controller::not_ready() const { return loop_->not_ready(); }
std::optional<Error> Controller::lost_kind() const { return loop_->lost_kind(); }

}  // namespace cdom::controller
