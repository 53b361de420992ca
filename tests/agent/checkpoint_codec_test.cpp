#include "compute_domain/agent/checkpoint_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::agent {
namespace {

using testing::HasSubstr;

core::Checkpoint full_checkpoint() {
  core::Checkpoint checkpoint;
  checkpoint.agent = "agent-7";
  checkpoint.boot_id = "boot-1";
  checkpoint.clique = "";
  checkpoint.claims["u1"] = {.claim = {"team-a", "a", "u1"},
                             .phase = core::ClaimPhase::Completed,
                             .group = "g",
                             .channels = {0, 2048},
                             .devices = {{"channel", "n00", "channel-0"}},
                             .admin_access = true,
                             .daemon = "i-3",
                             .lost_memory = true};
  checkpoint.claims["u2"] = {.claim = {"team-a", "b", "u2"},
                             .phase = core::ClaimPhase::Ending,
                             .group = "g",
                             .channels = {},
                             .devices = {},
                             .admin_access = false,
                             .pods = {"p1", "p2"},
                             .held_by = {{"p2", 30}}};
  checkpoint.served = core::ServedImexGroup{.group = "g",
                                            .slots = 18,
                                            .slot = 3,
                                            .term = 2,
                                            .started = true,
                                            .peers = {{1, {"10.0.0.2", "i"}}},
                                            .forget_importers = true};
  checkpoint.served->loss =
      core::MemoryLoss{.time = base::parse_rfc3339("2026-01-02T03:04:05Z").value(),
                       .message = "killed",
                       .claims = {"u1"}};
  checkpoint.stopped["h"] = {.group = "h", .clique = "c", .slot = 1, .term = 4};
  checkpoint.let_go = {"u3", "u4"};
  return checkpoint;
}

TEST(CheckpointCodec, KeepsEveryField) {
  for (const core::Checkpoint& checkpoint : {core::Checkpoint{}, full_checkpoint()}) {
    const auto read = decode_checkpoint(encode_checkpoint(checkpoint));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, checkpoint);
  }
}

TEST(CheckpointCodec, KeepsWordsThatAreNoText) {
  core::Checkpoint checkpoint = full_checkpoint();
  checkpoint.served->loss->message = "killed by \xFF";
  const auto read = decode_checkpoint(encode_checkpoint(checkpoint));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->served->loss->message, "killed by \xEF\xBF\xBD");
}

// A text of a later version, with a member more in each object.
nlohmann::json later_content() {
  nlohmann::json content =
      nlohmann::json::parse(encode_checkpoint(full_checkpoint())).at("checkpoint");
  content["laterField"] = {{"any", {1, 0.5, "thing"}}};
  auto& claim = content.at("claims").at("u1");
  auto& served = content.at("served");
  for (auto* object : {&claim, &claim.at("seats")[0], &served, &served.at("peers")[0],
                       &served.at("loss"), &content.at("stopped").at("h")}) {
    (*object)["laterField"] = "\xC3\xA9";
  }
  claim["phase"] = "PrepareLater";
  return content;
}

nlohmann::json content_of(const core::Checkpoint& checkpoint) {
  return nlohmann::json::parse(encode_checkpoint(checkpoint)).at("checkpoint");
}

core::Checkpoint read(const nlohmann::json& content) {
  const nlohmann::json whole{{"format", 1},
                             {"checksum", base::hex64(base::fnv1a64(content.dump()))},
                             {"checkpoint", content}};
  return decode_checkpoint(whole.dump()).value();
}

TEST(CheckpointCodec, WritesBackWhatALaterVersionHasAdded) {
  const nlohmann::json content = later_content();
  const core::Checkpoint checkpoint = read(content);
  EXPECT_EQ(content_of(checkpoint), content);
  EXPECT_EQ(decode_checkpoint(encode_checkpoint(checkpoint)).value(), checkpoint);
}

TEST(CheckpointCodec, KnowsThatWhatALaterVersionHasAddedHasChanged) {
  nlohmann::json content = later_content();
  const core::Checkpoint before = read(content);
  content["claims"]["u1"]["laterField"] = "another";
  EXPECT_NE(read(content), before);
}

TEST(CheckpointCodec, WritesTheWordOfAPhaseThatThisVersionGivesAClaim) {
  core::Checkpoint checkpoint = read(later_content());
  EXPECT_EQ(checkpoint.claims.at("u1").phase, core::ClaimPhase::Completed);
  checkpoint.claims.at("u1").phase = core::ClaimPhase::Ending;
  EXPECT_EQ(content_of(checkpoint)["claims"]["u1"]["phase"], "Ending");
}

