// ChangeListeners: who wants to know that the server has changed. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cdom::sandbox::server {

class ChangeListeners {
 public:
  // Called until what this gives back is destroyed, which waits for a call that is under way.
  std::shared_ptr<void> add(std::function<void()> callback);
  void tell() const;

 private:
  struct Listener {
    std::mutex mutex;
    std::function<void()> callback;  // empty once nobody listens
  };
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Listener>> listeners_;
};

}  // namespace cdom::sandbox::server
