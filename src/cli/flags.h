// Flags: what every program of ours has in common on its command line.
//
// A flag that is not given comes from its environment variable, under the names of the reference
// driver. What does not parse ends the program with one line and exit code 2.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cdom::cli {

struct CommonFlags {
  std::string log_level = "info";
  std::string log_format = "text";
};

// --help, --version, --log-level, --log-format.
boost::program_options::options_description common_options(CommonFlags& flags);

// Has a help of its own, with the flags that it reads.
struct SubCommand {
  std::string name, usage;
  std::vector<std::string> flags;
};

struct Parsed {
  std::vector<std::string> positional = {};
  std::vector<SubCommand> sub_commands = {};  // given
};

// Parses, sets up the log, and answers --help and --version. An exit code when the program has
// nothing more to do. `environment` maps a variable's name to the flag's, "" for others.
std::optional<int> parse_flags(int argc, char** argv, const std::string& usage,
                               const boost::program_options::options_description& own,
                               CommonFlags& common,
                               const std::function<std::string(const std::string&)>& environment,
                               Parsed* parsed = nullptr);

// One line on standard error; gives 2.
int usage_error(const std::string& program, const std::string& what);

}  // namespace cdom::cli
