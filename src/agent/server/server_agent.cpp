#include "compute_domain/agent/server_agent.h"

#include <deque>
#include <variant>

#include "agent/server/server_requests.h"
#include "agent/server/watches.h"
#include "compute_domain/base/log.h"

namespace cdom::agent {

class ServerAgent::Shell {
 public:
  Shell(const kube::Client& client, ServerMail& mail, const base::Clock& clock,
        const NodeAgentOptions& options, base::Registry* metrics)
      : mail_(mail),
        clock_(clock),
        node_(options.self.name),
        requests_(client, clock, mail.results, node_, options.operator_namespace),
        watches_(client, clock, mail.results, options, metrics) {}

  // What a plan asks comes before the watches: kubelet waits for it.
  bool step() {
    while (auto order = mail_.orders.take()) {
      std::visit([this](auto& one) { begin(one); }, *order);
    }
    if (left_.empty()) return watches_.step();
    const Result done = requests_.run(left_.front(), watches_.seen_slices());
    left_.pop_front();
    if (!done) {
      base::log_warning("the API server did not take a write",
                        {{"node", node_}, {"error", done.error().message}});
      left_.clear();
    }
    if (left_.empty()) mail_.results.post(CarriedOut{});
    return true;
  }

  std::optional<base::Duration> next_due() const {
    if (!left_.empty() || !mail_.orders.is_empty()) return clock_.elapsed();
    return watches_.next_due();
  }

 private:
  using Result = base::Result<void>;

  void begin(CarryOut& order) {
    left_.insert(left_.end(), std::make_move_iterator(order.intents.begin()),
                 std::make_move_iterator(order.intents.end()));
  }
  void begin(const FollowLists& order) { watches_.follow(order.clique); }

  ServerMail& mail_;
  const base::Clock& clock_;
  const std::string node_;
  ServerRequests requests_;
  Watches watches_;
  std::deque<core::ServerIntent> left_;  // of one plan
};

ServerAgent::ServerAgent(const kube::Client& client, ServerMail& mail, const base::Clock& clock,
                         const NodeAgentOptions& options, base::Registry* metrics)
    : shell_(std::make_unique<Shell>(client, mail, clock, options, metrics)) {}

ServerAgent::~ServerAgent() = default;

bool ServerAgent::step() { return shell_->step(); }

std::optional<base::Duration> ServerAgent::next_due() const { return shell_->next_due(); }

}  // namespace cdom::agent
