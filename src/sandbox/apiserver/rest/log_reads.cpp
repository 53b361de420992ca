#include "sandbox/apiserver/rest/log_reads.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

std::string container_of(const Call& call, const json& pod) {
  const std::string& wanted = call.info.option("container");
  std::vector<std::string> names;
  for (const json& container : at_path(pod, {"spec", "containers"})) {
    names.push_back(text_at(container, {"name"}));
    if (names.back() == wanted) return wanted;
  }
  if (!wanted.empty()) {
    throw StatusError(
        bad_request(cat("container ", wanted, " is not valid for pod ", call.info.name)));
  }
  if (names.size() == 1) return names.front();
  throw StatusError(bad_request(cat("a container name must be specified for pod ", call.info.name,
                                    ", choose one of: [", base::join(names, " "), "]")));
}

struct Target {
  std::string pod_uid, container;
};

Target target_of(const Call& call) {
  const Object pod = call.state.storage.get("pods", call.key());
  if (!pod) throw StatusError(not_found(*call.kind, call.info.name));
  const std::string container = container_of(call, pod->value());
  const json& statuses = at_path(pod->value(), {"status", "containerStatuses"});
  std::string waiting = text_at(pod->value(), {"spec", "nodeName"}).empty() ? "Pending" : "";
  if (statuses.is_array()) {
    for (const json& status : statuses) {
      if (text_at(status, {"name"}) == container) {
        waiting = text_at(status, {"state", "waiting", "reason"});
      }
    }
  }
  if (!waiting.empty()) {
    throw StatusError(
        bad_request(cat("container ", in_quotes(container), " in pod ", in_quotes(call.info.name),
                        " is waiting to start: ", waiting)));
  }
  return {.pod_uid = uid_of(pod->value()), .container = container};
}

// Where the last `lines` lines begin.
std::size_t tail_of(std::string_view text, std::size_t lines) {
  std::size_t at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  while (at > 0) {
    const auto newline = text.rfind('\n', at - 1);
    if (newline == std::string_view::npos) return 0;
    if (--lines == 0) return newline + 1;
    at = newline;
  }
  return 0;
}

std::size_t start_of(const Call& call, std::string_view text) {
  const auto lines = parse_resource_version(call.info.option("tailLines"));
  if (call.info.option("tailLines").empty() || !lines) return 0;
  return *lines == 0 ? text.size() : tail_of(text, *lines);
}

class FollowedLog : public LiveStream {
 public:
  FollowedLog(std::shared_ptr<ApiState> shared, std::string ns, std::string pod, Target target,
              std::size_t position)
      : LiveStream(std::move(shared)),
        namespace_(std::move(ns)),
        pod_(std::move(pod)),
        target_(std::move(target)),
        position_(position) {}

  Piece take() override {
    const PodLogs::Text log = state().logs.read(namespace_, pod_, target_.container);
    const std::size_t from = position_ > log.begin ? position_ - log.begin : 0;
    if (from < log.kept.size()) {
      position_ = log.begin + log.kept.size();
      return {.what = Piece::What::Text,
              .text = std::make_shared<const std::string>(log.kept.substr(from))};
    }
    return {.what = has_ended() ? Piece::What::End : Piece::What::Nothing};
  }

 private:
  [[nodiscard]] bool has_ended() const {
    const Object pod = state().storage.get("pods", cat(namespace_, "/", pod_));
    if (!pod || uid_of(pod->value()) != target_.pod_uid) return true;
    const std::string& phase = text_at(pod->value(), {"status", "phase"});
    return phase == "Succeeded" || phase == "Failed";
  }

  const std::string namespace_, pod_;
  const Target target_;
  std::size_t position_;
};

}  // namespace

http::Response read_log(Call& call) {
  const Target target = target_of(call);
  const std::string_view text =
      call.state.logs.read(call.info.namespace_, call.info.name, target.container).kept;
  return {.status = 200,
          .headers = {{"Content-Type", "text/plain"}},
          .body = std::string(text.substr(start_of(call, text)))};
}

std::unique_ptr<LiveStream> follow_log(const std::shared_ptr<ApiState>& state, Call& call) {
  Target target = target_of(call);
  const PodLogs::Text log =
      state->logs.read(call.info.namespace_, call.info.name, target.container);
  const std::size_t position = log.begin + start_of(call, log.kept);
  return std::make_unique<FollowedLog>(state, call.info.namespace_, call.info.name,
                                       std::move(target), position);
}

}  // namespace cdom::sandbox::server
