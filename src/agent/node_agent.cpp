#include "compute_domain/agent/node_agent.h"

#include <algorithm>
#include <set>
#include <utility>

#include "agent/agent_metrics.h"
#include "agent/apply.h"
#include "agent/daemon_history.h"
#include "agent/node_lacks.h"
#include "agent/refusals.h"
#include "agent/server/server_view.h"
#include "agent/setbacks.h"
#include "compute_domain/agent/checkpoint_codec.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/device_health.h"
#include "compute_domain/core/reconcile_node.h"

namespace cdom::agent {

namespace {

// Between two attempts at something on this node that failed (disk, IMEX supervisor).
constexpr base::Duration kFirstBackoff = std::chrono::milliseconds(100);
constexpr base::Duration kLastBackoff = std::chrono::seconds(2);
// A silent IMEX supervisor for less than this is one whose pod is being replaced.
constexpr base::Duration kSupervisorPatience = std::chrono::seconds(10);
// A supervisor that looks, and does not say that it does, has looked within this time.
constexpr base::Duration kLookPatience = std::chrono::minutes(1);
// When another agent of the node has its turn.
constexpr base::Duration kBetweenTurns = std::chrono::milliseconds(2);
// The longest time without a decision, even if nothing has shown a change: a node at rest pays for
// each, for ever. A supervisor that is away tells nobody when it is back, nor does another agent of
// the node what it has written.
constexpr base::Duration kLongestPause = std::chrono::seconds(2);
constexpr base::Duration kLongestPauseInChange = std::chrono::seconds(1);
// The longest time for which a node at rest is only looked at: a decision costs several times as
// much as a look at what it depends on.
constexpr base::Duration kLongestRest = std::chrono::seconds(10);
// So long an agent takes another one to be there, which it replaces.
constexpr base::Duration kBeginning = std::chrono::minutes(2);
// At the supervisor's news, for what comes meanwhile.
constexpr int kMostLooks = 3;
// Between two times at which kubelet is asked for its pods while one that has ended for the API
// server holds a claim, on average: kubelet may have dropped the event of its end.
constexpr base::Duration kBetweenRenewals = std::chrono::minutes(10);
constexpr double kRenewalJitter = 0.1;

}  // namespace

class NodeAgent::Shell {
 public:
  Shell(NodePorts ports, Mailbox& mailbox, ServerMail& mail, const base::Clock& clock,
        NodeAgentOptions options, base::Registry* metrics)
      : ports_(std::move(ports)),
        mailbox_(mailbox),
        mail_(mail),
        clock_(clock),
        options_(std::move(options)),
        random_(options_.seed),
        began_(clock.elapsed()),
        refusals_(clock),
        server_(clock, options_.self.name),
        daemon_(clock),
        setbacks_(clock),
        agent_metrics_(std::make_shared<AgentMetrics>(metrics)),
        apply_(ports_, options_.self, checkpoint_, mailbox_, refusals_, daemon_, setbacks_) {
    mailbox_.on_answer([counts = agent_metrics_](Operation operation, const CallAnswer& answer) {
      counts->answered(operation, answer);
    });
  }

  [[nodiscard]] const std::vector<core::DeviceHealth>& devices() const { return devices_; }
  [[nodiscard]] bool has_published() const { return has_published_; }

  bool step() {
    mailbox_.end_overdue();
    const bool took = take_results();
    // Taken even when there is nothing to do with it: otherwise the ports' descriptors stay
    // readable.
    if (Inputs inputs = inputs_now(); inputs != inputs_) {
      inputs_ = std::move(inputs);
      has_news_ = true;
    }
    if (retry_at_ && clock_.elapsed() < *retry_at_) return took;
    if (!has_news_ && clock_.elapsed() < decide_at_) return took;
    if (!has_news_ && is_as_at_rest()) {
      decide_at_ = decision_within(kLongestPause);
      return took;
    }
    const bool acted = decide();
    // What the supervisor was asked for meanwhile may have brought its news. One that is refused
    // has some at each attempt.
    return acted || took || (inputs_.imex && ports_.imex.news() != looked_at_);
  }

