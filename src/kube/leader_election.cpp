#include "compute_domain/kube/leader_election.h"

#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/pause.h"
#include "compute_domain/base/text.h"

namespace cdom::kube {

namespace {

using base::cat;
using base::Error;
using base::ErrorKind;

constexpr double kJitter = 1.2;  // of client-go's leaderelection

bool is_same_record(const api::Lease& a, const api::Lease& b) {
  return a.holder == b.holder && a.duration_seconds == b.duration_seconds &&
         a.transitions == b.transitions && a.acquired == b.acquired && a.renewed == b.renewed;
}

}  // namespace

std::string mistake_in(const LeaderElectionOptions& options) {
  const std::string deadline = base::short_duration(options.renew_deadline);
  if (options.lease_duration < std::chrono::seconds(1) ||
      options.lease_duration % std::chrono::seconds(1) != base::Duration::zero()) {
    return "the lease duration must be whole seconds, at least one";
  }
  if (options.lease_duration <= options.renew_deadline) {
    return cat("the lease duration (", base::short_duration(options.lease_duration),
               ") must be longer than the renew deadline (", deadline, ")");
  }
  if (options.retry_period <= base::Duration::zero() ||
      options.renew_deadline <=
          std::chrono::duration_cast<base::Duration>(
              kJitter * std::chrono::duration<double>(options.retry_period))) {
    return cat("the renew deadline (", deadline, ") must be longer than 1.2 retry periods of ",
               base::short_duration(options.retry_period), ", and that longer than nothing");
  }
  return "";
}

LeaderElection::LeaderElection(const Client& client, const base::Clock& clock,
                               LeaderElectionOptions options, base::Registry* metrics)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      metrics_(metrics),
      random_(options_.seed) {}

bool LeaderElection::is_leading() const {
  Until until = leads_until_.load();
  while (until != kNeverLed && until != kLost) {
    if (clock_.elapsed() < base::Duration(until)) return true;
    if (leads_until_.compare_exchange_weak(until, kLost)) return false;
  }
  return false;
}

LeaderElection::Standing LeaderElection::standing() const {
  if (is_leading()) return Standing::Leading;
  return leads_until_.load() == kLost ? Standing::Lost : Standing::Waiting;
}

// Whether that is so: what is over already is nobody's.
bool LeaderElection::lead_until(base::Duration end) {
  Until until = leads_until_.load();
  do {
    if (until == kLost || clock_.elapsed() >= end) return false;
    if (until != kNeverLed && clock_.elapsed() >= base::Duration(until)) {
      lose();
      return false;
    }
  } while (!leads_until_.compare_exchange_weak(until, end.count()));
  return true;
}

// Only who has led can lose.
void LeaderElection::lose() {
  if (leads_until_.load() != kNeverLed) leads_until_.store(kLost);
}

bool LeaderElection::step() {
  const base::Duration start = clock_.elapsed();
  if (start < next_ || standing() == Standing::Lost) return false;
  const bool led = is_leading();
  // Counted from before the request: the others count from when the server had it.
  if (try_acquire_or_renew() && lead_until(start + options_.renew_deadline)) {
    next_ = start + options_.retry_period;
  } else {
    const Until until = leads_until_.load();
    const double factor = until == kNeverLed ? 1 + kJitter * random_.unit() : 1;
    next_ = clock_.elapsed() + std::chrono::duration_cast<base::Duration>(
                                   factor * std::chrono::duration<double>(options_.retry_period));
    if (until > 0) next_ = std::min(next_, base::Duration(until));
  }
  if (!led && is_leading()) {
    base::log_info("became leader",
                   {{"lease", to_string(options_.lease)}, {"identity", options_.identity}});
  }
  if (metrics_ != nullptr) {
    metrics_
        ->gauge("leader_election_master_status", "1 while this process leads.",
                {{"name", options_.lease.name}})
        .set(is_leading() ? 1 : 0);
  }
  return true;
}

LeaderElection::Standing LeaderElection::run(const std::stop_token& token,
                                             const std::function<void()>& before_step) {
  while (!token.stop_requested() && standing() != Standing::Lost) {
    if (before_step) before_step();
    if (!step()) base::pause(token, next_ - clock_.elapsed());
  }
  return standing();
}

bool LeaderElection::try_acquire_or_renew() {
  // The leader's usual way: one write, refused when anybody else has written since.
  if (holds() && is_leading()) {
    if (take(*observed_)) return true;
  }
  const auto lease = client_.get<api::Lease>(options_.lease);
  if (!lease) {
    if (lease.error().kind == ErrorKind::NotFound) return create();
    report_trouble(lease.error());
    return false;
  }
  observe(*lease);
  const base::Duration expires = observed_at_ + std::chrono::seconds(lease->duration_seconds);
  if (!lease->holder.empty() && !holds() && clock_.elapsed() < expires) {
    // Whoever led until now learns it here first.
    lose();
    return false;
  }
  return take(*lease);
}

bool LeaderElection::create() {
  api::Lease lease;
  lease.meta.name = options_.lease.name;
  lease.meta.ns = options_.lease.ns;
  lease.holder = options_.identity;
  lease.duration_seconds =
      std::chrono::duration_cast<std::chrono::seconds>(options_.lease_duration).count();
  lease.acquired = lease.renewed = clock_.now();
  const auto created = client_.create(lease);
  if (!created) {
    if (created.error().kind != ErrorKind::AlreadyExists) report_trouble(created.error());
    return false;
  }
  observe(*created);
  return true;
}

bool LeaderElection::take(const api::Lease& seen) {
  api::Lease lease = seen;
  lease.duration_seconds =
      std::chrono::duration_cast<std::chrono::seconds>(options_.lease_duration).count();
  lease.renewed = clock_.now();
  if (lease.holder != options_.identity) {
    lease.holder = options_.identity;
    lease.acquired = lease.renewed;
    ++lease.transitions;
  }
  const auto written = client_.update(lease);
  if (!written) {
    if (written.error().kind != ErrorKind::Conflict) report_trouble(written.error());
    return false;
  }
  observe(*written);
  return true;
}

base::Result<void> LeaderElection::release() {
  if (!holds()) return {};
  lose();
  api::Lease lease = *observed_;
  lease.holder.clear();
  lease.duration_seconds = 1;
  lease.acquired = lease.renewed = clock_.now();
  const auto written = client_.update(lease);
  if (written) {
    observe(*written);
  } else if (written.error().kind != ErrorKind::Conflict) {
    return written.error();
  }
  return {};  // after a conflict it is somebody else's already
}

void LeaderElection::observe(const api::Lease& lease) {
  if (!observed_ || !is_same_record(*observed_, lease)) observed_at_ = clock_.elapsed();
  observed_ = lease;
  trouble_.clear();
  const std::scoped_lock lock(mutex_);
  if (holder_ == lease.holder) return;
  holder_ = lease.holder;
  if (!holder_.empty() && holder_ != options_.identity) {
    base::log_info("another process leads",
                   {{"lease", to_string(options_.lease)}, {"holder", holder_}});
  }
}

std::string LeaderElection::holder() const {
  const std::scoped_lock lock(mutex_);
  return holder_;
}

void LeaderElection::report_trouble(const Error& error) {
  if (trouble_ == error.message) return;
  trouble_ = error.message;
  base::log_warning("cannot renew or take the Lease",
                    {{"lease", to_string(options_.lease)}, {"error", base::to_string(error)}});
}

}  // namespace cdom::kube
