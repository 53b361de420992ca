#include "compute_domain/sandbox/api_server.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/serving/faulty_stream.h"
#include "sandbox/apiserver/serving/in_process_client.h"
#include "sandbox/apiserver/serving/outcome.h"
#include "sandbox/apiserver/serving/routes.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/apiserver/storage/api_state.h"

namespace cdom::sandbox {

using base::cat;
using namespace server;

bool User::is_master() const { return std::ranges::find(groups, "system:masters") != groups.end(); }

User admin_user() {
  return {.name = "kubernetes-admin", .groups = {"system:masters", "system:authenticated"}};
}

User service_account_user(std::string_view namespace_, std::string_view name,
                          std::string_view node) {
  User user{.name = cat("system:serviceaccount:", namespace_, ":", name),
            .groups = {"system:serviceaccounts", cat("system:serviceaccounts:", namespace_),
                       "system:authenticated"}};
  if (!node.empty()) user.extra["authentication.kubernetes.io/node-name"] = {std::string(node)};
  return user;
}

namespace {

// The user that the request is to be carried out for: an administrator may speak for others
// (kubectl --as).
User effective_user(const http::Request& request, const User& user) {
  const auto name = request.headers.find("Impersonate-User");
  if (name == request.headers.end()) return user;
  if (!user.is_master()) throw StatusError(unauthorized());
  User other{.name = name->second, .groups = {"system:authenticated"}};
  if (const auto group = request.headers.find("Impersonate-Group");
      group != request.headers.end()) {
    for (const std::string& each : base::split(group->second, ',')) {
      other.groups.emplace_back(base::trim(each));
    }
  }
  return other;
}

http::Response rejection(const FaultRule& rule) {
  Status status = rule.status == 429 ? too_many_requests(1) : internal_error("injected fault");
  status.code = rule.status;
  if (rule.status == 503) {
    status.reason = "ServiceUnavailable";
    status.message = "the server is currently unable to handle the request";
  }
  status.retry_after_seconds = rule.retry_after_seconds;
  http::Response response = to_response(status);
  if (rule.retry_after_seconds) {
    response.headers["Retry-After"] = std::to_string(*rule.retry_after_seconds);
  }
  return response;
}

void authorize(ApiState& state, const RequestInfo& info, const User& user) {
  const Access access = access_of(info, user);
  if (state.access.allows(user, access) || is_open_to_all(info)) return;
  Status status{.code = 403, .reason = "Forbidden", .message = forbidden_message(access)};
  status.name = info.name;
  status.group = info.group;
  status.kind = info.resource;
  throw StatusError(std::move(status));
}

}  // namespace

ApiServer::ApiServer(const base::Clock& clock, const ApiServerOptions& options)
    : state_(std::make_shared<ApiState>(clock, options)) {}

ApiServer::~ApiServer() = default;

Outcome ApiServer::answer(const http::Request& request, const User& asking) {
  Outcome outcome;
  std::vector<std::condition_variable*> changed;
  {
    const std::lock_guard lock(state_->mutex);
    try {
      const User user = effective_user(request, asking);
      const RequestInfo info = read_request(request);
      authorize(*state_, info, user);
      if (!info.is_resource) {
        outcome.response = answer_path(*state_, request, info);
      } else {
        Call call = call_of(*state_, request, info, user);
        if (is_stream_request(info)) {
          outcome.stream = open_stream(state_, call);
          outcome.response.headers["Content-Type"] =
              info.verb == "watch" ? "application/json" : "text/plain";
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
    changed = state_->storage.take_changed();
  }
  for (std::condition_variable* const of_bucket : changed) of_bucket->notify_all();
  if (!changed.empty()) state_->listeners.tell();
  return outcome;
}

http::Response ApiServer::handle(const http::Request& request, const User& user) {
  Outcome outcome = answer(request, user);
  if (outcome.stream == nullptr) return std::move(outcome.response);
  return to_response(bad_request("a watch is opened, not asked for: use open()"));
}

http::Opened ApiServer::open(const http::Request& request, const User& user) {
  return opened_from(answer(request, user));
}

Outcome ApiServer::serve(const http::Request& request, const User& user) {
  const RequestInfo info = read_request(request);
  const std::string resource =
      info.subresource.empty() ? info.resource : cat(info.resource, "/", info.subresource);
  const auto rule = state_->faults.meet(
      {.user = user.name, .verb = info.verb, .resource = resource, .name = info.name});
  if (rule && rule->kind == FaultKind::Reject) return {.response = rejection(*rule)};
  if (rule && rule->kind == FaultKind::Refuse) return {.is_broken = true};

  Outcome outcome = answer(request, user);
  base::Duration lag{};
  if (rule && rule->kind == FaultKind::LoseAnswer) return {.is_broken = true};
  if (rule && rule->kind == FaultKind::Truncate) {
    outcome.response.body.resize(outcome.response.body.size() / 2);
  }
  if (rule && rule->kind == FaultKind::Delay) {
    (outcome.stream == nullptr ? outcome.delay : lag) = rule->delay;
  }
  if (outcome.stream != nullptr) {
    outcome.stream = std::make_unique<FaultyStream>(std::move(outcome.stream), state_,
                                                    state_->faults, user.name, resource, lag);
  }
  return outcome;
}

Faults& ApiServer::faults() { return state_->faults; }

std::unique_ptr<http::Client> ApiServer::client(User user) {
  return std::make_unique<InProcessClient>(*this, std::move(user));
}

std::optional<User> ApiServer::authenticate(std::string_view token) const {
  const std::lock_guard lock(state_->mutex);
  return state_->tokens.user_of(token, state_->storage);
}

const std::string& ApiServer::admin_token() const { return state_->tokens.admin_token(); }

void ApiServer::append_log(std::string_view namespace_, std::string_view pod,
                           std::string_view container, std::string_view text) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->logs.append(namespace_, pod, container, text);
  }
  state_->changed.notify_all();
  state_->listeners.tell();
}

void ApiServer::compact() {
  const std::lock_guard lock(state_->mutex);
  state_->storage.compact();
}

std::uint64_t ApiServer::resource_version() const {
  const std::lock_guard lock(state_->mutex);
  return state_->storage.resource_version();
}

std::shared_ptr<void> ApiServer::on_change(std::function<void()> callback) {
  return state_->listeners.add(std::move(callback));
}

}  // namespace cdom::sandbox
