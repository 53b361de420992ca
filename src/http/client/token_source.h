// TokenSource: the bearer token, from the configuration or from a file that somebody rotates.
//
// The file is read again once a minute and after rejected(). A file that is empty or cannot be
// read leaves the last token in use, as a rotation may be under way. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"

namespace cdom::http {

class TokenSource {
 public:
  TokenSource(std::string token, std::string file, const base::Clock& clock);

  // The token to send, empty when there is none. Unavailable: there is none in the file
  // and no earlier one.
  base::Result<std::string> current();
  // The server refused `token`. True when another one is there now, so that trying again makes
  // sense.
  bool rejected(const std::string& token);

 private:
  base::Result<void> read_file();

  const std::string file_;
  const base::Clock& clock_;
  std::mutex mutex_;
  std::string token_;
  std::optional<base::Duration> read_at_;  // by clock_.elapsed()
};

}  // namespace cdom::http
