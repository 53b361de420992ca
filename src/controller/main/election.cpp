#include "controller/main/election.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/log.h"

namespace cdom::program {

namespace {

http::ClientConfig for_election(http::ClientConfig config, base::Duration renew_deadline) {
  config.request_timeout = std::min(config.request_timeout, renew_deadline / 2);
  return config;
}

}  // namespace

Election::Election(http::ClientConfig config, const base::Clock& clock,
                   kube::LeaderElectionOptions options, base::Registry& metrics,
                   base::Pulses& pulses, std::function<void()> on_lost)
    : transport_(http::make_client(for_election(std::move(config), options.renew_deadline), clock)),
      client_(*transport_, clock, "compute-domain-controller-election", &metrics),
      election_(client_, clock, std::move(options), &metrics),
      thread_([this, &pulse = pulses.add("leader election"),
               on_lost = std::move(on_lost)](const std::stop_token& token) {
        const auto standing = election_.run(token, [&pulse] { pulse.beat(); });
        pulse.rest();
        if (standing == kube::LeaderElection::Standing::Lost) on_lost();
      }) {}

Election::~Election() {
  thread_.request_stop();
  thread_.join();
  if (const auto released = election_.release(); !released) {
    base::log_warning("the Lease could not be released; others wait until it expires",
                      {{"error", base::to_string(released.error())}});
  }
}

}  // namespace cdom::program
