// ServedVersion: an API server that serves resource.k8s.io in one version, and after an upgrade in
// another one.
//
// What is behind it serves one version only. v1 and v1beta2 have the same fields (KEP-4381), so
// that the version is all that has to be written otherwise, on the way in and on the way out. One
// thread.
#pragma once

#include <memory>
#include <string>

#include "compute_domain/http/client.h"

namespace cdom::system_test {

class ServedVersion {
 public:
  // What is behind serves `stored`; at first it is served as it is.
  explicit ServedVersion(std::string stored);

  // `version`: "v1" or "v1beta2". A server that starts in another version ends the watches that are
  // open; the old version is 404 from then on.
  void upgrade(std::string version);
  [[nodiscard]] const std::string& version() const { return version_; }

  // A client that sees the group in this version; it must not outlive this.
  std::unique_ptr<http::Client> wrapped(std::unique_ptr<http::Client> client);

 private:
  class Client;
  class Watch;
  const std::string stored_;
  std::string version_;
  int starts_ = 0;  // of the server
};

}  // namespace cdom::system_test
