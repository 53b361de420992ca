#include "cli/flags.h"

#include <gtest/gtest.h>

#include <boost/program_options/value_semantic.hpp>

namespace cdom::cli {
namespace {

std::string listen_of(std::vector<std::string> arguments) {
  std::string listen = ":8080";
  boost::program_options::options_description options;
  options.add_options()("listen", boost::program_options::value(&listen)->default_value(listen));
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (std::string& argument : arguments) argv.push_back(argument.data());
  CommonFlags common;
  const auto code = parse_flags(static_cast<int>(argv.size()), argv.data(), "", options, common,
                                [](const std::string&) { return std::string(); });
  return code ? "refused" : listen;
}

TEST(Flags, MayBeEmpty) {
  EXPECT_EQ(listen_of({}), ":8080");
  EXPECT_EQ(listen_of({"--listen=:1"}), ":1");
  EXPECT_EQ(listen_of({"--listen="}), "");
  EXPECT_EQ(listen_of({"--listen", ""}), "");
  EXPECT_EQ(listen_of({"--listen"}), "refused");
}

}  // namespace
}  // namespace cdom::cli