  std::optional<base::Duration> next_due() const {
    std::optional<base::Duration> earliest = server_.writes_end();
    for (const auto& moment : {retry_at_, look_again_at_, mailbox_.next_end()}) {
      earliest = base::earlier(earliest, moment);
    }
    return earliest;
  }

  base::Duration next_look() const { return retry_at_.value_or(decide_at_); }

  // The checkpoint stays when another agent has the hold, or when it cannot be read: an agent may
  // need it.
  void leave() {
    const auto hold = ports_.checkpoints.hold();
    if (!hold || !has_entered_) return;
    const auto text = ports_.checkpoints.load();
    if (!text || !*text) return;
    const auto checkpoint = decode_checkpoint(**text);
    if (!checkpoint || core::is_worth_keeping(*checkpoint)) return;
    const auto cleared = ports_.checkpoints.clear_away();
    if (cleared || cleared.error().kind == base::ErrorKind::Conflict) return;
    base::log_warning("could not remove the checkpoint", {{"error", cleared.error().message}});
  }

 private:
  // What is asked at every step, as its changes are not reported.
  struct Inputs {
    std::optional<base::DaemonStatus> imex;
    std::optional<base::Error> imex_error;  // its kind says whether the supervisor has ended
    core::FabricReading fabric;
    std::uint64_t calls = 0;
    std::uint64_t ended_pods = 0;

    friend bool operator==(const Inputs&, const Inputs&) = default;
  };

  // Whether there were any.
  bool take_results() {
    bool took = false;
    while (const auto result = mail_.results.take()) {
      if (std::holds_alternative<CarriedOut>(*result)) {
        server_is_busy_ = false;
        server_.report_is_sent(false);
      }
      server_.take(*result);
      took = has_news_ = true;
    }
    return took;
  }

  Inputs inputs_now() {
    Inputs inputs{.calls = mailbox_.revision()};
    if (ports_.pods != nullptr) inputs.ended_pods = ports_.pods->revision();
    // The fabric comes from the supervisor too, and to ask for one may bring news of the other.
    for (int looks = 0; looks < kMostLooks; ++looks) {
      looked_at_ = ports_.imex.news();
      inputs.fabric = ports_.fabric.read();
      auto status = ports_.imex.status();
      inputs.imex_error = status ? std::nullopt : std::optional(status.error());
      inputs.imex = status ? std::optional(*std::move(status)) : std::nullopt;
      if (!inputs.imex || ports_.imex.news() == looked_at_) break;
    }
    return inputs;
  }

  [[nodiscard]] base::Duration longest_pause() const {
    const bool is_new = clock_.elapsed() - began_ < kBeginning;
    const bool leads = checkpoint_.agent == options_.self.agent;
    return inputs_.imex && leads && !is_new ? kLongestPause : kLongestPauseInChange;
  }

  // The moment of the next decision without news.
  [[nodiscard]] base::Duration decision_within(base::Duration pause) const {
    const base::Duration latest = clock_.elapsed() + pause;
    return std::min(latest, next_due().value_or(latest));
  }

  // Whether what tells nobody that it has changed is as it was when a decision found the node at
  // rest, not long ago: another one would find the same.
  bool is_as_at_rest() {
    if (!rests_until_ || clock_.elapsed() >= *rests_until_) return false;
    const auto text = ports_.checkpoints.load();
    return text && *text && **text == known_text() && ports_.channels.check() &&
           ports_.channels.count() == channel_count_ && wrong_files().empty();
  }

  // The claims whose files are not there or not as they must be: kubelet does not ask again when a
  // container starts again, and the runtime needs the file then, with the driver's device numbers.
  [[nodiscard]] std::set<std::string> wrong_files() const {
    std::set<std::string> uids;
    for (const auto& [uid, claim] : checkpoint_.claims) {
      const bool has_file = claim.phase == core::ClaimPhase::Completed && claim.channels.count > 0;
      if (has_file && !ports_.channels.is_up_to_date(uid, claim.channels)) uids.insert(uid);
    }
    return uids;
  }

