// RequestLog: who has asked the API server to change something, and how it answered.
//
// Clients that it wraps write into it; the log outlives them. It counts requests, not objects: a
// write that the server refused is one all the same. One thread.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "compute_domain/http/client.h"

namespace cdom::system_test {

struct WriteRequest {
  std::string user;      // "system:serviceaccount:compute-domain-nodes:compute-domain-agent"
  std::string method;    // POST, PUT, PATCH or DELETE; GET of a read
  std::string resource;  // "computedomains/status"
  int status = 0;        // 0: no answer came

  friend auto operator<=>(const WriteRequest&, const WriteRequest&) = default;
};

class RequestLog {
 public:
  std::unique_ptr<http::Client> wrapped(std::unique_ptr<http::Client> client, std::string user);

  void clear() {
    writes_.clear();
    reads_.clear();
  }
  using Wanted = std::function<bool(const WriteRequest&)>;
  [[nodiscard]] int count(const Wanted& wanted) const;
  // GETs and LISTs, no watches.
  [[nodiscard]] int reads(const Wanted& wanted) const;
  // Of their answers' bodies, all together: of a write what whoever watches the object gets too.
  [[nodiscard]] std::size_t bytes(const Wanted& wanted) const;
  // "4 PATCH computedomains/status 200, 1 POST configmaps 201", for the message of a check.
  [[nodiscard]] std::string summary(const Wanted& wanted) const;

 private:
  class Client;
  struct Requests {
    int count = 0;
    std::size_t bytes = 0;
  };
  std::map<WriteRequest, Requests> writes_, reads_;
};

// Of the operator itself (controller and agents), and none that is counted apart: Events, Leases.
bool is_ours(const WriteRequest& write);

// "configmaps", "pods/status" of a request's target; "" when it is no resource.
std::string resource_of(std::string_view target);

}  // namespace cdom::system_test
