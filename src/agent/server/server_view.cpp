#include "agent/server/server_view.h"

#include <algorithm>

#include "compute_domain/base/log.h"
#include "compute_domain/core/membership.h"

namespace cdom::agent {

namespace {

// So long is a report kept back that the API server has cut short: nothing tells of its new
// definition.
constexpr base::Duration kUntilCutAgain = std::chrono::hours(1);

template <class T>
core::Published<T> published(const Watched<T>& shown, const PendingWrite& write,
                             base::Duration now) {
  return {.objects = shown.objects,
          .current = shown.has_synced && write.has_landed(shown.seen_version, now)};
}

// Whether nothing of a write can have been stored. A Conflict proves nothing: the HTTP client
// repeats a write whose connection broke, and may meet what it has stored itself.
bool is_refused(const base::Error& error) {
  using base::ErrorKind;
  return error.kind == ErrorKind::NotFound || error.kind == ErrorKind::AlreadyExists ||
         error.kind == ErrorKind::Invalid || error.kind == ErrorKind::Forbidden;
}

// Whether what the node knows of its report is not what the API server has.
bool is_for_another_version(const base::Error& error) {
  using base::ErrorKind;
  return error.kind == ErrorKind::Conflict || error.kind == ErrorKind::NotFound ||
         error.kind == ErrorKind::AlreadyExists;
}

}  // namespace

void ServerView::take(const ServerResult& result) {
  std::visit([this](const auto& one) { see(one); }, result);
}

bool ServerView::follow(const std::string& clique) {
  if (wanted_ == clique) return false;
  wanted_ = clique;
  return true;
}

void ServerView::see(const ClaimRead& result) {
  core::ClaimReading reading = result.reading;
  core::ClaimReading& known = claims_[result.claim.uid];
  const bool is_no_answer = reading.error && reading.error->kind != base::ErrorKind::NotFound;
  if (is_no_answer) {
    reading.gone_since = known.gone_since;
  } else if (core::has_ended_here(reading, result.claim, node_)) {
    reading.gone_since = known.gone_since.value_or(reading.asked);
  }
  known = std::move(reading);
}

void ServerView::see(const ReportWritten& result) {
  const core::PublishReport& write = result.write;
  report_is_sent_ = false;
  const std::string& version = result.stored.meta.resource_version;
  stored_report_ = result.stored;
  report_write_.wrote(version, clock_.elapsed());
  unanswered_.clear();
  has_answer_ = true;
  // A write that changes nothing keeps the version, also one that repeats what is stored.
  const bool is_cut =
      version == write.current.resource_version && result.stored.status != write.report;
  if (!is_cut) return;
  if (!cut_report_) {
    base::log_warning(
        "the API server stores nothing of this node's report: its ComputeDomainNode definition is "
        "older than this agent; apply the manifests of this version again",
        {{"node", node_}});
  }
  cut_report_ = {write.report, write.current.resource_version, clock_.elapsed() + kUntilCutAgain};
}

void ServerView::see(const ReportNotWritten& result) {
  report_is_sent_ = false;
  report_write_.failed(clock_.elapsed(), result.error.retry_after);
  // A report that could not be created was not sent.
  const bool was_sent = !result.write.current.uid.empty();
  if (was_sent && !is_refused(result.error)) note_unanswered(result.write);
  if (!is_for_another_version(result.error) || !stored_report_) return;
  // What has come after it is not known, and may say the same.
  if (shown_report() == &*stored_report_) {
    unanswered_.add({stored_report_->meta, stored_report_->status}, nullptr);
  }
  stored_report_.reset();
}

void ServerView::note_unanswered(const core::PublishReport& write) {
  const std::uint64_t base = kube::version_number(write.current.resource_version);
  const bool is_overtaken =
      !report_.objects.empty() &&
      kube::version_number(report_.objects.front().meta.resource_version) > base;
  if (!is_overtaken) unanswered_.add(write, shown_report());
}

// What the watch shows, or what the API server has answered to a later write; null: none is there.
const api::ComputeDomainNode* ServerView::shown_report() const {
  if (stored_report_ &&
      kube::version_number(stored_report_->meta.resource_version) > report_.seen_version) {
    return &*stored_report_;
  }
  return report_.objects.empty() ? nullptr : &report_.objects.front();
}

void ServerView::see(const Watched<api::ComputeDomainNode>& shown) {
  // The API server has been set back to an earlier state: what it had answered is lost.
  if (shown.seen_version < report_.seen_version) {
    stored_report_.reset();
    unanswered_.clear();
  }
  report_ = shown;
  if (!shown.objects.empty()) unanswered_.see(shown.objects.front().meta.resource_version);
}

void ServerView::see(const SliceWritten& result) {
  slice_write_.wrote(result.resource_version, clock_.elapsed());
}

void ServerView::see(const SliceRemoved& result) {
  slice_write_.removed(result.seen_version, clock_.elapsed());
}

void ServerView::see(const SliceNotWritten& result) {
  slice_write_.failed(clock_.elapsed(), result.error.retry_after);
}

void ServerView::see(const ListsFollowed& result) {
  clique_ = result.clique;
  lists_synced_ = false;
  history_.forget_all();
}

void ServerView::keep_only(const core::Checkpoint& checkpoint,
                           const std::vector<core::WantedClaim>& wanted, bool is_recovering) {
  std::erase_if(peers_, [&](const auto& peer) { return !is_recovering && peer.first != node_; });
  std::erase_if(old_lists_,
                [&](const auto& entry) { return !checkpoint.stopped.contains(entry.first); });
  std::erase_if(claims_, [&](const auto& entry) {
    return !checkpoint.claims.contains(entry.first) &&
           std::ranges::none_of(wanted, [&](const auto& w) { return w.claim.uid == entry.first; });
  });
  std::erase_if(domains_, [&](const auto& entry) {
    return std::ranges::none_of(wanted, [&](const auto& w) { return w.claim.ns == entry.first; });
  });
}

void ServerView::show(core::NodeWorld& world) const {
  const base::Duration now = clock_.elapsed();
  const bool is_followed = clique_ && wanted_ == clique_;
  world.lists_synced = is_followed && lists_synced_;
  if (is_followed) world.lists = history_.all();
  world.report = published(report_, report_write_, now);
  world.report.current &= !report_is_sent_;
  world.has_read_report = report_.has_synced;
  if (const api::ComputeDomainNode* shown = shown_report(); shown != nullptr) {
    world.report.objects = {*shown};
  }
  world.maybe_stopped = unanswered_.stopped();
  // An agent before this one may have sent that report, and seen no answer either.
  const auto& served = world.checkpoint.served;
  if (!has_answer_ && served && !served->started) {
    world.maybe_stopped.insert({served->group, served->term});
  }
  world.cut_report = cut_report_;
  world.slices = published(slices_, slice_write_, now);
  world.readings = claims_;
  world.peers = peers_;
  world.old_lists = old_lists_;
  world.domains = domains_;
}

std::optional<base::Duration> ServerView::writes_end() const {
  const base::Duration now = clock_.elapsed();
  const auto report = report_write_.ends(report_.seen_version, now);
  const auto slice = slice_write_.ends(slices_.seen_version, now);
  return report && slice ? std::min(*report, *slice) : report ? report : slice;
}

}  // namespace cdom::agent