  // Whether there is nothing to do, and nothing that only time may change meanwhile. Not with any
  // fault, nor where kubelet's own record decides something.
  [[nodiscard]] bool rests(const core::NodeWorld& world, const core::NodePlan& plan) const {
    const auto due = next_due();
    const bool is_due = due && *due < clock_.elapsed() + kLongestRest;
    const bool has_nothing_to_do = plan.on_node.empty() && plan.on_server.empty() &&
                                   plan.waits.empty() && !server_is_busy_ && !is_due;
    const bool is_healthy = world.daemon && world.faults.empty();
    return has_nothing_to_do && is_healthy && world.known_to_kubelet.empty() &&
           longest_pause() == kLongestPause;
  }

  // Under the hold of the checkpoint: another agent of this node may have written it.
  bool decide() {
    rests_until_.reset();
    auto hold = ports_.checkpoints.hold();
    if (!hold) {
      wait_for_hold(hold.error());
      return false;
    }
    if (!read_checkpoint()) return false;
    has_news_ = false;
    const core::NodeWorld world = gather();
    renew_pods();
    const core::NodePlan plan = core::reconcile_node(world);
    devices_ = core::device_health(world);
    has_published_ = !world.report.objects.empty();
    mailbox_.set_reasons(plan.waits);
    look_again_at_.reset();
    if (plan.look_again) look_again_at_ = clock_.elapsed() + *plan.look_again;
    decide_at_ = decision_within(longest_pause());
    channel_count_ = world.channel_count;
    if (rests(world, plan)) rests_until_ = clock_.elapsed() + kLongestRest;
    if (plan.on_node.empty() && plan.on_server.empty()) return false;
    return carry_out(world, plan, *std::move(hold));
  }

  // Another agent's turn takes no longer than what it has to write.
  void wait_for_hold(const base::Error& error) {
    if (error.kind == base::ErrorKind::Conflict) {
      retry_at_ = clock_.elapsed() + kBetweenTurns;
    } else {
      back_off(base::cat("cannot lock the checkpoint: ", error.message));
    }
  }

  bool read_checkpoint() {
    const auto text = ports_.checkpoints.load();
    if (!text) {
      back_off(base::cat("cannot read the checkpoint: ", text.error().message));
      return false;
    }
    if (*text && **text != known_text() && !take_checkpoint(**text)) return false;
    // Somebody has removed it: it is what kubelet's claims depend on.
    const bool is_lost = !*text && has_entered_ && checkpoint_ != core::Checkpoint{};
    if (is_lost && !save(checkpoint_)) return false;
    if (!take_lead()) return false;
    follow_lists();
    retry_at_.reset();
    return true;
  }

  void follow_lists() {
    const auto& clique = checkpoint_.clique;
    if (clique && server_.follow(*clique)) mail_.orders.post(FollowLists{*clique});
  }

  // The checkpoint as it would be written. It seldom changes, and is looked at before each
  // decision.
  const std::string& known_text() {
    if (known_text_.empty() || known_ != checkpoint_) {
      known_ = checkpoint_;
      known_text_ = encode_checkpoint(known_);
    }
    return known_text_;
  }

  bool take_checkpoint(const std::string& text) {
    auto checkpoint = decode_checkpoint(text);
    if (checkpoint) {
      checkpoint_ = std::move(*checkpoint);
      expect_pods();
      // What this one has seen before may contradict what another agent has written since.
      inputs_ = inputs_now();
      return true;
    }
    // At the start it is what is left of another version; later somebody is writing it.
    if (!has_entered_) return set_aside(text, checkpoint.error().message);
    back_off(checkpoint.error().message);
    return false;
  }

  // The agent that starts leads, and the one that is left when the leading one has ended.
  bool take_lead() {
    const std::string& self = options_.self.agent;
    const bool has_led = checkpoint_.agent == self;
    if (has_entered_ && (has_led || ports_.checkpoints.is_there(checkpoint_.agent))) return true;
    if (!has_entered_) {
      if (const auto entered = ports_.checkpoints.enter(self); !entered) {
        back_off(base::cat("cannot say that this agent is there: ", entered.error().message));
        return false;
      }
      has_entered_ = true;
    }
    if (has_led) return true;
    core::Checkpoint mine = checkpoint_;
    mine.agent = self;
    if (!save(mine)) return false;
    checkpoint_ = std::move(mine);
    return true;
  }

