#include "sandbox/apiserver/storage/watch.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/apiserver/storage/list_page.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr base::Duration kBookmarkEvery = std::chrono::minutes(1);
// kube-apiserver ends a watch that names no timeout after 30 to 60 minutes.
constexpr base::Duration kDefaultTimeout = std::chrono::minutes(45);

std::shared_ptr<const std::string> event_line(std::string_view type, std::string_view object) {
  return std::make_shared<const std::string>(
      cat("{\"type\":\"", type, "\",\"object\":", object, "}\n"));
}

bool wants_initial_events(const ApiState& state, const RequestInfo& info) {
  const std::string& match = info.option("resourceVersionMatch");
  if (!info.is_set("sendInitialEvents")) {
    if (!match.empty()) {
      throw StatusError(invalid_options(
          "ListOptions", {forbidden_field("resourceVersionMatch",
                                          "resourceVersionMatch is forbidden for watch unless "
                                          "sendInitialEvents is provided")}));
    }
    return false;
  }
  if (!state.options.watch_list) {
    throw StatusError(invalid_options(
        "ListOptions", {forbidden_field("sendInitialEvents",
                                        "sendInitialEvents is forbidden for watch unless the "
                                        "WatchList feature gate is enabled")}));
  }
  if (match != "NotOlderThan") {
    throw StatusError(invalid_options(
        "ListOptions", {forbidden_field("resourceVersionMatch",
                                        "sendInitialEvents requires setting resourceVersionMatch "
                                        "to NotOlderThan")}));
  }
  return true;
}

// As kube-apiserver 1.37 does: where the list comes first, a version that is yet to come is
// refused; else the watch is silent until it is passed.
std::uint64_t wanted_version(const ApiState& state, const RequestInfo& info, bool streams_list) {
  const std::string& text = info.option("resourceVersion");
  const auto version = parse_resource_version(text);
  if (!version) {
    throw StatusError(invalid_options(
        "ListOptions",
        {invalid_value("resourceVersion", cat("\"", text, "\""), "must be a number")}));
  }
  if (streams_list && *version > state.storage.resource_version()) {
    throw StatusError(
        resource_version_too_large(text, std::to_string(state.storage.resource_version())));
  }
  return *version;
}

}  // namespace

Watch::Watch(std::shared_ptr<ApiState> shared, const Call& call)
    : LiveStream(std::move(shared)),
      kind_(call.kind),
      prefix_(call.prefix()),
      selection_(*call.kind, call.info),
      representation_(call.kind, call.request, call.info, call.state.clock),
      last_change_(call.state.storage.last_change(kind_->bucket)),
      waker_(call.state.storage.changed(kind_->bucket)),
      removals_(call.state.kinds.removals()),
      wants_bookmarks_(call.info.is_set("allowWatchBookmarks")),
      last_bookmark_(call.state.clock.elapsed()) {
  const bool streams_list = wants_initial_events(state(), call.info);
  position_ = wanted_version(state(), call.info, streams_list);
  if (streams_list || position_ == 0) {
    position_ = state().storage.resource_version();
    initial_ = state().storage.snapshot(kind_->bucket);
    tells_initial_end_ = streams_list && wants_bookmarks_;
  } else if (!state().storage.remembers(kind_->bucket, position_)) {
    throw StatusError(server::expired(cat("too old resource version: ", position_, " (",
                                          state().storage.resource_version(), ")")));
  }
  const auto seconds = parse_resource_version(call.info.option("timeoutSeconds"));
  deadline_ = state().clock.elapsed() +
              (seconds && *seconds > 0 ? std::chrono::seconds(*seconds) : kDefaultTimeout);
}

std::shared_ptr<const std::string> Watch::next_initial() {
  const ListPage next =
      page_of(*initial_, {.prefix = prefix_, .start = next_key_, .limit = 1},
              [this](const Object& object) { return selection_.matches(object->value()); });
  next_key_ = next.next;
  if (next.next.empty()) initial_.reset();
  if (next.objects.empty()) return nullptr;
  return event_line("ADDED", representation_.object(*next.objects.front()));
}

Piece Watch::take() {
  if (ended_) return {.what = Piece::What::End};
  if (initial_) {
    if (auto line = next_initial()) return {.what = Piece::What::Text, .text = std::move(line)};
  }
  if (std::exchange(tells_initial_end_, false)) {
    return {.what = Piece::What::Text,
            .text = event_line("BOOKMARK", representation_.bookmark(position_, true))};
  }
  if (!state().storage.remembers(kind_->bucket, position_)) return expired();
  while (const Event* event = state().storage.event_after(kind_->bucket, position_)) {
    position_ = event->resource_version;
    if (!event->key.starts_with(prefix_)) continue;
    if (auto line = line_of(*event)) return {.what = Piece::What::Text, .text = std::move(line)};
  }
  const base::Duration now = state().clock.elapsed();
  removals_ = state().kinds.removals();
  if (now >= *deadline_ || is_resource_gone()) return end();
  if (is_bookmark_due(now)) return bookmark();
  return {};
}

bool Watch::has_news() const {
  if (ended_ || initial_ || tells_initial_end_ || last_change_ > position_) return true;
  if (state().kinds.removals() != removals_) return true;
  const base::Duration now = state().clock.elapsed();
  return now >= *deadline_ || is_bookmark_due(now);
}

bool Watch::is_bookmark_due(base::Duration now) const {
  return takes_bookmark() && now - last_bookmark_ >= kBookmarkEvery;
}

bool Watch::takes_bookmark() const {
  return wants_bookmarks_ && state().storage.resource_version() >= position_;
}

std::shared_ptr<const std::string> Watch::line_of(const Event& event) const {
  const bool matched = event.previous && selection_.matches(event.previous->value());
  const bool matches =
      event.type != EventType::Deleted && selection_.matches(event.object->value());
  if (!matched && !matches) return nullptr;

  if (matched && !matches && event.type != EventType::Deleted) {
    // It left the selection: its previous state, at the version of the change.
    const StoredObject left(event.previous->value(), event.resource_version);
    return event_line("DELETED", representation_.object(left));
  }
  const std::string_view type = !matches ? "DELETED" : matched ? "MODIFIED" : "ADDED";
  const bool is_common = event.type == EventType::Deleted || matched == (event.previous != nullptr);
  if (!representation_.is_stored_text() || !is_common) {
    return event_line(type, representation_.object(*event.object));
  }
  if (!event.line) event.line = event_line(type, event.object->text());
  return event.line;
}

Piece Watch::bookmark() {
  last_bookmark_ = state().clock.elapsed();
  // Nothing of this bucket happened between the cursor and the newest write.
  position_ = state().storage.resource_version();
  return {.what = Piece::What::Text,
          .text = event_line("BOOKMARK", representation_.bookmark(position_, false))};
}

Piece Watch::expired() {
  ended_ = true;
  const Status status = server::expired(
      cat("too old resource version: ", position_, " (", state().storage.resource_version(), ")"));
  return {.what = Piece::What::Text, .text = event_line("ERROR", status.to_json())};
}

Piece Watch::end() {
  ended_ = true;
  if (takes_bookmark()) return bookmark();
  return {.what = Piece::What::End};
}

bool Watch::is_resource_gone() const {
  return !state().kinds.find(kind_->group, kind_->version, kind_->resource);
}

}  // namespace cdom::sandbox::server
