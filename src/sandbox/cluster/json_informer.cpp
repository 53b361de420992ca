#include "sandbox/cluster/json_informer.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace cdom::sandbox {
namespace {

JsonObject parsed(api::DynamicObject object) {
  return {std::move(object.meta),
          std::make_shared<const json>(json::parse(object.json, nullptr, false))};
}

}  // namespace

bool operator==(const JsonObject& a, const JsonObject& b) { return *a.document == *b.document; }

JsonInformer::JsonInformer(const kube::Client& client, const base::Clock& clock,
                           base::Random random, const api::Kind& kind)
    : kind_(kind), informer_(client, clock, {.seed = random.next()}, {}, nullptr, parsed, kind) {
  informer_.on_change([this](const JsonObject* before, const JsonObject* after) {
    const Change change{api::name_of((after != nullptr ? after : before)->meta),
                        before != nullptr ? before->document : nullptr,
                        after != nullptr ? after->document : nullptr};
    for (const auto& listener : listeners_) listener(change);
  });
}

bool JsonInformer::step() {
  using Step = kube::WatchLoop::Step;
  const Step did = informer_.step(base::Duration::zero());
  return did != Step::Idle && did != Step::Stopped;
}

std::optional<base::Duration> JsonInformer::next_due() const { return informer_.next_due(); }

ObjectPtr JsonInformer::find(const api::ObjectName& name) const {
  const auto object = informer_.store().get(name);
  return object == nullptr ? nullptr : object->document;
}

void JsonInformer::on_change(std::function<void(const Change&)> listener) {
  listeners_.push_back(std::move(listener));
}

}  // namespace cdom::sandbox
