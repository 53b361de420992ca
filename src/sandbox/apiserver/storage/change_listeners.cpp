#include "sandbox/apiserver/storage/change_listeners.h"

#include <utility>

namespace cdom::sandbox::server {

std::shared_ptr<void> ChangeListeners::add(std::function<void()> callback) {
  auto listener = std::make_shared<Listener>();
  listener->callback = std::move(callback);
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const auto& known) { return known.expired(); });
  listeners_.push_back(listener);
  return {listener.get(), [listener](void*) {
            const std::lock_guard own_lock(listener->mutex);
            listener->callback = nullptr;
          }};
}

void ChangeListeners::tell() const {
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& known : listeners_) {
      if (auto listener = known.lock()) listeners.push_back(std::move(listener));
    }
  }
  for (const auto& listener : listeners) {
    const std::lock_guard lock(listener->mutex);
    if (listener->callback) listener->callback();
  }
}

}  // namespace cdom::sandbox::server
