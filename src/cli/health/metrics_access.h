// MetricsAccess: whether the bearer of a token may read the metrics, as the API server says.
//
// As in controller-runtime, a TokenReview says whose token it is, and is believed for a minute; a
// SubjectAccessReview says whether that user may `get` the path, and is believed for five minutes,
// a refusal for thirty seconds. Only the digest of a token is kept, and nothing of a token is
// logged. One thread of its own asks; at most 16 requests wait for it, none longer than ten
// seconds. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "cli/health/health_flags.h"
#include "cli/health/metrics_readers.h"
#include "compute_domain/api/review.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/recent_map.h"
#include "compute_domain/base/result.h"
#include "compute_domain/kube/client.h"

namespace cdom::cli {

class MetricsAccess : public MetricsReaders {
 public:
  static constexpr std::size_t kMostWaiting = 16;

  // Both must outlive this.
  MetricsAccess(const kube::Client& api_server, const base::Clock& clock, std::string path);
  // Waits for the question that is being asked; the others get no answer.
  ~MetricsAccess() override;

  // Calls `then` once: at once when the answer is known or Busy, else on the thread of this object.
  void ask(const std::string& token, const Then& then) override;

 private:
  // The fields of a UserInfo.
  using UserKey = std::tuple<std::string, std::string, std::vector<std::string>,
                             std::map<std::string, std::vector<std::string>>>;
  struct Bearer {
    api::UserInfo user;
    base::Duration believed_until{};
  };
  struct Right {
    bool is_allowed = false;
    base::Duration believed_until{};
  };
  struct Question {
    std::string token;
    Then then;
    base::Duration since;
  };

  static UserKey key_of(const api::UserInfo& user);
  static Answer answer_for(bool is_allowed);
  // What is still believed.
  const api::UserInfo* known_user_locked(const std::string& digest);
  std::optional<bool> known_right_locked(const api::UserInfo& user);
  std::optional<Answer> known_locked(const std::string& digest);
  void work(const std::stop_token& stop);
  Answer answer_to(const Question& question);
  // Each asks the API server and remembers what it says.
  base::Result<Answer> review(const std::string& token, const std::string& digest);
  base::Result<std::optional<api::UserInfo>> review_token(const std::string& token,
                                                          const std::string& digest);
  base::Result<bool> review_access(const api::UserInfo& user);
  void warn(const base::Error& error);

  const kube::Client& api_server_;
  const base::Clock& clock_;
  const std::string path_;

  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<Question> questions_;
  // By the digest of the token; apart, so that bad ones push out no good one.
  base::RecentMap<std::string, Bearer> bearers_;
  base::RecentMap<std::string, base::Duration> strangers_;  // known as such until then
  base::RecentMap<UserKey, Right> rights_;
  std::optional<base::Duration> warned_;  // for the thread alone
  std::jthread thread_;
};

// The readers of `path`, as the flags say; null without authentication. `api_server` and `clock`
// must outlive it.
std::unique_ptr<MetricsReaders> readers_of(const std::string& path, const HealthFlags& flags,
                                           const kube::Client& api_server,
                                           const base::Clock& clock);

}  // namespace cdom::cli
