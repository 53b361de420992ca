// Formation: a domain with its pods, as a user makes them, from nothing to Ready and away again.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/http/client.h"
#include "moments.h"

namespace cdom::bench {

struct FormationOptions {
  int nodes = 18;
  base::Duration spread{};      // over which the pods are created, evenly; zero: as fast as can be
  std::string node_selector;    // JSON object; "" for any node
  std::vector<std::string> on;  // the node of each pod, instead
};

struct FormationTimes {
  base::Time last_pod_created{};
  base::Time ready{};          // when a watch of the domain said so
  base::Time last_prepared{};  // answered to kubelet
  double cpu_seconds = 0;      // of this process, from the first POST of a pod to Ready
};

class Formation {
 public:
  // `user` is an administrator's client. Both outlive this.
  Formation(http::Client& user, const base::Clock& clock, Moments& moments)
      : user_(user), clock_(clock), moments_(moments) {}

  // Throws std::runtime_error when it does not come about within a minute.
  FormationTimes run(const std::string& name, const FormationOptions& options);
  // Returns when the domain and its pods are gone.
  void take_down(const std::string& name, const FormationOptions& options);

  // A Job of as many pods, with a domain that was applied before it or, automatic, with the one
  // that is made for it: from the POST of the Job to the last answer to kubelet.
  base::Duration run_job(const std::string& name, int nodes, bool is_automatic);
  // Returns when the Job, its pods and every domain are gone.
  void take_down_job(const std::string& name, bool is_automatic);

 private:
  void expect(const http::Request& request, int status);
  void wait_for(const std::string& target, int status);
  void wait_until_empty(const std::string& collection);

  http::Client& user_;
  const base::Clock& clock_;
  Moments& moments_;
};

}  // namespace cdom::bench
