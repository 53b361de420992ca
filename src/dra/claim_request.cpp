#include "dra/claim_request.h"

#include <memory>
#include <mutex>
#include <utility>

#include "compute_domain/base/text.h"
#include "dra/claim_check.h"

namespace cdom::dra {

namespace {

using base::cat;

std::string name_of(const Claim& claim) {
  return cat("ResourceClaim \"", claim.ns, "/", claim.name, "\"");
}

class Request {
 public:
  Request(ClaimAnswers answers, std::size_t calls, std::function<void(ClaimAnswers)> done)
      : done_(std::move(done)), open_(calls), answers_(std::move(answers)) {}

  void answer(const std::string& uid, ClaimAnswer answer) {
    {
      const std::lock_guard lock(mutex_);
      answers_[uid] = std::move(answer);
      if (--open_ > 0) return;
    }
    done_(std::move(answers_));
  }

 private:
  const std::function<void(ClaimAnswers)> done_;
  std::mutex mutex_;
  std::size_t open_;
  ClaimAnswers answers_;
};

}  // namespace

void post_request(Driver& driver, Operation operation, const std::vector<Claim>& claims,
                  const std::stop_token& stop, std::function<void(ClaimAnswers)> done) {
  ClaimAnswers answers;
  std::map<std::string, Claim> by_uid;
  for (const Claim& claim : claims) {
    const auto [first, is_new] = by_uid.emplace(claim.uid, claim);
    if (std::string problem = problem_of(operation, claim); !problem.empty()) {
      answers[claim.uid] = {.error = std::move(problem), .devices = {}};
    } else if (!is_new && first->second != claim) {
      answers[claim.uid] = {.error = cat(name_of(claim), " and ", name_of(first->second),
                                         " cannot both have UID ", claim.uid, "; restart kubelet"),
                            .devices = {}};
    }
  }
  std::erase_if(by_uid, [&](const auto& entry) { return answers.contains(entry.first); });
  if (by_uid.empty()) return done(std::move(answers));
  const auto request =
      std::make_shared<Request>(std::move(answers), by_uid.size(), std::move(done));
  for (const auto& [uid, claim] : by_uid) {
    driver.post(
        {operation, claim,
         [request, uid = uid](ClaimAnswer answer) { request->answer(uid, std::move(answer)); },
         stop});
  }
}

}  // namespace cdom::dra
