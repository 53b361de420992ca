#include "agent/main/turn.h"

namespace cdom::program {

namespace {

class Away {
 public:
  explicit Away(Turn& turn) : turn_(turn), was_mine_(turn.is_mine()) {
    if (was_mine_) turn_.unlock();
  }
  ~Away() {
    if (was_mine_) turn_.lock();
  }
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;

 private:
  Turn& turn_;
  const bool was_mine_;
};

}  // namespace

base::Result<http::Response> TurnClient::send(const http::Request& request) {
  const Away away(turn_);
  return client_.send(request);
}

base::Result<http::Opened> TurnClient::open(const http::Request& request) {
  const Away away(turn_);
  return client_.open(request);
}

}  // namespace cdom::program
