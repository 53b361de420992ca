// ResponseSource: an exchange that is under way, for the reader of its answer. Its destructor ends
// the exchange.
#pragma once

#include "http/pipe.h"

namespace cdom::http {

class ResponseSource {
 public:
  virtual ~ResponseSource() = default;
  // Through which the answer comes.
  virtual Pipe& pipe() = 0;
  // From any thread.
  virtual void cancel() = 0;
};

}  // namespace cdom::http
