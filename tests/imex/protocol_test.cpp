#include "compute_domain/imex/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::imex {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

Want whole_want() { return {"3f0e", 2, "a-0000\na-0001\n", "beef", "10.0.0.2"}; }

TEST(ImexProtocol, CarriesEveryRequest) {
  const Request requests[] = {Hello{1, "agent 1"},
                              whole_want(),
                              Hosts{"10.0.0.1\ta-0000\n100% sure\r", "77"},
                              Signal{},
                              Stop{},
                              Forget{"3f0e"},
                              PauseDriver{true},
                              PauseDriver{false},
                              Watch{},
                              Watch{"/etc/cdi", false},
                              ReadKubeletState{}};
  for (const Request& request : requests) {
    const std::string line = encode(7, request);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    const NumberedRequest decoded = decode_request(line);
    EXPECT_EQ(decoded.id, 7U);
    ASSERT_TRUE(decoded.request) << decoded.request.error().message;
    EXPECT_TRUE(*decoded.request == request) << line;
  }
}

TEST(ImexProtocol, CarriesEveryNotice) {
  DaemonStatus state;
  state.phase = DaemonPhase::Failed;
  state.running = state.stopping = state.answers = true;
  state.group = "3f0e";
  state.table_hash = "beef";
  state.slot = 0;
  state.instance = "i";
  state.message = "nvidia-imex ended = badly, 100 %";
  state.hosts_revision = "r";
  state.signalled = seconds(3);
  state.starts_again = false;
  state.peers = {{0, 'C'}, {17, 'N'}};
  state.address = "10.77.3.4";
  state.cannot_start = "no nvidia-imex below the driver root /";
  state.driver_paused = false;
  state.looks = true;
  state.lacks = std::vector<base::NodeLack>{
      {"CdiNotRead", "CDI: containerd reads \"/etc/cdi\" = 100 %", "ContainerRuntime"},
      {"OtherPlugin", "", "KubeletPlugin", true}};
  nvidia::FabricFacts fabric{.source = "/usr/lib64/libnvidia-ml.so.1", .driver_version = "580.1"};
  fabric.gpus = {{.uuid = "GPU-0",
                  .name = "NVIDIA GB200 100 %",
                  .state = nvidia::FabricState::Completed,
                  .status = 15,
                  .status_text = "GPU is lost (15): see the kernel log",
                  .cluster_uuid = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10",
                  .clique_id = 4294967295,
                  .health = nvidia::FabricHealth::Unhealthy,
                  .health_mask = 4294967295},
                 {.error = "GPU is lost\n(15)"}};
  const Notice notices[] = {fabric,
                            nvidia::FabricFacts{.error = "no driver"},
                            Hello{1, "supervisor"},
                            Reply{3, std::nullopt},
                            Reply{5, std::nullopt, "{\"Data\": \"100 %\"}\n"},
                            Reply{4, base::Error{base::ErrorKind::Conflict, "runs already"}},
                            state,
                            DaemonStatus{}};
  for (const Notice& notice : notices) {
    const auto decoded = decode_notice(encode(notice, seconds(5)), seconds(5));
    ASSERT_TRUE(decoded) << encode(notice);
    EXPECT_TRUE(*decoded == notice) << encode(notice);
  }
}

// The clocks of the two have nothing to do with each other.
TEST(ImexProtocol, CarriesAMomentAsAnAge) {
  DaemonStatus status;
  status.signalled = seconds(90);
  const std::string line = encode(Notice(status), seconds(100));
  EXPECT_THAT(line, HasSubstr("signal_age_ns=10000000000"));
  EXPECT_EQ(std::get<DaemonStatus>(*decode_notice(line, seconds(15))).signalled, seconds(5));
}

TEST(ImexProtocol, IgnoresFieldsOfALaterVersion) {
  std::string line = encode(7, whole_want());
  line.insert(line.find(' '), " colour=blue =x broken");
  const NumberedRequest decoded = decode_request(line);
  ASSERT_TRUE(decoded.request);
  EXPECT_TRUE(*decoded.request == Request(whole_want()));
}

TEST(ImexProtocol, AnswersARequestOfALaterVersionWithInvalid) {
  const NumberedRequest decoded = decode_request("freeze id=9 hard=1\n");
  EXPECT_EQ(decoded.id, 9U);
  ASSERT_FALSE(decoded.request);
  EXPECT_EQ(decoded.request.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(decoded.request.error().message, HasSubstr("\"freeze\""));
}

TEST(ImexProtocol, TakesWhatAnEarlierVersionLeavesOutAsTheDefault) {
  const auto notice = decode_notice("state running=1 phase=melting\n");
  ASSERT_TRUE(notice);
  const DaemonStatus& state = std::get<DaemonStatus>(*notice);
  EXPECT_TRUE(state.running);
  EXPECT_EQ(state.phase, DaemonPhase::Starting)
      << "an unknown phase of a running daemon is not READY";
  EXPECT_EQ(state.slot, -1);
  EXPECT_FALSE(state.signalled);
  EXPECT_FALSE(state.starts_again) << "a supervisor that does not say whether it does";
  EXPECT_FALSE(state.driver_paused) << "a supervisor that cannot be told to let go of the driver";
  EXPECT_FALSE(decode_notice("weather sunny=1"));
  EXPECT_TRUE(*decode_request("watch id=1").request == Request(Watch{})) << "an agent";
}

TEST(ImexProtocol, RefusesAWantThatLacksAField) {
  ASSERT_TRUE(decode_request("want id=1 group=g slot=0 table=a address=10.0.0.1").request);
  EXPECT_FALSE(decode_request("want id=1 slot=0 table=a address=10.0.0.1").request);
  EXPECT_FALSE(decode_request("want id=1 group=g slot=0 table=a").request);
  EXPECT_FALSE(decode_request("want id=1 group=g slot=0 address=10.0.0.1").request);
  EXPECT_FALSE(decode_request("want id=1 group=g table=a address=10.0.0.1").request);
}

TEST(ImexProtocol, SurvivesNoise) {
  for (const char* line : {"", " ", "=", "%", "want id=99999999999999999999999",
                           "state peers=::,1,-3:C,%", "hosts text=%zz%4", "error id=x kind=Odd"}) {
    (void)decode_request(line);
    (void)decode_notice(line);
  }
  const auto notice = decode_notice("state peers=::,1,-3:C,4:C");
  EXPECT_EQ(std::get<DaemonStatus>(*notice).peers, (std::map<std::int64_t, char>{{4, 'C'}}));
}

TEST(ImexProtocol, CutsBytesIntoLines) {
  LineBuffer buffer;
  buffer.add("one\ntw");
  EXPECT_EQ(buffer.next(), "one");
  EXPECT_EQ(buffer.next(), std::nullopt);
  buffer.add("o\n\n");
  EXPECT_EQ(buffer.next(), "two");
  EXPECT_EQ(buffer.next(), "");
  EXPECT_FALSE(buffer.is_flooded());
  buffer.add(std::string(5U << 20, 'x'));
  EXPECT_TRUE(buffer.is_flooded());
}

}  // namespace
}  // namespace cdom::imex
