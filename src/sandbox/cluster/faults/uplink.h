// Uplink: the way from a node to the API server, which can be cut, slow, or broken for a moment.
//
// While it is cut, requests get no answer and streams fall silent without an end, as behind a dead
// link; what was open before ends with an error once the link is back. A slow link holds back every
// watch event and loses some requests. Thread-safe, as every Client.
#pragma once

#include <memory>
#include <mutex>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/http/client.h"

namespace cdom::sandbox {

class Uplink : public http::Client {
 public:
  Uplink(std::unique_ptr<http::Client> inner, const base::Clock& clock, base::Random random);
  ~Uplink() override;

  void set_cut(bool cut);
  // Watch events come `lag` late, and one request in three times out. Zero: as fast as ever.
  void set_lag(base::Duration lag);
  // Every stream that is open now ends with an error.
  void break_streams();

  base::Result<http::Response> send(const http::Request& request) override;
  base::Result<http::Opened> open(const http::Request& request) override;
  void shut_down() override { inner_->shut_down(); }

 private:
  class LinkStream;
  struct State {
    std::mutex mutex;
    bool is_cut = false;
    base::Duration lag{};
    std::uint64_t generation = 0;  // of streams; older ones are broken
  };
  [[nodiscard]] bool loses_request();

  const std::unique_ptr<http::Client> inner_;
  const base::Clock& clock_;
  base::Random random_;
  const std::shared_ptr<State> state_;
};

}  // namespace cdom::sandbox
