// Random lives of a node, beside what a person would say of them: which claims have lost memory.
#include <map>
#include <set>
#include <string>

#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using base::DaemonPhase;
using Uids = std::set<std::string>;

class RandomLife {
 public:
  explicit RandomLife(std::uint64_t seed) : random_(seed), by_channel_(seed % 2 == 0) {
    if (by_channel_) scene_.world.settings.isolation = api::Isolation::Channel;
    scene_.settle().show(by_channel_ ? ListBuilder("") : train());
    admit("a");
    look();
    scene_.advance(seconds(1)).daemon_ready();
    look();
  }

  // Until it is at rest.
  void live(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      look();
    }
    scene_.world.report.current = true;
    if (!scene_.world.daemon) supervisor_answers(0);
    for (int i = 0; i < 3; ++i) {
      scene_.advance(seconds(60));
      look();
    }
    EXPECT_TRUE(untold_.empty()) << "a loss that is never told";
    scene_.history.clear();
    scene_.advance(seconds(60));
    look();
    EXPECT_TRUE(scene_.history.empty()) << ::testing::PrintToString(scene_.history);
  }

  std::string story;

 private:
  int pick(int bound) { return static_cast<int>(random_.below(static_cast<unsigned>(bound))); }

  void step() {
    auto& daemon = scene_.world.daemon;
    switch (pick(10)) {
      case 0:
        if (!daemon || !daemon->running) break;
        return phase(pick(3));
      case 1:
        if (!daemon || !daemon->running) break;
        return daemon_dies();
      case 2:
        if (!daemon || (!daemon->running && !daemon->starts_again)) break;
        return daemon_is_another(pick(2) == 0 ? DaemonPhase::Ready : DaemonPhase::Starting);
      case 3:
        return daemon ? supervisor_is_silent() : supervisor_answers(pick(3));
      case 4:
        story += "agent restarts, ";
        scene_.restart_agent();
        return;
      case 5:
        return admit(pick(2) == 0 ? "b" : "c");
      case 6:
        return unprepare(std::string(1, static_cast<char>('a' + pick(3))));
      case 7:
        story += "API server, ";
        scene_.world.report.current = !scene_.world.report.current;
        return;
      default:
        break;
    }
    const int wait = 100 << (2 * pick(3));
    story += base::cat("+", wait, ", ");
    scene_.advance(milliseconds(wait));
  }

  void phase(int number) {
    story += base::cat("phase ", number, ", ");
    scene_.daemon_is(std::array{DaemonPhase::Ready, DaemonPhase::Failed,
                                DaemonPhase::Starting}[static_cast<unsigned>(number)]);
  }
  void daemon_dies() {
    story += "dies, ";
    ended_.insert(scene_.world.daemon->instance);
    scene_.daemon_dies("killed").world.daemon->starts_again = pick(2) == 0;
  }
  void daemon_is_another(DaemonPhase phase) {
    story += "another, ";
    ended_.insert(scene_.world.daemon->instance);
    SeenDaemon& daemon = *scene_.daemon_is_another(phase).world.daemon;
    daemon.instance = base::cat("x", ++names_);
    daemon.starts_again = daemon.answers = true;
  }
  void supervisor_is_silent() {
    story += "silent, ";
    silent_ = *std::exchange(scene_.world.daemon, std::nullopt);
    scene_.world.supervisor_error = "compute-domain-imex does not answer";
    scene_.world.supervisor_silent_since = scene_.world.elapsed;
    scene_.world.supervisor_has_ended = pick(4) == 0;
    if (!scene_.world.supervisor_has_ended) return;
    ended_.insert(silent_.instance);
    silent_.running = silent_.answers = false;
    silent_.phase = DaemonPhase::Failed;
    silent_.starts_again = true;
  }
  // With what it ran before, with nothing that runs, or with another one.
  void supervisor_answers(int how) {
    story += base::cat("answers ", how, ", ");
    scene_.world.daemon = silent_;
    scene_.world.supervisor_has_ended = false;
    if (how == 1 && silent_.running) daemon_dies();
    if (how == 2) daemon_is_another(DaemonPhase::Starting);
  }
  // With isolation by domain that is a new term.
  void admit(const std::string& claim) {
    if (!wanted_.insert(claim).second) return;
    story += base::cat("prepare ", claim, ", ");
    api::NodeList list = *scene_.world.lists.front().stored.list;
    list.entries.front().admits.push_back({claim + "-uid", by_channel_ ? claim.front() - 'a' : 0});
    if (!by_channel_) ++list.entries.front().term;
    scene_.show(list).prepare(claim);
  }
  void unprepare(const std::string& claim) {
    if (!scene_.is_prepared(claim) || wanted_.size() < 2) return;
    wanted_.erase(claim);
    story += base::cat("unprepare ", claim, ", ");
    api::NodeList list = *scene_.world.lists.front().stored.list;
    std::erase_if(list.entries.front().admits,
                  [&](const api::Admission& admits) { return admits.claim_uid == claim + "-uid"; });
    scene_.show(list).unprepare(claim);
  }

  [[nodiscard]] bool is_prepared(const std::string& uid) const {
    const auto it = scene_.world.checkpoint.claims.find(uid);
    return it != scene_.world.checkpoint.claims.end() && it->second.phase == ClaimPhase::Completed;
  }
  // Notes which claims have lost memory, and compares that with the report.
  void look() {
    scene_.settle();
    const auto& daemon = scene_.world.daemon;
    std::erase_if(used_, [&](const auto& use) { return !is_prepared(use.first); });
    if (std::ranges::none_of(untold_, [&](const auto& uid) { return is_prepared(uid); })) {
      untold_.clear();
    }
    if (daemon || scene_.world.supervisor_has_ended) {
      for (auto it = used_.begin(); it != used_.end();) {
        const bool is_lost = ended_.contains(it->second);
        if (is_lost) untold_.insert(it->first);
        it = is_lost ? used_.erase(it) : std::next(it);
      }
    }
    if (daemon && daemon->running && daemon->phase == DaemonPhase::Ready) {
      for (const auto& [uid, claim] : scene_.world.checkpoint.claims) {
        if (is_prepared(uid)) used_[uid] = daemon->instance;
      }
    }
    compare();
  }
  void compare() {
    const auto* group = scene_.world.report.objects.empty() ? nullptr
                        : by_channel_                       ? scene_.group("")
                                                            : scene_.group();
    if (group == nullptr) return;
    if (told_ == group->last_loss) return;
    ASSERT_TRUE(group->last_loss) << "it is told no more";
    EXPECT_TRUE(!told_ || told_->time < group->last_loss->time);
    EXPECT_EQ(Uids(group->lost_claims.begin(), group->lost_claims.end()), untold_);
    told_ = group->last_loss;
    untold_.clear();
  }

  NodeScene scene_;
  base::Random random_;
  const bool by_channel_;
  SeenDaemon silent_;                        // that the supervisor ran when it was heard last
  int names_ = 0;                            // of daemons
  std::set<std::string> wanted_;             // claims
  std::map<std::string, std::string> used_;  // by claim, the daemon that it uses
  std::set<std::string> ended_;              // daemons
  Uids untold_;                              // claims of the loss that is to be told
  std::optional<api::DaemonFailure> told_;
};

TEST(NodeLossesAtRandom, AreToldOnceEach) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomLife life(seed);
    life.live(20);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ": " << life.story;
  }
}

}  // namespace
}  // namespace cdom::core
