// The texts that outlive a program, as release 0.1.0 has written them (tests/formats/0.1.0): the
// node lists and reservations of the controller, the reports and the checkpoint of the agent;
// imex_formats_test.cpp has those of the IMEX supervisor. Every later release reads them, and
// writes what a program of that release reads: each of its fields, with the same value. What a
// later release adds, older ones pass over: fields, the states of a daemon, the phases of a claim;
// in the checkpoint, which both write during an upgrade, they write it back.
// A third `isolation` would not be one: a report with it is read by no earlier controller.
//
// A release that changes a format adds a folder of its own. `UPDATE=1 test_formats` writes the
// newest one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "compute_domain/agent/checkpoint_codec.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reservations.h"
#include "source_tree/source_tree.h"

namespace cdom {
namespace {

using Json = nlohmann::json;

constexpr char kFolder[] = "tests/formats/0.1.0";

api::NodeList by_domain() {
  api::NodeList list;
  list.group = "0123456789abcdef";
  list.clique = "rack-1.7";
  list.slots = 18;
  list.complete = true;
  list.last_term = 4;
  list.domain = "team-a/train";
  list.entries = {{.node = "n1",
                   .slot = 0,
                   .address = "10.0.0.1",
                   .instance = "i1",
                   .boot_id = "b1",
                   .term = 1,
                   .member = true,
                   .admits = {{"claim-1", 0}, {"claim-2", 0}}},
                  {.node = "n2",
                   .slot = 1,
                   .address = "",
                   .instance = "",
                   .boot_id = "",
                   .term = 4,
                   .member = false,
                   .admits = {}}};
  return list;
}

api::NodeList by_channel() {
  api::NodeList list = by_domain();
  list.domain = "";
  list.entries.front().admits = {{"claim-1", 7}};
  list.channels = {
      {.number = 7,
       .domain_uid = "train-uid",
       .domain = "team-a/train",
       .release = 0,
       .slots = {0, 1}},
      {.number = 8, .domain_uid = "gone-uid", .domain = "team-a/gone", .release = 2, .slots = {1}}};
  list.last_channel = 8;
  list.releases = 2;
  list.scarce = true;
  return list;
}

core::Reservations reservations() {
  return {.by_domain = {{"train-uid", {.clique = "rack-1.7", .seats = 16, .generation = 3}},
                        {"eval-uid",
                         {.clique = "rack-2.1",
                          .seats = 4,
                          .generation = 5,
                          .leaving = "rack-1.7",
                          .leaving_seats = 2}}},
          .generation = 5};
}

core::Checkpoint checkpoint() {
  core::Checkpoint made;
  made.agent = "agent-7";
  made.boot_id = "boot-1";
  made.clique = "rack-1.7";
  made.by_channel = true;
  made.claims["claim-1"] = {.claim = {"team-a", "train-0", "claim-1"},
                            .phase = core::ClaimPhase::Completed,
                            .group = "g",
                            .channels = {7, 1},
                            .devices = {{"channel", "n1", "channel-0"}},
                            .admin_access = false,
                            .pods = {"pod-1"}};
  made.claims["claim-2"] = {.claim = {"team-a", "train-1", "claim-2"},
                            .phase = core::ClaimPhase::Ending,
                            .group = "g",
                            .channels = {7, 1},
                            .devices = {},
                            .admin_access = true,
                            .pods = {"pod-2"},
                            .held_by = {{"pod-2", 30}}};
  made.claims["claim-3"] = {
      .claim = {"team-a", "train-2", "claim-3"}, .phase = core::ClaimPhase::Started, .group = "g"};
  made.served = core::ServedImexGroup{.group = "g",
                                      .slots = 18,
                                      .slot = 3,
                                      .term = 2,
                                      .started = true,
                                      .peers = {{1, {"10.0.0.2", "i"}}},
                                      .forget_importers = true};
  made.stopped["h"] = {.group = "h", .clique = "rack-2.1", .slot = 1, .term = 4};
  return made;
}

base::Time time_of(const std::string& text) { return base::parse_rfc3339(text).value(); }

// One daemon serves, another has stopped, and a claim waits.
api::ComputeDomainNodeReport report_by_domain() {
  api::ImexGroupReport serves;
  serves.group = "0123456789abcdef";
  serves.table_hash = "feedfeedfeedfeed";
  serves.slot = 0;
  serves.term = 1;
  serves.state = api::DaemonState::Ready;
  serves.instance = "i1";
  serves.since = time_of("2026-11-27T03:04:05Z");
  serves.connected = "0-3,7";
  serves.unreachable = {"n8"};
  serves.domains = {"team-a/train"};
  serves.claims = {"claim-1", "claim-2"};
  serves.restarts = 2;
  serves.last_failure = api::DaemonFailure{serves.since, "nvidia-imex has ended with code 1"};
  api::ImexGroupReport stopped;
  stopped.group = "h";
  stopped.slot = 1;
  stopped.term = 4;
  stopped.state = api::DaemonState::Stopped;
  stopped.since = serves.since;

  api::ComputeDomainNodeReport report;
  report.boot_id = "boot-1";
  report.clique = "rack-1.7";
  report.address = "10.0.0.1";
  report.groups = {serves, stopped};
  report.pending_claims = {{"claim-3", "the node still serves another domain"}};
  report.conditions = {{.type = api::kConditionCanServe,
                        .status = api::ConditionStatus::True,
                        .reason = "RequirementsMet",
                        .message = "offers its devices",
                        .last_transition = serves.since}};
  report.summary = {.state = serves.state,
                    .since = serves.since,
                    .domains = "team-a/train",
                    .unreachable = "n8",
                    .message = ""};
  return report;
}

// On a node that is to change over, to another isolation and another clique.
api::ComputeDomainNodeReport report_by_channel() {
  api::ComputeDomainNodeReport report = report_by_domain();
  report.isolation = api::Isolation::Channel;
  report.next_isolation = api::Isolation::Domain;
  report.next_clique = "rack-2.1";
  report.host_managed = true;
  report.fabric_error = "GPU 0 cannot be asked: GPU is lost";
  api::ImexGroupReport& serves = report.groups.front();
  serves.state = api::DaemonState::Failed;
  serves.domains = {"team-a/eval", "team-a/train"};
  serves.channels = "3,7-8";
  serves.claim_channels = {{"claim-1", 3}, {"claim-2", 7}};
  serves.releases = 2;
  serves.message = "nvidia-imex has ended with code 1";
  report.summary.state = serves.state;
  report.summary.message = serves.message;
  return report;
}

std::string text_of(const api::NodeList& list) {
  return Json{{api::kNodeListKey, api::encode_node_list(list)}}.dump(2);
}

// As the API server keeps what the agent writes.
std::string text_of(const api::ComputeDomainNodeReport& report) {
  const api::ComputeDomainNode node{.meta = {.name = "n1"}, .status = report, .stale = {}};
  return Json::parse(api::encode(node, "v1beta1")).dump(2);
}

// A ConfigMap's data, as its text.
std::string data_of(const api::ConfigMap& map) { return Json(map.data).dump(2); }
api::ConfigMap map_with(const std::string& data) {
  api::ConfigMap map;
  map.meta.ns = "op";
  map.meta.name = core::kReservationsName;
  map.data = Json::parse(data).get<std::map<std::string, std::string>>();
  return map;
}

// What a node list's text says, by the names that stand in it: the lines of its head, and the rows
// of its tables.
Json said_in_list(const std::string& text) {
  Json said;
  const std::vector<std::string> lines = base::split(text, '\n');
  auto line = lines.begin();
  for (; line != lines.end() && !line->empty(); ++line) {
    said[line->substr(0, line->find(' '))] = line->substr(line->find(' ') + 1);
  }
  while (line != lines.end() && ++line != lines.end() && !line->empty()) {
    const std::string title = line->substr(0, line->find(':'));
    const std::vector<std::string> names = base::split(line->substr(title.size() + 2), ' ');
    Json& rows = said[title] = Json::array();
    for (++line; line != lines.end() && !line->empty(); ++line) {
      const std::vector<std::string> cells = base::split(*line, ' ');
      Json& row = rows.emplace_back();
      for (std::size_t i = 0; i < cells.size(); ++i) row[names.at(i)] = cells[i];
    }
  }
  return said;
}

// Whether all of `older` is in `newer`, with the same values; texts that are JSON or a node list
// are looked into.
std::string lack(const Json& older, const Json& newer, const std::string& path) {
  if (older.is_object()) {
    for (const auto& [key, value] : older.items()) {
      const std::string below = base::cat(path, ".", key);
      if (!newer.is_object() || !newer.contains(key)) return base::cat(below, " is missing");
      if (std::string lacks = lack(value, newer.at(key), below); !lacks.empty()) return lacks;
    }
    return "";
  }
  if (older.is_array() && newer.is_array() && older.size() == newer.size()) {
    for (std::size_t i = 0; i < older.size(); ++i) {
      const std::string below = base::cat(path, "[", i, "]");
      if (std::string lacks = lack(older[i], newer[i], below); !lacks.empty()) return lacks;
    }
    return "";
  }
  if (older.is_string() && newer.is_string() && Json::accept(older.get<std::string>())) {
    const Json inner = Json::parse(older.get<std::string>());
    if (inner.is_structured()) return lack(inner, Json::parse(newer.get<std::string>()), path);
  }
  if (older.is_string() && newer.is_string() && path.ends_with(base::cat(".", api::kNodeListKey))) {
    return lack(said_in_list(older.get<std::string>()), said_in_list(newer.get<std::string>()),
                path);
  }
  return older == newer ? "" : base::cat(path, " is ", newer.dump(), ", and was ", older.dump());
}

struct Format {
  std::string file;
  std::string written;  // by this version
  // Whether the text reads as the value that it was written from; else what is wrong.
  std::function<std::string(const std::string&)> problem_in;
};

std::vector<Format> formats() {
  const auto list_of = [](const api::NodeList& list) {
    return [list](const std::string& text) {
      const auto read = api::decode_node_list(map_with(text));
      if (!read) return read.error().message;
      return std::string(*read == list ? "" : "reads as another list");
    };
  };
  const auto report_of = [](const api::ComputeDomainNodeReport& report) {
    return [report](const std::string& text) {
      const auto read = api::decode<api::ComputeDomainNode>(text);
      if (!read) return read.error().message;
      return std::string(read->status == report ? "" : "reads as another report");
    };
  };
  return {{"node-list.json", text_of(by_domain()), list_of(by_domain())},
          {"clique-list.json", text_of(by_channel()), list_of(by_channel())},
          {"reservations.json", data_of(core::config_map_of(reservations(), "op")),
           [](const std::string& text) {
             return std::string(core::reservations_in(map_with(text)) == reservations()
                                    ? ""
                                    : "reads as other reservations");
           }},
          {"report.json", text_of(report_by_domain()), report_of(report_by_domain())},
          {"clique-report.json", text_of(report_by_channel()), report_of(report_by_channel())},
          {"checkpoint.json", agent::encode_checkpoint(checkpoint()), [](const std::string& text) {
             const auto read = agent::decode_checkpoint(text);
             if (!read) return read.error().message;
             return std::string(*read == checkpoint() ? "" : "reads as another checkpoint");
           }}};
}

TEST(Formats, OfEachReleaseAreRead) {
  for (const Format& format : formats()) {
    if (std::getenv("UPDATE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
      std::ofstream(source_tree() / kFolder / format.file) << format.written << "\n";
    }
    std::string text = source_text(std::filesystem::path(kFolder) / format.file);
    while (text.ends_with('\n')) text.pop_back();
    EXPECT_EQ(format.problem_in(text), "") << format.file;
  }
}

TEST(Formats, OfThisVersionAreReadByEachRelease) {
  for (const Format& format : formats()) {
    const Json older = Json::parse(source_text(std::filesystem::path(kFolder) / format.file));
    Json newer = Json::parse(format.written);
    // Of the whole text: it has other values where a field was added.
    if (newer.contains("checksum")) newer["checksum"] = older.at("checksum");
    EXPECT_EQ(lack(older, newer, format.file), "")
        << "a program of that release would misunderstand it";
  }
}

// With a line more in the head, a column more in front of each table, and a table more.
std::string later_list(const std::string& text) {
  std::string later = "laterField any thing\n";
  bool is_in_table = false;
  for (const std::string& line : base::split(text, '\n')) {
    const bool is_title = line.find(": ") != std::string::npos;
    if (is_title) {
      later += base::cat(line.substr(0, line.find(' ')), " later", line.substr(line.find(' ')));
    } else {
      later += is_in_table && !line.empty() ? base::cat("1 ", line) : line;
    }
    later += '\n';
    is_in_table = !line.empty() && (is_in_table || is_title);
  }
  return later + "\nlaterTable: any\nthing, of another kind\n";
}

// With a field more in each object; with a phase, all claims have that one.
std::string later_checkpoint(const std::string& phase) {
  Json later = Json::parse(agent::encode_checkpoint(checkpoint()));
  Json& content = later.at("checkpoint");
  content["laterField"] = {{"any", "thing"}};
  for (auto& [uid, claim] : content.at("claims").items()) {
    claim["laterField"] = 1;
    for (Json& seat : claim.at("seats")) seat["laterField"] = 1;
    if (!phase.empty()) claim["phase"] = phase;
  }
  content.at("served")["laterField"] = 1;
  for (Json& peer : content.at("served").at("peers")) peer["laterField"] = 1;
  for (auto& [group, stopped] : content.at("stopped").items()) stopped["laterField"] = 1;
  later["checksum"] = base::hex64(base::fnv1a64(content.dump()));
  later["laterField"] = 1;
  return later.dump();
}

core::Checkpoint without_later(core::Checkpoint read) {
  read.later.clear();
  for (auto& [uid, claim] : read.claims) {
    claim.later.clear();
    for (core::DeviceRef& device : claim.devices) device.later.clear();
  }
  if (read.served) {
    read.served->later.clear();
    for (auto& [slot, peer] : read.served->peers) peer.later.clear();
  }
  for (auto& [group, stopped] : read.stopped) stopped.later.clear();
  return read;
}

// As a controller of the next release may write it while agents of this one still run.
TEST(Formats, OfLaterReleasesAreReadPastWhatTheyAdd) {
  for (const api::NodeList& list : {by_domain(), by_channel()}) {
    const std::string later = later_list(api::encode_node_list(list));
    const auto read = api::decode_node_list(map_with(Json{{api::kNodeListKey, later}}.dump()));
    ASSERT_TRUE(read) << read.error().message << "\n" << later;
    EXPECT_EQ(*read, list);
  }
  for (const api::ComputeDomainNodeReport& report : {report_by_domain(), report_by_channel()}) {
    Json later = Json::parse(text_of(report));
    later["status"]["laterField"] = {{"any", "thing"}};
    for (const char* part : {"groups", "conditions", "pendingClaims"}) {
      for (Json& row : later["status"].at(part)) row["laterField"] = 1;
    }
    const auto read = api::decode<api::ComputeDomainNode>(later.dump());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->status, report);
  }
  Json map = Json::parse(data_of(core::config_map_of(reservations(), "op")));
  for (const char* uid : {"train-uid", "eval-uid"}) {
    map[uid] = base::cat(map[uid].get<std::string>(), " later 3 of anything");
  }
  EXPECT_EQ(core::reservations_in(map_with(map.dump())), reservations());
  const auto read = agent::decode_checkpoint(later_checkpoint({}));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(without_later(*read), checkpoint());
}

// Agents of two releases write one checkpoint while one replaces the other.
TEST(Formats, WhatALaterReleaseAddsToACheckpointIsWrittenBack) {
  for (const char* phase : {"", "PrepareLater"}) {
    const std::string later = later_checkpoint(phase);
    const auto read = agent::decode_checkpoint(later);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(Json::parse(agent::encode_checkpoint(*read)).at("checkpoint"),
              Json::parse(later).at("checkpoint"));
  }
}

TEST(Formats, WordsOfALaterReleaseEndNothing) {
  api::ComputeDomainNodeReport report = report_by_domain();
  Json later = Json::parse(text_of(report));
  later["status"]["groups"][0]["state"] = later["status"]["summary"]["state"] = "Later";
  const auto read = api::decode<api::ComputeDomainNode>(later.dump());
  ASSERT_TRUE(read) << read.error().message;
  report.groups.front().state = api::DaemonState::Starting;
  report.summary.state = api::DaemonState::Starting;
  EXPECT_EQ(read->status, report);

  const auto held = agent::decode_checkpoint(later_checkpoint("PrepareLater"));
  ASSERT_TRUE(held) << held.error().message;
  for (const auto& [uid, claim] : held->claims) {
    EXPECT_EQ(claim.phase, core::ClaimPhase::Completed) << uid;
  }
}

}  // namespace
}  // namespace cdom
