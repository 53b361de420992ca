// kubelet-calls: asks a plugin as kubelet does, for scripts.
//
//   kubelet-calls register SOCKET                   what the plugin says, and that it is accepted
//   kubelet-calls prepare SOCKET NAMESPACE NAME UID
//   kubelet-calls unprepare SOCKET NAMESPACE NAME UID
//   kubelet-calls health SOCKET                     the first message of the stream
// Exit code 1, and the error on standard output, when the plugin does not do it.
#include <cstdio>
#include <string>
#include <vector>

#include "compute_domain/base/text.h"
#include "dra/kubelet.h"

namespace {

using namespace cdom::dra;  // NOLINT(google-build-using-namespace): a main file
using cdom::base::cat;
using cdom::base::join;

int say(int code, const std::string& line) {
  std::printf("%s\n", line.c_str());
  return code;
}

int register_plugin(Kubelet& kubelet) {
  const Info info = kubelet.get_info();
  if (info.code != kOk) return say(1, cat("error: GetInfo gives code ", info.code));
  say(0, cat(info.type, " ", info.name, " ", info.endpoint, " ", join(info.versions, ",")));
  const int code = kubelet.notify(true);
  return code == kOk ? 0 : say(1, cat("error: NotifyRegistrationStatus gives code ", code));
}

int tell(const Answer& answer) {
  if (answer.code != kOk) return say(1, cat("error: code ", answer.code, ": ", answer.message));
  int code = 0;
  for (const auto& [uid, claim] : answer.claims) {
    if (!claim.error.empty()) {
      code = say(1, cat("error: ", claim.error));
      continue;
    }
    say(0, cat("done ", uid));
    for (const PreparedDevice& device : claim.devices) {
      say(0, cat(device.pool, "/", device.device, " for ", join(device.requests, ","), ": ",
                 join(device.cdi_ids, ",")));
    }
  }
  return code;
}

int tell_health(Kubelet& kubelet) {
  const auto message = kubelet.watch_health()->next();
  if (!message) return say(1, "error: the stream has ended");
  for (const StreamedHealth& one : *message) {
    const char* state = one.device.health == Health::Healthy     ? "Healthy"
                        : one.device.health == Health::Unhealthy ? "Unhealthy"
                                                                 : "Unknown";
    say(0, cat(one.device.pool, "/", one.device.device, " ", state, " ", one.device.message));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string verb = words.empty() ? "" : words[0];
  const bool is_of_claim = verb == "prepare" || verb == "unprepare";
  const bool is_of_plugin = verb == "register" || verb == "health";
  if ((is_of_claim && words.size() != 5) || (is_of_plugin && words.size() != 2) ||
      (!is_of_claim && !is_of_plugin)) {
    std::fputs("usage: kubelet-calls register|prepare|unprepare|health SOCKET …\n", stderr);
    return 2;
  }
  Kubelet kubelet(words[1]);
  if (verb == "register") return register_plugin(kubelet);
  if (verb == "health") return tell_health(kubelet);
  const Claim claim{.ns = words[2], .name = words[3], .uid = words[4]};
  const CallOptions options{.timeout = std::chrono::seconds(45)};  // kubelet's
  return tell(verb == "prepare" ? kubelet.prepare({claim}, options)
                                : kubelet.unprepare({claim}, options));
}
