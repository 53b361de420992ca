#include "imex/rig.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "compute_domain/base/text.h"

namespace cdom::imex {

using base::cat;

std::string loopback_address(int index) {
  const int pid = getpid();
  return cat("127.", 100 + index, ".", (pid >> 8) & 255, ".", pid & 255);
}

void make_driver_root(const base::Directory& dir, const std::string& root,
                      const std::string& shape) {
  namespace fs = std::filesystem;
  std::ifstream lines(cat(CDOM_DRIVER_ROOTS, "/", shape, ".txt"));
  if (!lines) throw std::logic_error("no driver root of the shape " + shape);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t arrow = line.find(" -> ");
    const fs::path path = dir.at(root + "/" + line.substr(0, arrow));
    const std::string name = path.filename();
    fs::create_directories(path.parent_path());
    if (arrow != std::string::npos) {
      fs::create_symlink(line.substr(arrow + 4), path);
    } else if (name == "nvidia-imex" || name == "nvidia-imex-ctl") {
      fs::copy_file(cat(CDOM_STAND_IN, "/", name), path);
    } else if (!name.empty()) {
      std::ofstream(path) << (name == "hosts" ? "10.99.99.99 slot-0 slot-1 slot-2\n"
                                              : "a stand-in for " + name + "\n");
    }
  }
}

void make_unloadable(const std::string& program, const std::string& complaint) {
  const std::string script = program + ".new";
  std::ofstream(script) << "#!/bin/sh\necho '" << program << ": " << complaint
                        << "' >&2\nexit 127\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  std::filesystem::rename(script, program);
}

std::vector<int> daemon_pids() {
  std::vector<int> pids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    for (int pid = 0; children >> pid;) {
      std::ifstream comm(cat("/proc/", pid, "/comm"));
      std::string name;
      if (std::getline(comm, name) && name == "nvidia-imex") pids.push_back(pid);
    }
  }
  return pids;
}

TestAgent::TestAgent(const std::string& socket_path)
    : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof address.sun_path - 1);
  is_over = connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0;
}

void TestAgent::send(const std::string& text) const {
  (void)!::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

void TestAgent::read() {
  char block[4096];
  for (;;) {
    const ssize_t got = recv(socket_.get(), block, sizeof block, 0);
    if (got == 0) is_over = true;
    if (got <= 0) break;
    in_.add({block, static_cast<std::size_t>(got)});
  }
  while (const auto line = in_.next()) {
    const auto notice = decode_notice(*line);
    if (!notice) continue;
    if (const auto* one = std::get_if<Hello>(&*notice)) hello = *one;
    if (const auto* one = std::get_if<Reply>(&*notice)) reply = *one;
    if (const auto* one = std::get_if<nvidia::FabricFacts>(&*notice)) fabric = *one;
    if (const auto* one = std::get_if<DaemonStatus>(&*notice)) {
      state = *one;
      states.push_back(*one);
    }
  }
}

Node::Node(int node_index) : index(node_index), address(loopback_address(node_index)) {
  make_driver_root(dir, "root");
  dir.write("hosts", "127.0.0.1\tlocalhost\n");
  std::filesystem::create_directories(dir.at("os"));
  options.socket_path = dir.at("imex.sock");
  options.directory = dir.at("run");
  options.driver_root = dir.at("root");
  options.boot_id = "boot-1";
  options.hosts_path = dir.at("hosts");
  options.persist_path = dir.at("os/persist.dat");
  options.makes_device_files = false;
  options.allowed_users = {geteuid()};
  options.imex_options = {{"STAND_IN_OS_DIRECTORY", dir.at("os")},
                          {"STAND_IN_BACK_OFF_MS", "50,100"},
                          {"STAND_IN_SILENCE_NOTICE_MS", "400"}};
}

base::Result<void> Node::open() {
  static std::uint64_t seed = 1;
  auto opened = Supervisor::open(options, clock, base::Random(seed++));
  if (!opened) return opened.error();
  supervisor = *std::move(opened);
  connect();
  return {};
}

void Node::connect() {
  agent = std::make_unique<TestAgent>(options.socket_path);
  agent->send(encode(next_id++, Request(Hello{kProtocolVersion, "test"})));
  agent->send(encode(next_id++, Request(Watch{})));
}

Rig::Rig(int count, int slot_count) : slots(std::max(count, slot_count)) {
  for (int i = 0; i < count; ++i) {
    nodes.push_back(std::make_unique<Node>(i));
    if (const auto opened = nodes.back()->open(); !opened) {
      throw std::logic_error(opened.error().message);
    }
  }
}

Want Rig::want(int index) const {
  std::string table;
  for (int i = 0; i < slots; ++i) table += cat("slot-", i, "\n");
  return {"group", index, table, "hash", loopback_address(index)};
}

Hosts Rig::hosts() const {
  std::string text;
  for (int i = 0; i < slots; ++i) {
    const bool has_node = i < static_cast<int>(nodes.size());
    text += cat(has_node ? loopback_address(i) : "127.0.0.2", "\tslot-", i, "\n");
  }
  return {text, base::hex64(base::fnv1a64(text))};
}

std::optional<base::Error> Rig::ask(Node& node, const Request& request) {
  const std::uint64_t id = node.next_id++;
  node.agent->send(encode(id, request));
  if (!until([&] { return node.agent->reply && node.agent->reply->id == id; })) {
    return base::Error{base::ErrorKind::Unavailable, "no answer"};
  }
  return node.agent->reply->error;
}

void Rig::start(int index) {
  for (const Request& request : {Request(hosts()), Request(want(index))}) {
    if (const auto error = ask(node(index), request)) throw std::logic_error(error->message);
  }
}

bool Rig::until_letter(int index, int peer, char letter) {
  return until([&] {
    const auto& state = node(index).agent->state;
    return state && state->peers.contains(peer) && state->peers.at(peer) == letter;
  });
}

void Rig::step() {
  for (const auto& one : nodes) {
    if (one->supervisor) one->supervisor->step(std::chrono::milliseconds(1));
    if (one->agent) one->agent->read();
  }
}

}  // namespace cdom::imex
