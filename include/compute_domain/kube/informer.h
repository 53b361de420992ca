// Informer: keeps a Store equal to what the API server has, and reports every change.
//
// What it guarantees: WatchLoop's order, and that an object which vanished while nobody watched is
// reported as deleted. An object that cannot be decoded harms no other: its last readable state
// stays, as long as it is the same object. Kinds that the codec reads in protobuf come so where the
// server has it. One thread calls step() and gets the callbacks; store(), stop(), last_error() and
// trouble() are for any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute_domain/kube/client.h"
#include "compute_domain/kube/store.h"
#include "compute_domain/kube/unreadable_objects.h"
#include "compute_domain/kube/watch_loop.h"

namespace cdom::kube {

struct InformerOptions {
  Selection of;
  std::uint64_t seed = 0;  // of the jitter
  std::size_t page_size = 500;
  base::Duration rest{};  // of the watch: http::Request::rest
};

// `Stored` is what the store keeps of a T: the same type unless `read` makes another one of it.
// Where T is api::DynamicObject, `kind` says of which kind. `StoreType` says in which form.
template <class T, class Stored = T, class StoreType = Store<Stored>>
class Informer : private WatchSource {
 public:
  using Step = WatchLoop::Step;
  // Null `before`: added; null `after`: deleted. Both are as Change has them.
  using OnChange = std::function<void(const Stored* before, const Stored* after)>;
  // What the store gets of each object: without what nobody reads, and decoded where many would
  // have to. It keeps the metadata's namespace, name, UID and resource version.
  using Read = std::function<Stored(T&&)>;

  Informer(const Client& client, const base::Clock& clock, InformerOptions options,
           typename StoreType::Indexes indexes = {}, base::Registry* metrics = nullptr,
           Read read = as_it_is(), api::Kind kind = api::kind_of<T>())
      : client_(client),
        kind_(std::move(kind)),
        options_(std::move(options)),
        read_(std::move(read)),
        cursor_(options_.page_size),
        store_(std::move(indexes)),
        objects_(metrics == nullptr
                     ? nullptr
                     : &metrics->gauge("compute_domain_store_objects", "Objects in the store.",
                                       {{"resource", std::string(kind_.plural)}})),
        unreadable_(std::string(kind_.plural), metrics),
        loop_(*this, clock, options_.seed, std::string(kind_.plural), metrics) {}

  // Called in the stepping thread, after the store has the change: the end of an object and the
  // beginning of another one of its name are two calls. Before the first step.
  void on_change(OnChange callback) { callbacks_.push_back(std::move(callback)); }
  // Called in the stepping thread for an object that cannot be read, once for each thing that is
  // wrong with it. Before the first step.
  using OnUnreadable = std::function<void(const api::Unreadable&)>;
  void on_unreadable(OnUnreadable callback) { on_unreadable_ = std::move(callback); }

  [[nodiscard]] const StoreType& store() const { return store_; }

  // The same as WatchLoop's.
  Step step(base::Duration wait) { return loop_.step(wait); }
  [[nodiscard]] std::optional<base::Duration> next_due() const { return loop_.next_due(); }
  void run(const std::stop_token& token, const std::function<void()>& before_step = {}) {
    loop_.run(token, before_step);
  }
  void stop() { loop_.stop(); }
  [[nodiscard]] std::optional<base::Error> last_error() const { return loop_.last_error(); }
  [[nodiscard]] std::optional<WatchTrouble> trouble() const { return loop_.trouble(); }

 private:
  static Read as_it_is() {
    static_assert(std::is_same_v<T, Stored>, "`read` says how a Stored is made of a T");
    return {};
  }

  // What the store gets of it.
  Stored stored(T&& object) const {
    if constexpr (std::is_same_v<T, Stored>) {
      if (!read_) return std::move(object);
    }
    return read_(std::move(object));
  }

  base::Result<PageEnd> list_page(const std::string& continue_token, Paging paging) override {
    if (continue_token.empty()) {
      listed_ = {};
      listed_unreadable_.clear();
      cursor_ = PageCursor(options_.page_size);
    }
    const std::size_t limit = paging == Paging::Off ? 0 : options_.page_size;
    auto page = client_.list<T>({options_.of, limit, continue_token, encoding_}, cursor_, kind_);
    if (!page) return not_served(page.error());
    for (api::Unreadable& object : page->unreadable) {
      listed_unreadable_[object.name] = std::move(object);
    }
    for (T& item : page->items) listed_.push_back(StoreType::kept(stored(std::move(item))));
    return PageEnd{std::move(page->resource_version), std::move(page->continue_token)};
  }

