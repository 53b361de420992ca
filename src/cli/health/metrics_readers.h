// MetricsReaders: whether the bearer of a token may read the metrics. Thread-safe.
#pragma once

#include <functional>
#include <string>

namespace cdom::cli {

class MetricsReaders {
 public:
  enum class Answer {
    Allowed,
    UnknownToken,
    NotAllowed,
    NotKnown,  // the API server has not answered
    Busy,      // too many wait already
  };
  using Then = std::function<void(Answer)>;

  virtual ~MetricsReaders() = default;
  // Calls `then` once, at once or later and on another thread; never when it ends before.
  virtual void ask(const std::string& token, const Then& then) = 0;
};

}  // namespace cdom::cli
