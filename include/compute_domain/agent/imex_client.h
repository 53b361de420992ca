// ImexClient: the port ImexSupervisor, over the unix socket of compute-domain-imex.
//
// It connects when it is asked for something and has no connection. It gives the state and the
// node's fabric that the supervisor reported last; a supervisor that does not answer for a while
// counts as silent. A request waits for its answer, which is a matter of microseconds, at most for
// `patience`. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "compute_domain/agent/imex_supervisor.h"
#include "compute_domain/imex/protocol.h"

namespace cdom::agent {

class ImexClient : public ImexSupervisor {
 public:
  // `watch`: who watches. The supervisor counts the node's agents, and looks whether the container
  // runtime reads their CDI files.
  ImexClient(std::string socket_path, std::string program, const base::Clock& clock,
             imex::Watch watch = {}, base::Duration patience = std::chrono::milliseconds(250));
  ~ImexClient() override;
  ImexClient(const ImexClient&) = delete;
  ImexClient& operator=(const ImexClient&) = delete;

  base::Result<base::DaemonStatus> status() override;
  [[nodiscard]] std::uint64_t news() const override { return news_; }
  base::Result<void> write_hosts(const core::WriteHosts& hosts) override;
  base::Result<void> forget_importers(const std::string& group) override;
  base::Result<void> start(const core::StartDaemon& config) override;
  base::Result<void> signal() override;
  base::Result<void> stop() override;
  base::Result<void> withdraw() override;
  base::Result<void> pause_driver(bool is_paused) override;

  // Kubelet's record of claims, as its file has it.
  base::Result<std::string> kubelet_state();

  // What the supervisor had reported when status() was last called; it stays while the supervisor
  // is away. nullopt: no report has come yet.
  [[nodiscard]] const std::optional<nvidia::FabricFacts>& fabric() const { return fabric_; }

  // Readable when status() has news; -1 while there is no connection.
  [[nodiscard]] int descriptor() const;

 private:
  class Connection;
  base::Result<void> connect();
  base::Result<std::string> ask_for_text(const imex::Request& request);
  base::Result<void> ask(const imex::Request& request);

  const std::string socket_path_, program_;
  const imex::Watch watch_;
  const base::Clock& clock_;
  const base::Duration patience_;
  std::unique_ptr<Connection> connection_;
  std::optional<nvidia::FabricFacts> fabric_;
  std::uint64_t news_ = 0;
};

}  // namespace cdom::agent
