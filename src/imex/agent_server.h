// AgentServer: the supervisor's unix socket.
//
// It serves only processes of allowed users. An agent that reads slowly gets only the newest state
// later; no agent can make the supervisor wait. Part of the supervisor's poll loop; one thread.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"
#include "compute_domain/imex/protocol.h"

namespace cdom::imex {

class AgentServer {
 public:
  struct Calls {
    std::function<base::Result<void>(const Request&)> act;  // all that changes something
    std::function<base::Result<std::string>()> kubelet_state;
    std::function<std::string()> status;  // encoded
    std::function<std::optional<nvidia::FabricFacts>()> fabric;
    std::function<void(const Watch&)> watched;  // an agent has begun to
  };
  // Replaces a socket that nobody serves any more: the caller holds the lock that says so.
  static base::Result<AgentServer> listen(const std::string& path, std::set<uid_t> allowed,
                                          std::string program, const base::Clock& clock);

  // Puts the socket file back where somebody has removed or replaced it: who is connected sees
  // nothing of that, and a new agent, or a probe, finds nobody. Call it again and again.
  void look_after_file();

  void add_to(std::vector<pollfd>& polled) const;
  // When add_to() has more without other news.
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // How many watch as agents: those of this node, as only allowed users are heard.
  [[nodiscard]] std::int64_t agents() const;
  // Does what the sockets in `polled` have for us.
  void serve(const std::vector<pollfd>& polled, const Calls& calls);
  // Everybody who watches gets the state, or the fabric.
  void publish(const Calls& calls);
  void publish_fabric(const Calls& calls);

 private:
  struct Connection {
    base::Descriptor socket;
    LineBuffer in;
    std::string out;
    bool is_known = false, watches = false, is_agent = false, has_news = false,
         has_fabric_news = false, is_over = false;
  };

  // What the socket file is, whatever its name.
  struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
    friend bool operator==(const FileId&, const FileId&) = default;
  };
  struct Door {
    base::Descriptor socket;
    FileId file;
  };

  AgentServer(std::string path, Door door, std::set<uid_t> allowed, std::string program,
              const base::Clock& clock)
      : clock_(clock),
        path_(std::move(path)),
        door_(std::move(door)),
        allowed_(std::move(allowed)),
        program_(std::move(program)) {}

  static base::Result<Door> open(const std::string& path);
  static std::optional<FileId> file_at(const std::string& path);

  void accept_all();
  void rest();
  void read_from(Connection& connection, const Calls& calls);
  void answer(Connection& connection, const std::string& line, const Calls& calls);
  void refuse(Connection& connection, const Hello& agent);
  static void write_to(Connection& connection, const Calls& calls);
  void drop_ended();

  const base::Clock& clock_;
  std::string path_;
  Door door_;
  std::optional<base::Duration> rests_until_;  // accepting has failed: not again before
  std::string problem_;                        // that kept the file from being put back
  std::set<uid_t> allowed_;
  std::string program_, refused_;  // the agent that was refused last
  std::list<Connection> connections_;
};

}  // namespace cdom::imex
