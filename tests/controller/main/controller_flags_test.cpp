#include "controller/main/controller_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/refusal.h"

namespace cdom::program {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal_of(const std::vector<std::string>& arguments) {
  ControllerFlags flags;
  return cli::refusal(arguments, command_line_of(flags));
}

TEST(ControllerFlags, APageForEverybodyIsOnlyForWhoIsInThePod) {
  for (const char* listen : {"127.0.0.1:8090", "127.1.2.3:0", "[::1]:8090", "localhost:8090", ""}) {
    EXPECT_EQ(refusal_of({std::string("--debug-listen=") + listen}), "") << listen;
  }
  for (const char* listen :
       {":8090", "0.0.0.0:8090", "[::]:8090", "10.0.0.1:8090", "8090", "127.evil.example:80"}) {
    EXPECT_THAT(refusal_of({std::string("--debug-listen=") + listen}),
                AllOf(StartsWith("compute-domain-controller: --debug-listen: "),
                      HasSubstr("give a loopback address"), HasSubstr("--metrics-authentication")))
        << listen;
  }
  EXPECT_EQ(refusal_of({"--debug-listen=:8090", "--metrics-authentication", "--metrics-tls-cert=/c",
                        "--metrics-tls-key=/k"}),
            "");
}

}  // namespace
}  // namespace cdom::program
