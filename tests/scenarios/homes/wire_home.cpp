// The cluster of $KUBECONFIG, in real time: a sandbox process, or a real control plane, with
// simulated nodes or real ones. $RESTART_CONTROLLER is the command that kills the controller and
// starts it anew; where nodes are real, $ON_NODE is one that takes a node and a shell's command,
// and $IN_POD one that takes a namespace, a pod and that.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "compute_domain/base/text.h"
#include "compute_domain/kube/kubeconfig.h"
#include "scenarios/homes/home.h"
#include "scenarios/homes/retrying_client.h"

namespace cdom::scenarios {
namespace {

// Eight scenarios side by side that ask more often keep an API server busy with nothing else.
constexpr auto kPoll = std::chrono::milliseconds(250);

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? "" : value;
}

std::unique_ptr<http::Client> connect(const base::Clock& clock) {
  http::initialize_process();
  auto access = kube::find_cluster("", variable);
  if (!access) throw std::runtime_error(access.error().message);
  access->http.user_agent = "scenarios";
  return http::make_client(std::move(access->http), clock);
}

// What the command prints; an empty text also when it fails.
std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): of the test's own
  if (pipe == nullptr) throw std::runtime_error(base::cat("cannot start: ", command));
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t size = 0; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.append(buffer.data(), size);
  }
  pclose(pipe);
  return output;
}

class WireHome : public Home {
 public:
  http::Client& administrator() override { return kubectl_; }
  const base::Clock& clock() override { return clock_; }

  bool eventually(const std::function<bool()>& done, base::Duration span) override {
    const base::Duration end = clock_.elapsed() + span;
    while (!done()) {
      if (clock_.elapsed() >= end) return false;
      std::this_thread::sleep_for(kPoll);
    }
    return true;
  }

  void restart_controller() override {
    const std::string command = variable("RESTART_CONTROLLER");
    if (command.empty()) throw std::runtime_error("RESTART_CONTROLLER names no command");
    const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
    if (status != 0) throw std::runtime_error(base::cat(command, ": status ", status));
  }

  std::optional<std::string> on_node(const std::string& node, const std::string& command) override {
    const std::string program = variable("ON_NODE");
    if (program.empty()) return std::nullopt;
    return output_of(base::cat(program, " ", node, " '", command, "'"));
  }
  std::optional<std::string> in_pod(const std::string& ns, const std::string& pod,
                                    const std::string& command) override {
    const std::string program = variable("IN_POD");
    if (program.empty()) return std::nullopt;
    return output_of(base::cat(program, " ", ns, " ", pod, " '", command, "'"));
  }

 private:
  base::SystemClock clock_;
  const std::unique_ptr<http::Client> transport_ = connect(clock_);
  RetryingClient kubectl_{*transport_,
                          [](base::Duration span) { std::this_thread::sleep_for(span); }};
};

}  // namespace

std::unique_ptr<Home> make_home(const Size& /*size*/) { return std::make_unique<WireHome>(); }

}  // namespace cdom::scenarios
