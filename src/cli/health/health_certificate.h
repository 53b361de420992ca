// HealthCertificate: the certificate of a health server, in two files that somebody renews.
//
// look() takes what is in the files now; a pair that cannot be used leaves the last one in use. It
// logs one warning for such a pair, and only when two looks in a row have found it: a renewal may
// be under way at the first. One thread at a time.
#pragma once

#include <memory>
#include <string>

#include "cli/health/health_flags.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/server.h"

namespace cdom::cli {

class HealthCertificate {
 public:
  struct Pair {
    std::string certificate_pem, key_pem;
    friend bool operator==(const Pair&, const Pair&) = default;
  };

  // Invalid: a file that cannot be read or a pair that cannot be used, with its flag.
  static base::Result<HealthCertificate> read(const HealthFlags& flags);

  [[nodiscard]] const Pair& pair() const { return pair_; }
  void look(http::Server& server);

 private:
  explicit HealthCertificate(const HealthFlags& flags) : flags_(flags) {}
  [[nodiscard]] base::Result<Pair> usable_pair() const;

  HealthFlags flags_;
  Pair pair_;
  std::string trouble_;  // that the last look has found
  std::string warned_;   // the trouble that has been warned of
};

// A server at `listen`, which is the value of `flag`, with the certificate of the flags, if they
// name one, at whose files it looks again and again. It expects no bodies. Invalid: an address or a
// certificate that cannot be used, with its flag.
base::Result<std::unique_ptr<http::Server>> serve_with_certificate(
    const HealthFlags& flags, const std::string& flag, const std::string& listen, http::Route route,
    base::Duration between_looks = std::chrono::seconds(10));

}  // namespace cdom::cli
