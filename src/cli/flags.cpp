#include "cli/flags.h"

#include <algorithm>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/variables_map.hpp>
#include <cstdio>
#include <iostream>

#include "cli/help_text.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace po = boost::program_options;

namespace {

constexpr char kVersion[] = CDOM_VERSION;

std::optional<base::LogLevel> level_named(const std::string& name) {
  if (name == "debug") return base::LogLevel::Debug;
  if (name == "info") return base::LogLevel::Info;
  if (name == "warning") return base::LogLevel::Warning;
  if (name == "error") return base::LogLevel::Error;
  if (name == "off") return base::LogLevel::Off;
  return std::nullopt;
}

// Boost takes "--flag=" for a flag whose value was forgotten; here it is one that is empty.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      arguments.emplace_back(argument.substr(0, argument.size() - 1));
      arguments.emplace_back();
    } else {
      arguments.emplace_back(argument);
    }
  }
  return arguments;
}

const SubCommand* sub_command_in(const po::variables_map& values, const Parsed* parsed) {
  if (parsed == nullptr || !values.contains("positional")) return nullptr;
  const auto& positional = values["positional"].as<std::vector<std::string>>();
  const auto it = std::ranges::find(parsed->sub_commands, positional.front(), &SubCommand::name);
  return it == parsed->sub_commands.end() ? nullptr : &*it;
}

}  // namespace

po::options_description common_options(CommonFlags& flags) {
  po::options_description options("Common flags");
  options.add_options()("help,h", "print this text")("version", "print the version")(
      "log-level", po::value(&flags.log_level)->default_value(flags.log_level),
      "debug, info, warning, error or off")(
      "log-format", po::value(&flags.log_format)->default_value(flags.log_format), "text or json");
  return options;
}

int usage_error(const std::string& program, const std::string& what) {
  std::fprintf(stderr, "%s: %s (see %s --help)\n", program.c_str(), what.c_str(), program.c_str());
  return 2;
}

std::optional<int> parse_flags(int argc, char** argv, const std::string& usage,
                               const po::options_description& own, CommonFlags& common,
                               const std::function<std::string(const std::string&)>& environment,
                               Parsed* parsed) {
  const std::string program = base::split(argv[0], '/').back();
  po::options_description all;
  const po::options_description shared = common_options(common);
  all.add(own).add(shared);
  po::options_description hidden;
  hidden.add_options()("positional", po::value<std::vector<std::string>>());
  po::options_description accepted;
  accepted.add(all).add(hidden);
  po::positional_options_description positional;
  if (parsed != nullptr) positional.add("positional", -1);

  po::variables_map values;
  try {
    po::store(
        po::command_line_parser(arguments_of(argc, argv))
            .options(accepted)
            .positional(positional)
            .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
            .run(),
        values);
    po::store(po::parse_environment(all, environment), values);
    if (values.contains("help")) {
      std::cout << help_text(usage, own, shared, sub_command_in(values, parsed));
      return 0;
    }
    if (values.contains("version")) {
      std::cout << program << " " << kVersion << "\n";
      return 0;
    }
    po::notify(values);
  } catch (const po::error& error) {
    return usage_error(program, error.what());
  }
  if (parsed != nullptr && values.contains("positional")) {
    parsed->positional = values["positional"].as<std::vector<std::string>>();
  }
  const auto level = level_named(common.log_level);
  if (!level) {
    return usage_error(program, base::cat("--log-level: \"", common.log_level,
                                          "\" is none of debug, info, warning, error, off"));
  }
  if (common.log_format != "text" && common.log_format != "json") {
    return usage_error(
        program, base::cat("--log-format: \"", common.log_format, "\" is neither text nor json"));
  }
  base::configure_log(*level,
                      common.log_format == "json" ? base::LogFormat::Json : base::LogFormat::Text);
  return std::nullopt;
}

}  // namespace cdom::cli
