#include "moments.h"

#include <algorithm>

namespace cdom::bench {

namespace {

class ObservedClient : public http::Client {
 public:
  ObservedClient(Moments& moments, std::unique_ptr<http::Client> client)
      : moments_(moments), client_(std::move(client)) {}

  base::Result<http::Response> send(const http::Request& request) override {
    auto answer = client_->send(request);
    const bool is_binding =
        request.method == "POST" && request.target.find("/binding") != std::string::npos;
    if (is_binding && answer && answer->status < 300) moments_.bound();
    return answer;
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    return client_->open(request);
  }
  void shut_down() override { client_->shut_down(); }

 private:
  Moments& moments_;
  const std::unique_ptr<http::Client> client_;
};

class ObservedPlugin : public sandbox::NodePlugin {
 public:
  ObservedPlugin(Moments& moments, std::unique_ptr<sandbox::NodePlugin> plugin)
      : moments_(moments), plugin_(std::move(plugin)) {}

  sandbox::PrepareStep prepare(const sandbox::ClaimRef& claim) override {
    auto step = plugin_->prepare(claim);
    if (step.state == sandbox::PrepareStep::State::Done) moments_.prepared(claim.uid);
    return step;
  }
  sandbox::PrepareStep unprepare(const sandbox::ClaimRef& claim) override {
    return plugin_->unprepare(claim);
  }
  bool step() override { return plugin_->step(); }
  std::optional<base::Duration> next_due() override { return plugin_->next_due(); }

 private:
  Moments& moments_;
  const std::unique_ptr<sandbox::NodePlugin> plugin_;
};

}  // namespace

void Moments::observe(sandbox::ClusterPorts& ports) {
  ports.component_client = [this, inner = ports.component_client](
                               const std::string& user) -> std::unique_ptr<http::Client> {
    if (user != "system:kube-scheduler") return inner(user);
    return std::make_unique<ObservedClient>(*this, inner(user));
  };
  ports.agent = [this, inner = ports.agent](const sandbox::NodeEnvironment& node)
      -> base::Result<std::unique_ptr<sandbox::NodePlugin>> {
    auto plugin = inner(node);
    if (!plugin) return plugin.error();
    return std::unique_ptr<sandbox::NodePlugin>(
        std::make_unique<ObservedPlugin>(*this, *std::move(plugin)));
  };
}

void Moments::clear() {
  const std::scoped_lock lock(mutex_);
  bound_ = 0;
  prepared_.clear();
}

void Moments::bound() {
  const std::scoped_lock lock(mutex_);
  ++bound_;
  last_bound_ = clock_.now();
}

void Moments::prepared(const std::string& claim_uid) {
  const std::scoped_lock lock(mutex_);
  prepared_.try_emplace(claim_uid, clock_.now());
}

Moments::Seen Moments::seen() const {
  const std::scoped_lock lock(mutex_);
  Seen seen{.bound = bound_, .prepared = prepared_.size(), .last_bound = last_bound_};
  for (const auto& [uid, when] : prepared_) seen.last_prepared = std::max(seen.last_prepared, when);
  return seen;
}

}  // namespace cdom::bench
