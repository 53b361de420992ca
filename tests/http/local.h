// What the tests of this module share: a client and a server of ours in one process.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compute_domain/base/clock.h"
#include "compute_domain/http/client.h"
#include "compute_domain/http/server.h"

namespace cdom::http {

// The longest that a test waits for anything.
constexpr std::chrono::seconds kPatience{20};

// Fails the test and gives null when it cannot listen.
std::unique_ptr<Server> serve(Route route, ServerConfig config = {});

// A client of `base_url` with a user agent and short timeouts; `change` what differs.
ClientConfig config_for(const std::string& base_url);
std::unique_ptr<Client> connect(ClientConfig config);
std::unique_ptr<Client> connect_to(const Server& server);

// Answers every request with `start`, streaming.
Route streaming(std::function<void(std::shared_ptr<StreamWriter>)> start);

std::shared_ptr<const std::string> shared(std::string text);

// The next line, "END" at the end, or the error's name and message.
std::string next_of(Stream& stream);

// A value that another thread gives once and a test waits for.
template <class T>
class Gift {
 public:
  void give(T value) { promise_.set_value(std::move(value)); }
  // Nothing when it did not come in time.
  [[nodiscard]] std::optional<T> wait() {
    if (future_.wait_for(kPatience) != std::future_status::ready) return std::nullopt;
    return future_.get();
  }

 private:
  std::promise<T> promise_;
  std::future<T> future_ = promise_.get_future();
};

}  // namespace cdom::http
