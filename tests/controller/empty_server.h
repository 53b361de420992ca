// EmptyServer: an API server without objects but those that a test puts there, whose watches are
// silent.
//
// refuse() says with which code it answers a request whose method and target contain a text, and
// breaks the watches. What is created is recorded and nothing else, and what is to be changed is
// not there. Thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compute_domain/api/kind.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"

namespace cdom::controller {

class EmptyServer : public http::Client {
 public:
  void refuse(const std::string& part, int code) {
    const std::scoped_lock lock(mutex_);
    refused_ = part;
    code_ = code;
    ++cuts_;
    changed_.notify_all();
  }

  // The only objects of a kind, as JSON.
  void put(const std::string& plural, const std::string& items) {
    const std::scoped_lock lock(mutex_);
    items_[plural] = items;
  }
  // The bodies of what was created.
  [[nodiscard]] std::vector<std::string> created() const {
    const std::scoped_lock lock(mutex_);
    return created_;
  }

  // The targets that contain `part`, of each request.
  [[nodiscard]] std::vector<std::string> asked(const std::string& part) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    for (const std::string& target : targets_) {
      if (target.find(part) != std::string::npos) found.push_back(target);
    }
    return found;
  }

  base::Result<http::Response> send(const http::Request& request) override {
    const std::scoped_lock lock(mutex_);
    targets_.push_back(request.target);
    if (is_refused(request)) return refusal();
    if (request.method == "POST") {
      created_.push_back(request.body);
      return http::Response{.status = 201, .headers = {}, .body = request.body};
    }
    if (request.method == "PATCH") return http::Response{.status = 404, .headers = {}, .body = {}};
    if (request.target == "/apis/resource.k8s.io") {
      return http::Response{
          .status = 200,
          .headers = {},
          .body =
              R"({"kind":"APIGroup","apiVersion":"v1","name":"resource.k8s.io","versions":[{"version":"v1"}]})"};
    }
    return http::Response{.status = 200, .headers = {}, .body = list_at(request.target)};
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    const std::scoped_lock lock(mutex_);
    if (is_refused(request)) return http::Opened{.response = refusal(), .stream = nullptr};
    return http::Opened{.response = {}, .stream = std::make_unique<Watch>(*this, cuts_)};
  }
  void shut_down() override {}

 private:
  // Breaks when refuse() is called.
  class Watch : public http::Stream {
   public:
    Watch(EmptyServer& server, int cuts) : server_(server), cuts_(cuts) {}
    base::Result<http::StreamRead> next(base::Duration wait) override {
      std::unique_lock lock(server_.mutex_);
      const auto is_over = [&] { return is_cancelled_ || server_.cuts_ != cuts_; };
      if (!server_.changed_.wait_for(lock, wait, is_over)) return http::StreamRead{};
      return base::Error{is_cancelled_ ? base::ErrorKind::Cancelled : base::ErrorKind::Unavailable,
                         "cut"};
    }
    void cancel() override {
      const std::scoped_lock lock(server_.mutex_);
      is_cancelled_ = true;
      server_.changed_.notify_all();
    }

   private:
    EmptyServer& server_;
    const int cuts_;
    bool is_cancelled_ = false;
  };

  // Of the kind and version that the path names, of all namespaces or of one.
  [[nodiscard]] std::string list_at(const std::string& target) const {
    const std::string path = base::split(target, '?').front();
    const std::string plural = base::split(path, '/').back();
    for (const api::Kind* kind : api::all_kinds()) {
      for (const std::string_view version : kind->versions) {
        const std::string collection = api::path_of(*kind, version);
        const std::string served = collection.substr(0, collection.rfind('/') + 1);
        if (plural != kind->plural || !path.starts_with(served)) continue;
        return base::cat(R"({"kind":")", kind->kind, R"(List","apiVersion":")",
                         api::api_version_of(*kind, version),
                         R"(","metadata":{"resourceVersion":"5"},"items":[)",
                         items_.contains(plural) ? items_.at(plural) : "", "]}");
      }
    }
    ADD_FAILURE() << "no list is at " << target;
    return {};
  }
  [[nodiscard]] bool is_refused(const http::Request& request) const {
    return !refused_.empty() &&
           base::cat(request.method, " ", request.target).find(refused_) != std::string::npos;
  }
  [[nodiscard]] http::Response refusal() const {
    return {.status = code_,
            .headers = {},
            .body = R"({"kind":"Status","message":"for secret/of-somebody"})"};
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> items_;
  std::vector<std::string> created_;
  std::vector<std::string> targets_;
  std::string refused_;
  int code_ = 0;
  int cuts_ = 0;
};

}  // namespace cdom::controller