  bool save(const core::Checkpoint& checkpoint) {
    const auto saved = ports_.checkpoints.save(encode_checkpoint(checkpoint));
    if (!saved) back_off(base::cat("cannot write the checkpoint: ", saved.error().message));
    return saved.has_value();
  }

  bool set_aside(const std::string& text, const std::string& problem) {
    const auto kept = ports_.checkpoints.set_aside(text);
    if (!kept) {
      back_off(base::cat(problem, " and cannot be set aside: ", kept.error().message));
      return false;
    }
    base::log_warning("starting with an empty checkpoint; the old one was set aside",
                      {{"node", options_.self.name}, {"problem", problem}, {"path", *kept}});
    return true;
  }

  core::NodeWorld gather() {
    core::NodeWorld world;
    world.now = clock_.now();
    world.elapsed = clock_.elapsed();
    world.times = options_.times;
    world.settings = options_.settings;
    world.self = options_.self;
    // A supervisor that is silent for a moment has not moved.
    if (inputs_.imex) last_address_ = inputs_.imex->address;
    if (world.self.address.empty()) world.self.address = last_address_;
    world.fabric = inputs_.fabric;
    tell_fabric(world.fabric);
    world.checkpoint = checkpoint_;
    mailbox_.show(world);
    show_pods(world);
    refusals_.see(world.prepares, world.unprepares);
    world.refused = refusals_.all();
    // Of an earlier boot any file may be one that cannot be removed.
    if (!core::has_rebooted(world)) setbacks_.keep_only(world);
    world.setbacks = setbacks_.all();
    if (const auto fault = channel_fault()) world.faults.push_back(*fault);
    world.channel_count = ports_.channels.count();
    show_lacks(world);
    daemon_.see(imex_status());
    daemon_.show(world);
    if (!world.daemon && world.elapsed - world.supervisor_silent_since >= kSupervisorPatience) {
      world.faults.push_back({core::kFaultImex, "ImexSupervisorSilent", world.supervisor_error});
    }
    agent_metrics_->see(world);
    show_asked(world);
    server_.keep_only(checkpoint_, world.prepares,
                      world.daemon && world.daemon->phase == base::DaemonPhase::Recovering);
    server_.show(world);
    const bool may_begin = (world.daemon && world.daemon->running) || core::admits_here(world);
    if ((!checkpoint_.served && may_begin) || core::has_rebooted(world)) show_held(world);
    show_unnamed(world);
    world.wrong_files = wrong_files();
    for (const auto& [uid, reading] : world.readings) {
      if (reading.gone_since && ports_.kubelet.knows(uid)) world.known_to_kubelet.insert(uid);
    }
    return world;
  }

  // The supervisor's last report holds while it is silent, and until its successor has looked.
  void show_lacks(core::NodeWorld& world) {
    if (inputs_.imex) {
      cannot_start_ = inputs_.imex->cannot_start;
      if (inputs_.imex->lacks) lacks_ = *inputs_.imex->lacks;
    }
    forget_lacks(world.elapsed);
    if (!cannot_start_.empty()) {
      world.faults.push_back({core::kFaultImex, "ImexCannotStart", cannot_start_});
    }
    const auto lacks = faults_by(lacks_);
    world.faults.insert(world.faults.end(), lacks.begin(), lacks.end());
  }

  // Forgets what an earlier supervisor reported when the one that answers never looks. An old one
  // does not say whether it looks.
  void forget_lacks(base::Duration now) {
    const bool may_never_look = inputs_.imex && !inputs_.imex->lacks && !inputs_.imex->looks;
    if (!may_never_look) {
      not_looked_since_.reset();
    } else if (!not_looked_since_) {
      not_looked_since_ = now;
    } else if (now - *not_looked_since_ >= kLookPatience) {
      lacks_.clear();
    }
  }

  // Since when anything is wanted here; a claim that only looks on wants nothing.
  void show_asked(core::NodeWorld& world) {
    const bool is_asked = !world.prepares.empty() || core::has_claims(checkpoint_);
    if (!is_asked) asked_since_.reset();
    if (is_asked && !asked_since_) asked_since_ = world.elapsed;
    world.asked_since = asked_since_.value_or(base::Duration{});
  }