core::Checkpoint ahead_of_claims() {
  core::Checkpoint checkpoint;
  checkpoint.boot_id = "b";
  checkpoint.clique = "c";
  checkpoint.served = {.group = "g", .slots = 18, .slot = 3, .term = 7, .started = true};
  return checkpoint;
}

TEST(CheckpointCodec, KeepsAGroupThatIsServedAheadOfItsClaims) {
  const core::Checkpoint checkpoint = ahead_of_claims();
  EXPECT_EQ(decode_checkpoint(encode_checkpoint(checkpoint)).value(), checkpoint);
}

// It would go on for ever: 0.1.0 ends a daemon with its last claim.
TEST(CheckpointCodec, TellsAnAgentThatKnowsNoSuchGroupToStopItsDaemon) {
  nlohmann::json content = content_of(ahead_of_claims());
  EXPECT_FALSE(content.contains("served"));
  const nlohmann::json mark{{"clique", "c"}, {"slot", 3}, {"term", 6}};
  EXPECT_EQ(content["stopped"]["g"], mark) << "of an earlier term: the slot is not free yet";
}

TEST(CheckpointCodec, PassesOverAnAheadThatSuchAnAgentHasWrittenBack) {
  const nlohmann::json content = content_of(ahead_of_claims());
  nlohmann::json stopped = content, begun = content, served = content;
  stopped["stopped"]["g"]["term"] = 7;
  begun["stopped"].erase("g");
  served["served"] = served["ahead"];
  served["served"]["group"] = "h";
  EXPECT_FALSE(read(stopped).served);
  EXPECT_EQ(read(stopped).stopped.at("g").term, 7);
  EXPECT_FALSE(read(begun).served);
  EXPECT_EQ(read(served).served->group, "h");
  EXPECT_EQ(read(served).stopped.at("g").term, 6);
}

TEST(CheckpointCodec, KnowsWhatHasBecomeOfADaemonWhoseFirstClaimSuchAnAgentHasBegun) {
  core::Checkpoint before = ahead_of_claims();
  before.served->forget_importers = true;
  nlohmann::json content = content_of(before);
  content["stopped"].erase("g");
  content["served"] = content["ahead"];
  content["served"]["started"] = content["served"]["forgetImporters"] = false;
  EXPECT_EQ(read(content).served, before.served);
  // It is of a daemon before the one that such an agent has started.
  nlohmann::json later = content, restarted = content;
  later["served"]["term"] = 8;
  restarted["served"]["started"] = true;
  EXPECT_FALSE(read(later).served->forget_importers);
  EXPECT_FALSE(read(later).served->started);
  EXPECT_FALSE(read(restarted).served->forget_importers);
}

TEST(CheckpointCodec, SeesThatATextIsTornAtAnyByte) {
  const std::string text = encode_checkpoint(full_checkpoint());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(decode_checkpoint(text.substr(0, size))) << size;
  }
}

TEST(CheckpointCodec, SeesThatAByteHasChanged) {
  const std::string text = encode_checkpoint(full_checkpoint());
  const auto at = text.find("team-a");
  std::string changed = text;
  changed[at] = 'x';
  const auto read = decode_checkpoint(changed);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("checksum"));
}

TEST(CheckpointCodec, TakesOnlyWholeNumbers) {
  for (const char* slot : {"1e300", "0.5", "18446744073709551615"}) {
    const auto content = nlohmann::json::parse(
        base::cat(R"({"bootID":"b","claims":{},"stopped":{"g":{"clique":"c","slot":)", slot,
                  R"(,"term":1}}})"));
    const nlohmann::json whole{{"format", 1},
                               {"checksum", base::hex64(base::fnv1a64(content.dump()))},
                               {"checkpoint", content}};
    const auto read = decode_checkpoint(whole.dump());
    ASSERT_FALSE(read) << slot;
    EXPECT_THAT(read.error().message, HasSubstr("must be a whole number"));
  }
}

TEST(CheckpointCodec, SaysWhoseAForeignTextIs) {
  const auto newer = decode_checkpoint(R"({"format":2,"checkpoint":{},"checksum":"x"})");
  EXPECT_THAT(newer.error().message, HasSubstr("has format 2, this agent reads 1"));
  const auto foreign = decode_checkpoint(R"({"checksum":1,"v1":{}})");
  EXPECT_THAT(foreign.error().message, HasSubstr("NVIDIA's DRA driver"));
  EXPECT_THAT(decode_checkpoint("[]").error().message, HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace cdom::agent