  void finish_list(const std::string& resource_version) override {
    std::set<api::ObjectName> kept;
    for (const auto& [name, object] : listed_unreadable_) {
      if (is_same_as_stored(object)) kept.insert(name);
    }
    const auto changes = store_.replace(std::exchange(listed_, {}), resource_version, kept);
    unreadable_.keep_only(listed_unreadable_);
    for (const auto& [name, object] : std::exchange(listed_unreadable_, {})) note(object);
    changes.for_each([this](const Change<Stored>& change) { tell(change); });
    // What others have derived of the first list is whole only now.
    store_.set_synced();
  }

  // Of all of the namespace's objects: with a selector an API server may look for long at those
  // that are not of it.
  base::Result<std::string> collection_version() override {
    auto version = client_.collection_version(kind_, options_.of.ns);
    if (!version) return not_served(version.error());
    return version;
  }

  base::Result<std::unique_ptr<http::Stream>> open_watch(const std::string& resource_version,
                                                         base::Duration timeout) override {
    auto opened = client_.open_watch<T>(
        {options_.of, resource_version, timeout, encoding_, options_.rest}, kind_);
    if (!opened) return not_served(opened.error());
    return opened;
  }

  // A collection that is not found is served in another version, or not any more.
  base::Error not_served(const base::Error& error) const {
    if (error.kind != base::ErrorKind::NotFound) return error;
    const auto found = client_.discover_again(kind_);
    return found || found.error().kind != base::ErrorKind::NotFound ? error : found.error();
  }

  base::Result<Event> read(std::string_view line) override {
    object_ = std::make_shared<T>();
    auto head = api::decode_watch_event<T>(line, *object_);
    if (!head) {
      // The reader of JSON says what is wrong with an object.
      encoding_ = Encoding::Json;
      return head.error();
    }
    pending_ = *std::move(head);
    return Event{pending_.type, object_->meta.resource_version, std::move(pending_.status)};
  }

  void apply() override {
    const std::string version = object_->meta.resource_version;
    Change<Stored> change;
    if (pending_.type == api::WatchType::Deleted) {
      const api::ObjectName name = api::name_of(object_->meta);
      unreadable_.remove(name);
      change = store_.remove(name);
    } else if (pending_.unreadable) {
      note(*pending_.unreadable);
      if (!is_same_as_stored(*pending_.unreadable)) {
        change = store_.remove(pending_.unreadable->name);
      }
    } else if (pending_.type != api::WatchType::Bookmark) {
      if (!unreadable_.is_empty()) unreadable_.remove(api::name_of(object_->meta));
      change = put(std::move(object_));
    }
    store_.see_version(version);
    tell(change);
  }

  Change<Stored> put(std::shared_ptr<T> object) {
    if constexpr (std::is_same_v<T, Stored>) {
      if (!read_) return store_.put(std::move(object));
    }
    return store_.put(read_(std::move(*object)));
  }

  // Whether the store has an earlier state of it, and not an object that had its name before.
  [[nodiscard]] bool is_same_as_stored(const api::Unreadable& object) const {
    const auto stored = store_.get(object.name);
    return stored != nullptr && (object.uid.empty() || stored->meta.uid == object.uid);
  }

  void note(const api::Unreadable& object) {
    if (unreadable_.add(object) && on_unreadable_) on_unreadable_(object);
  }

  void tell(const Change<Stored>& change) {
    if (objects_ != nullptr) objects_->set(static_cast<double>(store_.size()));
    if (!change.before && !change.after) return;
    // A name that was deleted and made again while nobody watched is another object.
    const bool is_another =
        change.before && change.after && change.before->meta.uid != change.after->meta.uid;
    for (const OnChange& callback : callbacks_) {
      if (is_another) callback(change.before.get(), nullptr);
      callback(is_another ? nullptr : change.before.get(), change.after.get());
    }
  }

  const Client& client_;
  const api::Kind kind_;
  const InformerOptions options_;
  const Read read_;
  PageCursor cursor_;
  Encoding encoding_ = Encoding::Protobuf;  // that is asked for
  StoreType store_;
  base::Number* const objects_;
  std::vector<OnChange> callbacks_;
  OnUnreadable on_unreadable_;
  UnreadableObjects unreadable_;
  typename StoreType::Listed listed_;  // pages so far
  std::map<api::ObjectName, api::Unreadable> listed_unreadable_;
  // Read, not yet applied.
  api::WatchEventHead pending_;
  std::shared_ptr<T> object_;
  WatchLoop loop_;
};

}  // namespace cdom::kube
