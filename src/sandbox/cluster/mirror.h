// Mirror: what one resource's objects are, kept by list and watch, one step at a time.
//
// Objects are immutable and shared. A change is told to all listeners, in the order in which they
// came, from inside step(). A watch that ends is opened again where it stopped; a position that is
// too old (410) means a new list, from which the differences are told. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/http/client.h"
#include "sandbox/cluster/part.h"
#include "sandbox/cluster/resource.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

using ObjectPtr = std::shared_ptr<const json>;

struct Change {
  ObjectKey key;
  ObjectPtr before;  // null: it is new
  ObjectPtr after;   // null: it is gone
};

class Mirror : public Part {
 public:
  Mirror(http::Client& client, const base::Clock& clock, base::Random random,
         const Resource& resource);
  ~Mirror() override;

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

  // The first list has come in as a whole.
  [[nodiscard]] bool is_synced() const { return synced_; }
  [[nodiscard]] const std::map<ObjectKey, ObjectPtr>& objects() const { return objects_; }
  [[nodiscard]] ObjectPtr find(const ObjectKey& key) const;
  [[nodiscard]] const Resource& resource() const { return resource_; }
  // Up to where the mirror has seen. Versions are compared as numbers, as Kubernetes 1.35 allows.
  [[nodiscard]] std::uint64_t resource_version() const { return seen_; }

  void on_change(std::function<void(const Change&)> listener);

 private:
  enum class State { List, Watch, Streaming };

  void list_page();
  void finish_list();
  void open_watch();
  bool read_stream();
  void take_event(std::string_view line);
  void set(ObjectKey key, ObjectPtr object);
  void retry(State next);
  [[nodiscard]] std::string watch_target();

  http::Client& client_;
  const base::Clock& clock_;
  base::Random random_;
  const Resource resource_;
  std::vector<std::function<void(const Change&)>> listeners_;

  State state_ = State::List;
  bool synced_ = false;
  base::Duration not_before_{};
  int failures_ = 0;
  std::string continue_;
  std::map<ObjectKey, ObjectPtr> incoming_;
  std::map<ObjectKey, ObjectPtr> objects_;
  std::string resource_version_;
  std::uint64_t seen_ = 0;
  std::unique_ptr<http::Stream> stream_;
};

}  // namespace cdom::sandbox
