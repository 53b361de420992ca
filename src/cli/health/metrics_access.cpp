#include "cli/health/metrics_access.h"

#include <pthread.h>

#include <utility>

#include "compute_domain/base/digest.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace {

using base::Result;

constexpr std::size_t kMostRemembered = 128;
constexpr base::Duration kBelieveUser = std::chrono::minutes(1);
constexpr base::Duration kBelieveRight = std::chrono::minutes(5);
constexpr base::Duration kBelieveRefusal = std::chrono::seconds(30);
// After this a scraper has given up.
constexpr base::Duration kLongestWait = std::chrono::seconds(10);
// Any peer that may connect can cause a warning with each request.
constexpr base::Duration kBetweenWarnings = std::chrono::minutes(1);

}  // namespace

MetricsAccess::MetricsAccess(const kube::Client& api_server, const base::Clock& clock,
                             std::string path)
    : api_server_(api_server),
      clock_(clock),
      path_(std::move(path)),
      bearers_(kMostRemembered),
      strangers_(kMostRemembered),
      rights_(kMostRemembered),
      thread_([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "metrics-access");
        work(stop);
      }) {}

MetricsAccess::~MetricsAccess() = default;

void MetricsAccess::ask(const std::string& token, const Then& then) {
  const auto at_once = [&]() -> std::optional<Answer> {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_locked(base::sha256(token))) return known;
    if (questions_.size() >= kMostWaiting) return Answer::Busy;
    questions_.push_back({token, then, clock_.elapsed()});
    return std::nullopt;
  }();
  if (at_once) return then(*at_once);
  arrived_.notify_one();
}

MetricsAccess::UserKey MetricsAccess::key_of(const api::UserInfo& user) {
  return {user.name, user.uid, user.groups, user.extra};
}

MetricsAccess::Answer MetricsAccess::answer_for(bool is_allowed) {
  return is_allowed ? Answer::Allowed : Answer::NotAllowed;
}

const api::UserInfo* MetricsAccess::known_user_locked(const std::string& digest) {
  const Bearer* bearer = bearers_.find(digest);
  return bearer && clock_.elapsed() < bearer->believed_until ? &bearer->user : nullptr;
}

std::optional<bool> MetricsAccess::known_right_locked(const api::UserInfo& user) {
  const Right* right = rights_.find(key_of(user));
  if (right == nullptr || clock_.elapsed() >= right->believed_until) return std::nullopt;
  return right->is_allowed;
}

std::optional<MetricsAccess::Answer> MetricsAccess::known_locked(const std::string& digest) {
  if (const api::UserInfo* user = known_user_locked(digest)) {
    const std::optional<bool> is_allowed = known_right_locked(*user);
    return is_allowed ? std::optional(answer_for(*is_allowed)) : std::nullopt;
  }
  const base::Duration* known_until = strangers_.find(digest);
  if (known_until == nullptr || clock_.elapsed() >= *known_until) return std::nullopt;
  return Answer::UnknownToken;
}

void MetricsAccess::work(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, stop, [this] { return !questions_.empty(); });
    if (stop.stop_requested()) return;
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    lock.unlock();
    question.then(answer_to(question));
  }
}

MetricsAccess::Answer MetricsAccess::answer_to(const Question& question) {
  const std::string digest = base::sha256(question.token);
  {
    // The one before it may have had the same token.
    const std::lock_guard lock(mutex_);
    if (const auto known = known_locked(digest)) return *known;
  }
  if (clock_.elapsed() - question.since >= kLongestWait) return Answer::NotKnown;
  const Result<Answer> answer = review(question.token, digest);
  if (answer) return *answer;
  warn(answer.error());
  return Answer::NotKnown;
}

Result<MetricsAccess::Answer> MetricsAccess::review(const std::string& token,
                                                    const std::string& digest) {
  std::optional<api::UserInfo> user;
  {
    const std::lock_guard lock(mutex_);
    if (const api::UserInfo* known = known_user_locked(digest)) user = *known;
  }
  if (!user) {
    auto reviewed = review_token(token, digest);
    if (!reviewed) return reviewed.error();
    if (!*reviewed) return Answer::UnknownToken;
    user = *std::move(*reviewed);
    // A right is believed for longer than a token.
    const std::lock_guard lock(mutex_);
    if (const auto is_allowed = known_right_locked(*user)) return answer_for(*is_allowed);
  }
  const auto is_allowed = review_access(*user);
  if (!is_allowed) return is_allowed.error();
  return answer_for(*is_allowed);
}

Result<std::optional<api::UserInfo>> MetricsAccess::review_token(const std::string& token,
                                                                 const std::string& digest) {
  auto answer = api_server_.create<api::TokenReview>({.token = token});
  if (!answer) return answer.error();
  const std::lock_guard lock(mutex_);
  const base::Duration until = clock_.elapsed() + kBelieveUser;
  if (!answer->authenticated) {
    strangers_.at_or(digest, until) = until;
    return std::optional<api::UserInfo>();
  }
  bearers_.at_or(digest, {}) = {answer->user, until};
  return std::optional(std::move(answer->user));
}

Result<bool> MetricsAccess::review_access(const api::UserInfo& user) {
  api::SubjectAccessReview question = api::review_of(user);
  question.path_verb = "get";
  question.path = path_;
  const auto answer = api_server_.create(question);
  if (!answer) return answer.error();
  const std::lock_guard lock(mutex_);
  rights_.at_or(key_of(user), {}) = {
      answer->allowed, clock_.elapsed() + (answer->allowed ? kBelieveRight : kBelieveRefusal)};
  return answer->allowed;
}

void MetricsAccess::warn(const base::Error& error) {
  const base::Duration now = clock_.elapsed();
  if (warned_ && now - *warned_ < kBetweenWarnings) return;
  warned_ = now;
  const bool lacks_right = error.kind == base::ErrorKind::Forbidden;
  base::log_warning("cannot ask the API server who may read the metrics",
                    {{"error", error.message},
                     {"next", lacks_right ? "let this account create tokenreviews and "
                                            "subjectaccessreviews (manifests/metrics-tls)"
                                          : "the next request asks again"}});
}

std::unique_ptr<MetricsReaders> readers_of(const std::string& path, const HealthFlags& flags,
                                           const kube::Client& api_server,
                                           const base::Clock& clock) {
  if (!flags.authentication) return nullptr;
  return std::make_unique<MetricsAccess>(api_server, clock, path);
}

}  // namespace cdom::cli
