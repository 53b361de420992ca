// JsonInformer: a kube::Informer of whole objects as a part, for whoever looks into their JSON
// documents.
//
// What it guarantees is what the informer does. Listeners hear of a change from inside step(), in
// the order in which they came, after the store has it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compute_domain/api/dynamic_object.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/kube/informer.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/cluster/part.h"

namespace cdom::sandbox {

struct JsonObject {
  api::ObjectMeta meta;
  ObjectPtr document;

  friend bool operator==(const JsonObject& a, const JsonObject& b);
};

struct Change {
  api::ObjectName key;
  ObjectPtr before;  // null: it is new
  ObjectPtr after;   // null: it is gone
};

class JsonInformer : public Part {
 public:
  JsonInformer(const kube::Client& client, const base::Clock& clock, base::Random random,
               const api::Kind& kind);

  bool step() override;
  [[nodiscard]] std::optional<base::Duration> next_due() const override;

  // The first list has come in as a whole.
  [[nodiscard]] bool has_synced() const { return informer_.store().has_synced(); }
  // Null when it is not there.
  [[nodiscard]] ObjectPtr find(const api::ObjectName& name) const;
  // In the order of their names.
  [[nodiscard]] std::vector<std::shared_ptr<const JsonObject>> all() const {
    return informer_.store().all();
  }
  [[nodiscard]] const api::Kind& kind() const { return kind_; }
  // Up to where it has seen.
  [[nodiscard]] std::uint64_t seen_version() const { return informer_.store().seen_version(); }

  // Before the first step.
  void on_change(std::function<void(const Change&)> listener);

 private:
  const api::Kind kind_;
  std::vector<std::function<void(const Change&)>> listeners_;
  kube::Informer<api::DynamicObject, JsonObject> informer_;
};

}  // namespace cdom::sandbox
