#include "imex/process/tool_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/base/text.h"

namespace cdom::imex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ReportedState, IsTheLastLineThatIsAWordInCapitals) {
  EXPECT_EQ(*reported_state("READY\n"), ReportedState::Ready);
  EXPECT_EQ(*reported_state("warning: old config\nWAITING_FOR_RECOVERY\n\n"),
            ReportedState::WaitingForRecovery);
  EXPECT_EQ(*reported_state("READY\nwarning: READY is not final\n"), ReportedState::Ready);
  EXPECT_FALSE(reported_state("READY\nUNAVAILABLE\n"));
  EXPECT_FALSE(reported_state("NOT_READY\n"));
  EXPECT_FALSE(reported_state("READY?\n"));
  EXPECT_FALSE(reported_state(""));
  EXPECT_THAT(reported_state("UNAVAILABLE\n").error().message, HasSubstr("UNAVAILABLE"));
}

TEST(NodeView, HasTheLettersOfTheOwnRow) {
  const std::string text = R"(a warning
{"nodes": {"0": {"status": "READY", "host": "10.0.0.1", "connections": {
   "0": {"host": "10.0.0.1", "status": "CONNECTED", "changed": true},
   "1": {"host": "10.0.0.2", "status": "INVALID", "changed": true}}},
 "1": {"status": "READY", "host": "10.0.0.2", "connections": {
   "0": {"host": "10.0.0.1", "status": "CONNECTED", "changed": true},
   "1": {"host": "10.0.0.2", "status": "CONNECTED", "changed": true},
   "2": {"host": "10.0.0.3", "status": "NEVER_CONNECTED"}, "3": {"status": "R"},
   "4": {"status": "DISCONNECTED"}, "5": {"status": "!V!"}, "6": {"status": "NODE_MAP_MISMATCH"},
   "7": {"status": "CONNECTING"}, "8": {}, "x": {"status": "C"}}}},
 "timestamp": "5/4/2026 06:08:10.580", "status": "DEGRADED"})";
  const auto view = node_view(text, 1);
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_TRUE(view->is_ready);
  EXPECT_THAT(view->letters, ElementsAre(Pair(0, 'C'), Pair(2, 'N'), Pair(3, 'R'), Pair(4, 'D'),
                                         Pair(5, 'V'), Pair(6, 'M'), Pair(7, 'I')));
}

// The tool's output for errors is read as well.
TEST(NodeView, MayHaveWarningsBeforeItAndBehindIt) {
  const std::string view = R"({"nodes": {"1": {"connections": {"0": {"status": "CONNECTED"}}}}})";
  for (const auto& [before, behind] : {std::pair("", "\nwarning: slow\n"),
                                       {"warning: {IMEX_X} is unknown\n", ""},
                                       {"{\"level\": \"warn\"}\n", "\nwarning: two (of 3)"}}) {
    const auto read = node_view(base::cat(before, view, behind), 1);
    ASSERT_TRUE(read) << before << behind << read.error().message;
    EXPECT_THAT(read->letters, ElementsAre(Pair(0, 'C')));
  }
}

TEST(NodeView, IsAnErrorWhenTheRowIsMissing) {
  for (const char* text : {"", "{", "[]", "{\"nodes\": 3}", "{\"nodes\": {\"0\": {}}}",
                           "{\"nodes\": {\"1\": {\"connections\": []}}}", "Connection refused",
                           "} {", "{{{{{{{{{{}"}) {
    EXPECT_FALSE(node_view(text, 1)) << text;
  }
}

TEST(NodeView, TellsWhetherItsRowSaysReady) {
  for (const char* word : {R"("UNAVAILABLE")", R"("NOT_READY")", "5", "{}"}) {
    const auto view =
        node_view(base::cat(R"({"nodes": {"1": {"connections": {}, "status": )", word, "}}}"), 1);
    ASSERT_TRUE(view);
    EXPECT_FALSE(view->is_ready) << word;
  }
  EXPECT_FALSE(node_view(R"({"nodes": {"1": {"connections": {}}}})", 1)->is_ready);
}

ToolAnswer ended_with(int code, const std::string& text) {
  return {ToolAnswer::Outcome::Refusal, text, /*has_run=*/true, code};
}

TEST(LoaderComplaint, IsTheLineOfTheLoaderThatGivesAProgramUp) {
  for (const std::string line :
       {"nvidia-imex-ctl: error while loading shared libraries: libz.so.1: cannot open shared "
        "object file: No such file or directory",
        "nvidia-imex-ctl: symbol lookup error: nvidia-imex-ctl: undefined symbol: inflate",
        "nvidia-imex-ctl: relocation error: libz.so.1: symbol x version V not defined"}) {
    EXPECT_EQ(loader_complaint(ended_with(127, line + "\n")), line);
    EXPECT_EQ(loader_complaint(ended_with(127, "a warning\n" + line + "\n")), line);
    EXPECT_FALSE(loader_complaint(ended_with(2, line))) << "the tool quotes it";
  }
  const std::string version =
      "ctl: /lib/libc.so.6: version `GLIBC_2.38' not found (required by ctl)";
  EXPECT_EQ(loader_complaint(ended_with(1, version + "\n")), version);
}

TEST(LoaderComplaint, IsNothingThatTheToolItselfSays) {
  EXPECT_FALSE(loader_complaint(ended_with(127, "")));
  EXPECT_FALSE(loader_complaint(ended_with(127, "sh: nvidia-imex-ctl: not found\n")));
  EXPECT_FALSE(loader_complaint(ended_with(1, "UNAVAILABLE\n")));
  EXPECT_FALSE(
      loader_complaint(ended_with(1, "version `1' is old\nIt is not found (required by x)")));
  EXPECT_FALSE(loader_complaint(
      {ToolAnswer::Outcome::Answer, "READY\nctl: error while loading shared libraries: none\n"}));
}

}  // namespace
}  // namespace cdom::imex
