#include "http/late_response.h"

#include <utility>

namespace cdom::http {

void LateResponse::give(Response response) {
  const std::lock_guard lock(mutex_);
  if (deliver_) std::exchange(deliver_, nullptr)(std::move(response));
}

void LateResponse::close() {
  const std::lock_guard lock(mutex_);
  deliver_ = nullptr;
}

}  // namespace cdom::http
