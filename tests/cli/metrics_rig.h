// What the tests of authenticated metrics share: an API server in memory that can be away, two
// accounts of which one may read metrics, and their tokens.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute_domain/base/text.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/sandbox/api_server.h"

namespace cdom::cli {

inline constexpr char kScrapers[] = R"(
apiVersion: v1
kind: Namespace
metadata: {name: default}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: default}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: stranger, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: metrics-reader}
rules:
- {nonResourceURLs: [/metrics], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: metrics-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: metrics-reader}
subjects:
- {kind: ServiceAccount, namespace: default, name: prometheus}
)";

// An http::Client whose server can be away, or silent until it is let go. Thread-safe.
class Line : public http::Client {
 public:
  explicit Line(std::unique_ptr<http::Client> client) : client_(std::move(client)) {}

  void cut(bool is_cut) {
    change([&] { is_cut_ = is_cut; });
  }
  void hang(bool hangs) {
    change([&] { hangs_ = hangs; });
  }
  // Until a request is on its way that gets no answer.
  void await_one_that_hangs() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return hanging_ > 0; });
  }
  // The resources that were asked for so far: "tokenreviews".
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  base::Result<http::Response> send(const http::Request& request) override {
    {
      std::unique_lock lock(mutex_);
      const std::string path = request.target.substr(0, request.target.find('?'));
      asked_.push_back(base::split(path, '/').back());
      ++hanging_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !hangs_; });
      --hanging_;
      if (is_cut_) return base::Error{base::ErrorKind::Unavailable, "connection refused"};
    }
    return client_->send(request);
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    return client_->open(request);
  }
  void shut_down() override {}

 private:
  void change(const auto& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  const std::unique_ptr<http::Client> client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_cut_ = false, hangs_ = false;
  int hanging_ = 0;
  std::vector<std::string> asked_;
};

struct MetricsRig {
  base::ManualClock clock;
  sandbox::ApiServer server{clock};
  Line line{server.client(sandbox::admin_user())};
  kube::Client client{line, clock, "test"};

  MetricsRig() {
    if (const auto loaded = server.load(kScrapers); !loaded) {
      throw std::runtime_error(loaded.error().message);
    }
  }
  std::string token_of(const std::string& account) {
    http::Request request{
        .method = "POST",
        .target = base::cat("/api/v1/namespaces/default/serviceaccounts/", account, "/token"),
        .headers = {{"Content-Type", "application/json"}},
        .body = "{}"};
    const std::string body = server.handle(request, sandbox::admin_user()).body;
    constexpr std::string_view kField = "\"token\":\"";
    const std::size_t start = body.find(kField) + kField.size();
    return body.substr(start, body.find('"', start) - start);
  }
};

}  // namespace cdom::cli
