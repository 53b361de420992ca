#include "imex/agent_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::imex {

using base::cat;

namespace {

constexpr std::size_t kMostConnections = 16;
// Who has this much to read gets nothing new to do.
constexpr std::size_t kMostUnread = std::size_t{64} << 10;
// Where nobody can be accepted, as there are no more files or no memory.
constexpr base::Duration kDoorRest = std::chrono::seconds(1);

}  // namespace

base::Result<AgentServer> AgentServer::listen(const std::string& path, std::set<uid_t> allowed,
                                              std::string program, const base::Clock& clock) {
  auto door = open(path);
  if (!door) return door.error();
  return AgentServer(path, std::move(*door), std::move(allowed), std::move(program), clock);
}

base::Result<AgentServer::Door> AgentServer::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return base::Error{base::ErrorKind::Invalid, cat("the path of the socket must have 1 to ",
                                                     sizeof address.sun_path - 1, " characters")};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  base::Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(path.c_str());
  if (!listener ||
      bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0600) != 0 || ::listen(listener.get(), 16) != 0) {
    return base::system_error(cat("cannot listen on ", path));
  }
  const auto file = file_at(path);
  if (!file) return base::system_error(cat("cannot look at ", path));
  return Door{std::move(listener), *file};
}

std::optional<AgentServer::FileId> AgentServer::file_at(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

void AgentServer::look_after_file() {
  if (file_at(path_) == door_.file) return;
  auto door = open(path_);
  if (!door) {
    if (door.error().message != problem_) base::log_error(door.error().message);
    problem_ = door.error().message;
    return;
  }
  door_ = std::move(*door);
  problem_.clear();
  base::log_warning("the socket had been removed or replaced, and was put back", {{"path", path_}});
}

void AgentServer::add_to(std::vector<pollfd>& polled) const {
  if (!next_due()) polled.push_back({.fd = door_.socket.get(), .events = POLLIN, .revents = 0});
  for (const Connection& connection : connections_) {
    short events = 0;
    if (connection.out.size() < kMostUnread) events |= POLLIN;
    if (!connection.out.empty()) events |= POLLOUT;
    polled.push_back({.fd = connection.socket.get(), .events = events, .revents = 0});
  }
}

std::optional<base::Duration> AgentServer::next_due() const {
  if (!rests_until_ || *rests_until_ <= clock_.elapsed()) return std::nullopt;
  return rests_until_;
}

std::int64_t AgentServer::agents() const {
  return std::ranges::count_if(connections_, &Connection::is_agent);
}

void AgentServer::serve(const std::vector<pollfd>& polled, const Calls& calls) {
  for (const pollfd& one : polled) {
    if (one.revents == 0) continue;
    if (one.fd == door_.socket.get()) {
      accept_all();
      continue;
    }
    const auto connection = std::ranges::find_if(
        connections_, [&](const Connection& c) { return c.socket.get() == one.fd; });
    if (connection == connections_.end()) continue;
    if ((one.revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_from(*connection, calls);
    write_to(*connection, calls);
  }
  drop_ended();
}

void AgentServer::publish(const Calls& calls) {
  for (Connection& connection : connections_) {
    if (!connection.watches) continue;
    connection.has_news = true;
    write_to(connection, calls);
  }
  drop_ended();
}

void AgentServer::publish_fabric(const Calls& calls) {
  for (Connection& connection : connections_) {
    if (!connection.watches) continue;
    connection.has_fabric_news = true;
    write_to(connection, calls);
  }
  drop_ended();
}

void AgentServer::accept_all() {
  for (;;) {
    base::Descriptor accepted(
        accept4(door_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!accepted && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!accepted && errno == EAGAIN) return;
    if (!accepted) return rest();
    rests_until_.reset();
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool is_known = getsockopt(accepted.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    if (!is_known || !allowed_.contains(peer.uid)) {
      base::log_warning("refused a connection: its user is not allowed",
                        {{"uid", std::to_string(peer.uid)}, {"pid", std::to_string(peer.pid)}});
      const std::string line = encode(Notice(Reply{
          0, base::Error{base::ErrorKind::Forbidden, cat("user ", peer.uid, " is not allowed")}}));
      (void)!send(accepted.get(), line.data(), line.size(), MSG_NOSIGNAL);
      continue;
    }
    if (connections_.size() >= kMostConnections) continue;
    connections_.push_back({.socket = std::move(accepted), .in = {}, .out = {}});
    connections_.back().out = encode(Notice(Hello{kProtocolVersion, program_}));
  }
}

// Who waits there stays readable, and would keep the loop busy. One word for a row of failures.
void AgentServer::rest() {
  const auto error = base::system_error(cat("cannot accept a connection on ", path_));
  if (!rests_until_) base::log_error(error.message + "; tried again each second");
  rests_until_ = clock_.elapsed() + kDoorRest;
}

void AgentServer::read_from(Connection& connection, const Calls& calls) {
  char block[4096];
  while (!connection.is_over && connection.out.size() < kMostUnread) {
    const ssize_t got = recv(connection.socket.get(), block, sizeof block, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      connection.is_over = true;
      return;
    }
    connection.in.add({block, static_cast<std::size_t>(got)});
    while (!connection.is_over) {
      const auto line = connection.in.next();
      if (!line) break;
      answer(connection, *line, calls);
    }
    if (connection.in.is_flooded()) connection.is_over = true;
  }
}

// Once in the log: the agent comes again.
void AgentServer::refuse(Connection& connection, const Hello& agent) {
  const std::string why =
      cat(agent.program.empty() ? "the agent" : agent.program, " speaks protocol ", agent.version,
          ", and ", program_, " speaks ", kProtocolVersion,
          ": delete the compute-domain-imex pod of this node, which comes back in the version that "
          "is installed and ends what uses NVLink here, or take the agent back to this version");
  if (std::exchange(refused_, agent.program) != agent.program) {
    base::log_warning("refused an agent", {{"error", why}});
  }
  const std::string line = encode(Notice(Reply{0, base::Error{base::ErrorKind::Invalid, why}}));
  (void)!send(connection.socket.get(), line.data(), line.size(), MSG_NOSIGNAL);
  connection.is_over = true;
}

void AgentServer::answer(Connection& connection, const std::string& line, const Calls& calls) {
  const NumberedRequest asked = decode_request(line);
  Reply reply{asked.id, std::nullopt};
  if (!asked.request) {
    reply.error = asked.request.error();
  } else if (const auto* hello = std::get_if<Hello>(&*asked.request)) {
    if (hello->version > kProtocolVersion) return refuse(connection, *hello);
    // An agent also says it to hear whether the supervisor lives.
    if (!std::exchange(connection.is_known, true)) {
      base::log_info("an agent has connected",
                     {{"program", hello->program}, {"protocol", std::to_string(hello->version)}});
    }
  } else if (const auto* watch = std::get_if<Watch>(&*asked.request)) {
    connection.is_agent = watch->is_agent;
    if (connection.is_agent) calls.watched(*watch);
    connection.watches = connection.has_news = connection.has_fabric_news = true;
  } else if (std::holds_alternative<ReadKubeletState>(*asked.request)) {
    auto text = calls.kubelet_state();
    if (text) {
      reply.text = *std::move(text);
    } else {
      reply.error = text.error();
    }
  } else {
    const auto done = calls.act(*asked.request);
    if (!done) reply.error = done.error();
    if (connection.watches) connection.out += calls.status();
  }
  connection.out += encode(Notice(reply));
}

void AgentServer::write_to(Connection& connection, const Calls& calls) {
  while (!connection.is_over) {
    if (connection.out.empty()) {
      if (!connection.has_news && !connection.has_fabric_news) return;
      // The fabric first: who has a state knows the fabric as well, where it is known.
      if (std::exchange(connection.has_fabric_news, false)) {
        if (const auto fabric = calls.fabric()) connection.out = encode(Notice(*fabric));
      }
      if (std::exchange(connection.has_news, false)) {
        connection.out += calls.status();
      }
      if (connection.out.empty()) return;
    }
    const ssize_t sent =
        send(connection.socket.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      connection.is_over = true;
      return;
    }
    connection.out.erase(0, static_cast<std::size_t>(sent));
  }
}

void AgentServer::drop_ended() {
  connections_.remove_if([](const Connection& c) { return c.is_over; });
}

}  // namespace cdom::imex
