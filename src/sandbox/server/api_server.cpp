#include "compute_domain/sandbox/api_server.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compute_domain/base/text.h"
#include "sandbox/server/api_state.h"
#include "sandbox/server/in_process_client.h"
#include "sandbox/server/outcome.h"
#include "sandbox/server/routes.h"
#include "sandbox/server/status.h"

namespace cdom::sandbox {

using base::cat;
using namespace server;

bool User::is_master() const { return std::ranges::find(groups, "system:masters") != groups.end(); }

User admin_user() {
  return {.name = "kubernetes-admin", .groups = {"system:masters", "system:authenticated"}};
}

User component_user(std::string name) {
  return {.name = std::move(name), .groups = {"system:masters", "system:authenticated"}};
}

User service_account_user(std::string_view namespace_, std::string_view name,
                          std::string_view node) {
  User user{.name = cat("system:serviceaccount:", namespace_, ":", name),
            .groups = {"system:serviceaccounts", cat("system:serviceaccounts:", namespace_),
                       "system:authenticated"}};
  if (!node.empty()) user.extra["authentication.kubernetes.io/node-name"] = {std::string(node)};
  return user;
}

ApiServer::ApiServer(const base::Clock& clock, ApiServerOptions options)
    : state_(std::make_shared<ApiState>(clock, options)) {}

ApiServer::~ApiServer() = default;

Outcome ApiServer::serve(const http::Request& request, const User& user) {
  Outcome outcome;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::function<void()> on_change;
  {
    const std::lock_guard lock(state_->mutex);
    before = state_->storage.resource_version();
    try {
      const RequestInfo info = read_request(request);
      if (!info.is_resource) {
        outcome.response = answer_path(*state_, request, info);
      } else {
        Call call = call_of(*state_, request, info, user);
        if (is_stream_request(info)) {
          outcome.stream = open_stream(state_, call);
          outcome.response.headers["Content-Type"] = "application/json";
        } else {
          outcome.response = answer_resource(call);
        }
      }
    } catch (const StatusError& error) {
      outcome.response = to_response(error.status());
    } catch (const nlohmann::json::exception& error) {
      // A field of a type that no step checks: Go's decoder would have refused it at the start.
      outcome.response =
          to_response(bad_request(cat("the object does not decode: ", error.what())));
    }
    after = state_->storage.resource_version();
    on_change = state_->on_change;
  }
  if (after != before) {
    state_->changed.notify_all();
    if (on_change) on_change();
  }
  return outcome;
}

http::Response ApiServer::handle(const http::Request& request, const User& user) {
  Outcome outcome = serve(request, user);
  if (outcome.stream == nullptr) return std::move(outcome.response);
  return to_response(bad_request("a watch is opened, not asked for: use open()"));
}

http::Opened ApiServer::open(const http::Request& request, const User& user) {
  Outcome outcome = serve(request, user);
  http::Opened opened{.response = std::move(outcome.response), .stream = std::move(outcome.stream)};
  if (opened.stream == nullptr && opened.response.status == 200) {
    opened.stream = std::make_unique<WholeBody>(std::exchange(opened.response.body, ""));
  }
  return opened;
}

std::unique_ptr<http::Client> ApiServer::client(User user) {
  return std::make_unique<InProcessClient>(*this, std::move(user));
}

void ApiServer::compact() {
  const std::lock_guard lock(state_->mutex);
  state_->storage.compact();
}

std::uint64_t ApiServer::resource_version() const {
  const std::lock_guard lock(state_->mutex);
  return state_->storage.resource_version();
}

void ApiServer::on_change(std::function<void()> callback) {
  const std::lock_guard lock(state_->mutex);
  state_->on_change = std::move(callback);
}

}  // namespace cdom::sandbox
