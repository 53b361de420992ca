#include "cli/help_text.h"

#include <gmock/gmock.h>

#include "agent/main/agent_flags.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string help_of_agent(const SubCommand* sub_command) {
  program::AgentFlags flags;
  return help_text(command_line_of(flags), sub_command);
}

TEST(Help, BreaksLinesBetweenWordsOnly) {
  const std::string help = help_of_agent(nullptr);
  for (const char* variable : {"KUBELET_REGISTRAR_DIRECTORY_PATH", "KUBELET_PLUGINS_DIRECTORY_PATH",
                               "ALT_PROC_DEVICES_PATH", "IMEX_CHANNEL_AS_ZERO"}) {
    EXPECT_THAT(help, HasSubstr(variable));
  }
  for (const std::string& line : base::split(help, '\n')) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Help, SaysWhatAFlagsValueIs) {
  EXPECT_THAT(help_of_agent(nullptr),
              AllOf(HasSubstr("--kubelet-plugins-dir DIR  (default /var/lib/kubelet/plugins)\n"),
                    HasSubstr("--fabric-file FILE\n"), HasSubstr("--channel-as-zero\n"),
                    HasSubstr("--seats N  (1 to 128; default 8)\n"),
                    HasSubstr("--fabric-mode MODE  (strict or legacy; default strict)\n"),
                    HasSubstr("this pod's UID"), HasSubstr("-h, --help\n")));
}

TEST(Help, SaysWhatMayBeRepeatedAndWhichVariableCounts) {
  std::vector<std::string> folders;
  const CommandLine line{.flags = {{"folder", "FOLDER", texts(folders, "DIR"), "where to look"}}};
  EXPECT_THAT(help_text(line, nullptr),
              HasSubstr("  --folder DIR\n        where to look; may be repeated (FOLDER)\n"));
}

TEST(Help, OfASubCommandListsTheFlagsThatItReads) {
  const SubCommand fabric{"fabric", "compute-domain-agent fabric"};
  EXPECT_THAT(help_of_agent(&fabric),
              AllOf(HasSubstr("compute-domain-agent fabric\n"), HasSubstr("--imex-socket FILE"),
                    HasSubstr("--log-level LEVEL"), Not(HasSubstr("--node-name"))));
}

}  // namespace
}  // namespace cdom::cli
