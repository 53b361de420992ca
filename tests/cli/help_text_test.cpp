#include "cli/help_text.h"

#include <gmock/gmock.h>

#include <boost/program_options/value_semantic.hpp>

#include "agent/main/agent_flags.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {
namespace {

namespace po = boost::program_options;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string help_of_agent(const SubCommand* sub_command) {
  program::AgentFlags flags;
  CommonFlags common;
  return help_text("compute-domain-agent [FLAGS]", options_of(flags), common_options(common),
                   sub_command);
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
                    HasSubstr("-h, --help\n"), Not(HasSubstr(" arg"))));
}

TEST(Help, CallsFoldersAndNamespacesByTheirName) {
  std::string value;
  po::options_description options;
  for (const char* flag : {"driver-programs", "driver-libraries", "adopt-from"}) {
    options.add_options()(flag, po::value(&value), "text");
  }
  EXPECT_THAT(help_text("", options, po::options_description(), nullptr),
              AllOf(HasSubstr("--driver-programs DIR\n"), HasSubstr("--driver-libraries DIR\n"),
                    HasSubstr("--adopt-from NAMESPACE,\u2026\n")));
  EXPECT_THAT(help_of_agent(nullptr),
              AllOf(HasSubstr("this pod's UID"), HasSubstr("port of the gRPC health service")));
}

TEST(Help, OfASubCommandListsTheFlagsThatItReads) {
  const SubCommand fabric{"fabric", "compute-domain-agent fabric", {"imex-socket", "fabric-file"}};
  EXPECT_THAT(help_of_agent(&fabric),
              AllOf(HasSubstr("compute-domain-agent fabric\n"), HasSubstr("--imex-socket FILE"),
                    HasSubstr("--log-level LEVEL"), Not(HasSubstr("--node-name"))));
}

}  // namespace
}  // namespace cdom::cli
