#include "sandbox/cluster/mirror.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Duration kFirstRetry = milliseconds(200);
constexpr base::Duration kLastRetry = seconds(10);

std::uint64_t number(const std::string& resource_version) {
  std::uint64_t value = 0;
  std::from_chars(resource_version.data(), resource_version.data() + resource_version.size(),
                  value);
  return value;
}

}  // namespace

Mirror::Mirror(http::Client& client, const base::Clock& clock, base::Random random,
               const Resource& resource)
    : client_(client), clock_(clock), random_(random), resource_(resource) {}

Mirror::~Mirror() = default;

ObjectPtr Mirror::find(const ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second;
}

void Mirror::on_change(std::function<void(const Change&)> listener) {
  listeners_.push_back(std::move(listener));
}

bool Mirror::step() {
  if (clock_.elapsed() < not_before_) return false;
  switch (state_) {
    case State::List:
      list_page();
      return true;
    case State::Watch:
      open_watch();
      return true;
    case State::Streaming:
      return read_stream();
  }
  return false;
}

std::optional<base::Duration> Mirror::next_due() const {
  if (state_ == State::Streaming) return std::nullopt;
  return not_before_;
}

void Mirror::list_page() {
  std::string target = base::cat(resource_.collection(), "?limit=500");
  if (!continue_.empty()) target += base::cat("&continue=", http::percent_encoded(continue_));
  const auto answer = client_.send({"GET", target, {{"Accept", "application/json"}}, {}});
  json page;
  if (answer && answer->status == 200) page = json::parse(answer->body, nullptr, false);
  if (!page.is_object() || !page.contains("items")) {
    if (!answer || answer->status != 410) {
      base::log_debug("cannot list",
                      {{"resource", std::string(resource_.plural)},
                       {"error", answer ? error_of(*answer).message : answer.error().message}});
    }
    continue_.clear();
    incoming_.clear();
    return retry(State::List);
  }
  if (page["items"].is_array()) {
    for (json& item : page["items"]) {
      ObjectKey key = key_of(item);
      incoming_[std::move(key)] = std::make_shared<const json>(std::move(item));
    }
  }
  continue_ = text_at(page, "/metadata/continue");
  if (!continue_.empty()) return;
  resource_version_ = text_at(page, "/metadata/resourceVersion");
  finish_list();
}

void Mirror::finish_list() {
  const auto incoming = std::exchange(incoming_, {});
  std::vector<ObjectKey> gone;
  for (const auto& [key, object] : objects_) {
    if (!incoming.contains(key)) gone.push_back(key);
  }
  for (const ObjectKey& key : gone) set(key, nullptr);
  for (const auto& [key, object] : incoming) {
    const ObjectPtr known = find(key);
    if (!known || *known != *object) set(key, object);
  }
  seen_ = std::max(seen_, number(resource_version_));
  failures_ = 0;
  synced_ = true;
  state_ = State::Watch;
}

std::string Mirror::watch_target() {
  return base::cat(resource_.collection(),
                   "?watch=true&allowWatchBookmarks=true&timeoutSeconds=", 300 + random_.below(300),
                   "&resourceVersion=", resource_version_);
}

void Mirror::open_watch() {
  auto opened = client_.open({"GET", watch_target(), {{"Accept", "application/json"}}, {}});
  if (opened && opened->stream) {
    stream_ = std::move(opened->stream);
    state_ = State::Streaming;
    return;
  }
  retry(opened && opened->response.status == 410 ? State::List : State::Watch);
}

bool Mirror::read_stream() {
  auto read = stream_->next(base::Duration::zero());
  if (!read) {
    stream_.reset();
    retry(State::Watch);
    return true;
  }
  switch (read->what) {
    case http::StreamRead::What::Nothing:
      return false;
    case http::StreamRead::What::End:
      stream_.reset();
      retry(State::Watch);
      return true;
    case http::StreamRead::What::Line:
      take_event(read->line);
      return true;
  }
  return false;
}

void Mirror::take_event(std::string_view line) {
  json event = json::parse(line, nullptr, false);
  const std::string type = text_at(event, "/type");
  if (type.empty() || type == "ERROR") {
    stream_.reset();
    return retry(at(event, "/object/code") == 410 ? State::List : State::Watch);
  }
  failures_ = 0;
  const std::string version = text_at(event, "/object/metadata/resourceVersion");
  if (!version.empty()) {
    resource_version_ = version;
    seen_ = std::max(seen_, number(version));
  }
  json& object = event["object"];
  ObjectKey key = key_of(object);
  if (type == "DELETED") {
    set(std::move(key), nullptr);
  } else if (type == "ADDED" || type == "MODIFIED") {
    set(std::move(key), std::make_shared<const json>(std::move(object)));
  }
}

void Mirror::set(ObjectKey key, ObjectPtr object) {
  Change change{std::move(key), nullptr, std::move(object)};
  const auto found = objects_.find(change.key);
  if (found != objects_.end()) change.before = found->second;
  if (!change.before && !change.after) return;
  if (change.after) {
    objects_[change.key] = change.after;
  } else {
    objects_.erase(found);
  }
  for (const auto& listener : listeners_) listener(change);
}

void Mirror::retry(State next) {
  state_ = next;
  const auto delay = std::min(kLastRetry, kFirstRetry * (1 << std::min(failures_, 6)));
  // The first retry comes at once: a server ends every watch after some minutes.
  not_before_ = clock_.elapsed();
  if (failures_++ > 0) {
    not_before_ += std::chrono::duration_cast<base::Duration>(delay * (0.5 + random_.unit() / 2));
  }
}

}  // namespace cdom::sandbox