  // Which pods keep claims that kubelet has unprepared, and since when.
  void show_pods(core::NodeWorld& world) {
    if (ports_.pods != nullptr) world.running_pods = ports_.pods->all();
    std::map<std::string, base::Duration> held_since;
    for (const auto& [uid, claim] : checkpoint_.claims) {
      if (claim.held_by.empty()) continue;
      const auto known = held_since_.find(uid);
      held_since[uid] = known == held_since_.end() ? world.elapsed : known->second;
    }
    held_since_ = std::move(held_since);
    world.held_since = held_since_;
  }

  // Kubelet drops an event where too many wait for those that watch its pods.
  void renew_pods() {
    if (held_since_.empty() || !ports_.renew_pods) return renew_pods_at_.reset();
    const base::Duration now = clock_.elapsed();
    if (renew_pods_at_ && now < *renew_pods_at_) return;
    if (renew_pods_at_) ports_.renew_pods();
    const double share = 1 + kRenewalJitter * (2 * random_.unit() - 1);
    renew_pods_at_ = now + std::chrono::duration_cast<base::Duration>(kBetweenRenewals * share);
  }

  // Another process has seen them, and kubelet may never name them to this one.
  void expect_pods() {
    if (ports_.pods == nullptr) return;
    for (const auto& [uid, claim] : checkpoint_.claims) {
      for (const auto& [pod, grace] : claim.held_by) ports_.pods->expect(pod, grace);
      if (has_entered_) continue;
      for (const std::string& pod : claim.pods) ports_.pods->expect_if_watched(pod);
    }
  }

  // Looked at for each decision: the driver may be loaded, or unloaded, at any time.
  [[nodiscard]] std::optional<core::NodeFault> channel_fault() const {
    const auto usable = ports_.channels.check();
    if (usable) return std::nullopt;
    return core::NodeFault{core::kFaultChannels, "NoImexChannels", usable.error().message};
  }

  // An error once, and its end.
  void tell_fabric(const core::FabricReading& reading) {
    if (reading.error == fabric_error_) return;
    fabric_error_ = reading.error;
    if (reading.error.empty()) {
      base::log_info("the NVLink fabric can be read again",
                     {{"node", options_.self.name}, {"clique", reading.clique.value_or("")}});
    } else {
      base::log_warning("cannot read the NVLink fabric; check the GPU driver",
                        {{"node", options_.self.name}, {"error", reading.error}});
    }
  }

  void show_held(core::NodeWorld& world) {
    const auto written = ports_.channels.written();
    world.knows_held = written && written->are_all;
    if (!written || written->by_claim.empty()) return;
    const std::vector<core::ClaimRef> named = ports_.kubelet.claims();
    for (const auto& [uid, channels] : written->by_claim) {
      const auto it = std::ranges::find(named, uid, &core::ClaimRef::uid);
      world.held.push_back({it == named.end() ? core::ClaimRef{"", "", uid} : *it, channels});
    }
  }

  // Which claims that only a report told of are named by nothing here, and since when.
  void show_unnamed(core::NodeWorld& world) {
    std::map<std::string, base::Duration> unnamed_since;
    for (const auto& [uid, claim] : checkpoint_.claims) {
      if (!claim.claim.name.empty() || claim.phase == core::ClaimPhase::Ending) continue;
      if (ports_.channels.is_written(uid) || ports_.kubelet.knows(uid)) continue;
      const auto known = unnamed_since_.find(uid);
      unnamed_since[uid] = known == unnamed_since_.end() ? world.elapsed : known->second;
    }
    unnamed_since_ = std::move(unnamed_since);
    world.unnamed_since = unnamed_since_;
  }

  base::Result<base::DaemonStatus> imex_status() const {
    if (inputs_.imex) return *inputs_.imex;
    return inputs_.imex_error.value_or(
        base::Error{base::ErrorKind::Unavailable, "compute-domain-imex was not asked yet"});
  }

