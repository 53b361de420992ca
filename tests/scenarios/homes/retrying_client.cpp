#include "scenarios/homes/retrying_client.h"

#include <charconv>
#include <utility>

namespace cdom::scenarios {
namespace {

constexpr int kMostRetries = 10;

}  // namespace

RetryingClient::RetryingClient(http::Client& server, std::function<void(base::Duration)> wait)
    : server_(server), wait_(std::move(wait)) {}

bool RetryingClient::waited_for(const http::Response& response) {
  if (response.status != 429 && response.status / 100 != 5) return false;
  const auto header = response.headers.find("Retry-After");
  if (header == response.headers.end()) return false;
  int seconds = 0;
  const std::string& text = header->second;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || at != text.data() + text.size() || seconds < 0) return false;
  wait_(std::chrono::seconds(seconds));
  return true;
}

base::Result<http::Response> RetryingClient::send(const http::Request& request) {
  for (int retries = 0;; ++retries) {
    auto answer = server_.send(request);
    if (!answer || retries == kMostRetries || !waited_for(*answer)) return answer;
  }
}

base::Result<http::Opened> RetryingClient::open(const http::Request& request) {
  for (int retries = 0;; ++retries) {
    auto opened = server_.open(request);
    if (!opened || opened->stream || retries == kMostRetries || !waited_for(opened->response)) {
      return opened;
    }
  }
}

void RetryingClient::shut_down() { server_.shut_down(); }

}  // namespace cdom::scenarios
