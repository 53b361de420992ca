// What an agent and the compute-domain-imex beside it say to each other, and what the latter keeps
// for its successor, as release 0.1.0 has written it: supervisors are replaced node by node, so
// that one of this version may serve agents of others for a long time.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "agent/node_lacks.h"
#include "base/directory.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/protocol.h"
#include "compute_domain/node_check/findings.h"
#include "imex/daemon/state_file.h"
#include "imex/host/lack_line.h"
#include "imex/process/line.h"
#include "source_tree/source_tree.h"

namespace cdom::imex {
namespace {

using base::cat;
using std::chrono::seconds;

constexpr char kFolder[] = "tests/formats/0.1.0";
constexpr char kBootId[] = "1f0e5d2c-0000-4000-8000-000000000001";
constexpr base::Duration kNow = seconds(5);

Want want() { return {"3f0e", 2, "rack-0000\nrack-0001\nrack-0002\n", "beef", "10.0.0.2"}; }
Hosts hosts() { return {"10.0.0.1\track-0000\n10.0.0.2\track-0002\n", "r7"}; }

std::vector<Request> requests() {
  return {Hello{1, "compute-domain-agent 0.1.0"},
          want(),
          hosts(),
          Signal{},
          Stop{},
          Forget{"3f0e"},
          PauseDriver{true},
          PauseDriver{false},
          Watch{},
          Watch{"/etc/cdi", false},
          ReadKubeletState{}};
}

DaemonStatus ready() {
  DaemonStatus status;
  status.phase = DaemonPhase::Ready;
  status.running = status.answers = true;
  status.starts_again = true;
  status.group = "3f0e";
  status.table_hash = "beef";
  status.slot = 2;
  status.instance = "i1";
  status.hosts_revision = "r7";
  status.signalled = seconds(3);
  status.peers = {{0, 'C'}, {1, 'N'}};
  status.address = "10.0.0.2";
  status.driver_paused = false;
  status.looks = true;
  status.lacks = std::vector<base::NodeLack>{
      {"CdiNotRead", "CDI: containerd reads \"/etc/cdi\"", "ContainerRuntime", false},
      {"PortTaken", "port 50000: held by another", "Ports", true}};
  return status;
}

std::vector<Notice> notices() {
  DaemonStatus failed;
  failed.phase = DaemonPhase::Failed;
  failed.stopping = failed.host_managed = true;
  failed.message = "nvidia-imex has ended with code 1";
  failed.cannot_start = "no nvidia-imex below the driver root /";
  nvidia::FabricFacts fabric{.source = "/usr/lib64/libnvidia-ml.so.1",
                             .driver_version = "580.95.05"};
  fabric.gpus = {{.uuid = "GPU-0",
                  .name = "NVIDIA GB200",
                  .state = nvidia::FabricState::Completed,
                  .cluster_uuid = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10",
                  .clique_id = 7,
                  .health = nvidia::FabricHealth::Healthy,
                  .is_persistent = true},
                 {.error = "GPU is lost (15)"}};
  return {Hello{1, "compute-domain-imex 0.1.0"},
          Reply{3, std::nullopt},
          Reply{4, std::nullopt, "{\"Data\": \"claims\"}\n"},
          Reply{5, base::Error{base::ErrorKind::Conflict, "another daemon runs"}},
          ready(),
          failed,
          fabric,
          nvidia::FabricFacts{.error = "no driver"}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = base::split(text, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// The text of that release's file; UPDATE=1 writes it, of the newest release, from what is written
// now.
std::vector<std::string> released(const std::string& file, const std::string& written) {
  if (std::getenv("UPDATE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    std::ofstream(source_tree() / kFolder / file) << written;
  }
  return lines_of(source_text(std::filesystem::path(kFolder) / file));
}

// What a program of that release would miss in what this one writes: each of its fields has to be
// there, with its value.
std::string lack(const std::vector<std::string>& older, const std::vector<std::string>& newer) {
  if (older.size() != newer.size()) return "there are more lines, or fewer";
  for (std::size_t i = 0; i < older.size(); ++i) {
    const Line was = decode_line(older[i]), is = decode_line(newer[i]);
    if (was.verb != is.verb) return cat(is.verb, " was ", was.verb);
    for (const auto& [name, value] : was.fields) {
      if (!is.has(name) || is.text(name) != value) {
        return cat("field ", name, " of ", is.verb, " is \"", is.text(name), "\", and was \"",
                   value, "\"");
      }
    }
  }
  return "";
}

// The same line with a field that nobody knows.
std::string with_more(const std::string& line) { return cat(line, " later_field=any%20thing"); }

TEST(ImexFormats, RequestsOfEachReleaseAreRead) {
  std::string written;
  for (const Request& request : requests()) written += encode(7, request);
  const auto lines = released("imex-requests.txt", written);
  EXPECT_EQ(lack(lines, lines_of(written)), "") << "a supervisor of that release would miss it";
  ASSERT_EQ(lines.size(), requests().size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& line : {lines[i], with_more(lines[i])}) {
      const NumberedRequest read = decode_request(line);
      ASSERT_TRUE(read.request) << read.request.error().message;
      EXPECT_EQ(read.id, 7U);
      EXPECT_TRUE(*read.request == requests()[i]) << line;
    }
  }
}

TEST(ImexFormats, NoticesOfEachReleaseAreRead) {
  std::string written;
  for (const Notice& notice : notices()) written += encode(notice, kNow);
  const auto lines = released("imex-notices.txt", written);
  EXPECT_EQ(lack(lines, lines_of(written)), "") << "an agent of that release would miss it";
  ASSERT_EQ(lines.size(), notices().size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& line : {lines[i], with_more(lines[i])}) {
      const auto read = decode_notice(line, kNow);
      ASSERT_TRUE(read) << line;
      EXPECT_TRUE(*read == notices()[i]) << line;
    }
  }
}

// A supervisor stays for as long as nobody replaces it, whatever version its agent has by then.
TEST(ImexFormats, LacksOfEachReleaseAreReadByAgents) {
  std::string written;
  std::vector<base::NodeLack> lacks;
  for (const node_check::LackReason& reason : node_check::lack_reasons()) {
    lacks.push_back({std::string(reason.name), cat("what to do about ", reason.name),
                     std::string(reason.type), reason.is_blocking});
    written += encode_line(line_of(lacks.back()));
  }
  const auto lines = released("imex-lacks.txt", written);
  EXPECT_EQ(lack(lines, lines_of(written)), "") << "an agent of that release would miss it";
  ASSERT_EQ(lines.size(), lacks.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& line : {lines[i], with_more(lines[i])}) {
      EXPECT_EQ(lack_of(decode_line(line)), lacks[i]) << line;
    }
    // By its row of core/reasons.h an agent comes to the same.
    const base::NodeLack& said = lacks[i];
    const auto faults = agent::faults_by({{said.reason, said.message}});
    ASSERT_EQ(faults.size(), 1U) << said.reason;
    EXPECT_EQ(faults.front().reason.name(), said.reason);
    EXPECT_EQ(faults.front().type, said.type) << said.reason;
    EXPECT_EQ(faults.front().is_blocking, said.is_blocking) << said.reason;
  }
}

TEST(ImexFormats, TheStateOfEachReleaseIsReadByItsSuccessor) {
  const base::Directory dir;
  const std::string path = dir.at("state");
  const StateFile file(path, kBootId);
  DaemonStatus last = ready();
  last.signalled.reset();  // an age means nothing to a successor
  const Saved saved{last, want(), hosts()};
  ASSERT_TRUE(file.save(saved));
  const std::string written = base::read_file(path).value();
  const auto lines = released("imex-state.txt", written);
  EXPECT_EQ(lack(lines, lines_of(written)), "") << "a predecessor would miss it";

  std::string later;
  for (const std::string& line : lines) later += cat(with_more(line), "\nlater any=thing\n");
  ASSERT_TRUE(base::replace_file(path, later));
  EXPECT_EQ(file.load(), saved);
}

}  // namespace
}  // namespace cdom::imex