  // Whether anything was done. What kubelet waits for does not wait for the API server, nor does
  // another agent of this node.
  bool carry_out(const core::NodeWorld& world, const core::NodePlan& plan,
                 std::unique_ptr<CheckpointStore::Hold> hold) {
    const auto done = apply_.on_the_node(plan.on_node);
    hold.reset();
    follow_lists();
    if (!done) {
      back_off(done.error().message);
      // A disk that is full does not keep a daemon that has ended Ready.
      if (const auto report = core::report_of_failure(world, plan)) send({*report});
      has_news_ = true;
      return true;
    }
    if (!*done) {
      // An action met a setback: the rest of the plan may not hold any more.
      has_news_ = true;
      return true;
    }
    failures_ = 0;
    logged_error_.clear();
    retry_at_.reset();
    const bool acted = !plan.on_node.empty();
    const bool sends = send(plan.on_server);
    has_news_ = acted;
    return acted || sends;
  }

  // While intents of an earlier plan are under way, none is sent: a new decision follows when they
  // are done.
  bool send(const std::vector<core::ServerIntent>& intents) {
    if (server_is_busy_ || intents.empty()) return false;
    server_is_busy_ = true;
    server_.report_is_sent(std::ranges::any_of(intents, [](const auto& intent) {
      return std::holds_alternative<core::PublishReport>(intent);
    }));
    mail_.orders.post(CarryOut{intents});
    return true;
  }

  void back_off(const std::string& error) {
    // Once, however often the same is tried in vain.
    if (error != logged_error_) {
      base::log_warning("could not carry out what is planned for this node; trying again",
                        {{"node", options_.self.name}, {"error", error}});
    }
    logged_error_ = error;
    mailbox_.set_reason_of_all(error);
    const base::Duration delay = std::min(kFirstBackoff * (1 << failures_), kLastBackoff);
    failures_ = std::min(failures_ + 1, 10);
    retry_at_ = clock_.elapsed() + delay;
  }

  NodePorts ports_;
  Mailbox& mailbox_;
  ServerMail& mail_;
  const base::Clock& clock_;
  const NodeAgentOptions options_;
  base::Random random_;
  core::Checkpoint checkpoint_;
  core::Checkpoint known_;  // whose text is known_text_
  std::string known_text_;
  bool has_entered_ = false;
  const base::Duration began_;
  std::uint64_t looked_at_ = 0;  // of the supervisor's news
  Refusals refusals_;
  ServerView server_;
  DaemonHistory daemon_;
  Setbacks setbacks_;
  const std::shared_ptr<AgentMetrics> agent_metrics_;  // with the mailbox
  std::string fabric_error_, last_address_, cannot_start_;
  std::vector<base::NodeLack> lacks_;
  std::optional<base::Duration> not_looked_since_;
  std::map<std::string, base::Duration> held_since_, unnamed_since_;  // as NodeWorld's
  std::optional<base::Duration> asked_since_;                         // the same
  std::optional<base::Duration> renew_pods_at_;                       // while a pod holds a claim
  Apply apply_;
  int failures_ = 0;
  std::string logged_error_;  // of the failures since the last success
  std::optional<base::Duration> retry_at_, look_again_at_;
  // A decision is due when there is news, and at this moment.
  bool has_news_ = true;
  bool server_is_busy_ = false;  // with what a plan asked of it
  base::Duration decide_at_{};
  std::optional<base::Duration> rests_until_;  // where the last decision found it at rest
  std::optional<std::int64_t> channel_count_;  // of the last decision
  Inputs inputs_;
  std::vector<core::DeviceHealth> devices_;
  bool has_published_ = false;
};

NodeAgent::NodeAgent(NodePorts ports, Mailbox& mailbox, ServerMail& mail, const base::Clock& clock,
                     NodeAgentOptions options, base::Registry* metrics)
    : shell_(std::make_unique<Shell>(std::move(ports), mailbox, mail, clock, std::move(options),
                                     metrics)) {}

NodeAgent::~NodeAgent() = default;

bool NodeAgent::step() { return shell_->step(); }

std::optional<base::Duration> NodeAgent::next_due() const { return shell_->next_due(); }

base::Duration NodeAgent::next_look() const { return shell_->next_look(); }

void NodeAgent::leave() { shell_->leave(); }

std::vector<core::DeviceHealth> NodeAgent::devices() const { return shell_->devices(); }

bool NodeAgent::has_published() const { return shell_->has_published(); }

}  // namespace cdom::agent
