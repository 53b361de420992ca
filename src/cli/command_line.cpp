#include "cli/command_line.h"

#include <algorithm>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/variables_map.hpp>
#include <cstdio>
#include <iostream>

#include "cli/environment.h"
#include "cli/help_text.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace po = boost::program_options;
using base::cat;

namespace {

constexpr std::pair<const char*, base::LogLevel> kLevels[] = {
    {"debug", base::LogLevel::Debug},     {"info", base::LogLevel::Info},
    {"warning", base::LogLevel::Warning}, {"error", base::LogLevel::Error},
    {"off", base::LogLevel::Off},
};

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

// Boost takes the word behind a switch for its value, also one that is for the sub-command: only
// these two are of a switch.
std::vector<std::string> with_values_of_switches(const std::vector<Flag>& flags,
                                                 std::vector<std::string> arguments) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const bool is_switch = std::ranges::any_of(flags, [&](const Flag& flag) {
      return flag.value.form == Value::Form::Switch && arguments[i] == cat("--", flag.long_name());
    });
    const std::string& next = arguments[i + 1];
    if (is_switch && !next.empty() && next != "true" && next != "false") arguments[i] += "=true";
  }
  return arguments;
}

// The library splits the arguments and knows the names; the rows know the values.
po::variables_map split(const std::vector<Flag>& flags, const std::vector<std::string>& arguments) {
  po::options_description options;
  options.add_options()("positional", po::value<std::vector<std::string>>());
  for (const Flag& flag : flags) {
    if (flag.value.form == Value::Form::List) {
      options.add_options()(flag.name.c_str(), po::value<std::vector<std::string>>());
      continue;
    }
    auto* value = po::value<std::string>();
    if (flag.value.form == Value::Form::Switch) value->implicit_value("true");
    options.add_options()(flag.name.c_str(), value);
  }
  po::positional_options_description positional;
  positional.add("positional", -1);
  po::variables_map values;
  po::store(
      po::command_line_parser(arguments)
          .options(options)
          .positional(positional)
          .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
          .run(),
      values);
  return values;
}

// Gives what is wrong, "" when nothing is.
std::string take(const Flag& flag, const po::variables_map& values) {
  const std::string name = flag.long_name();
  const auto taken = [&flag](const std::string& from, const std::string& text) {
    const std::string mistake = flag.value.take(text);
    return mistake.empty() ? "" : cat(from, ": ", mistake);
  };
  if (!values.contains(name)) {
    if (flag.variable.empty()) return "";
    const auto text = find_variable(flag.variable.c_str());
    if (!text) return "";
    // As of a ConfigMap's key that nobody has filled in.
    if (flag.value.form == Value::Form::Switch && text->empty()) return "";
    return taken(flag.variable, *text);
  }
  if (flag.value.form != Value::Form::List) {
    return taken(cat("--", name), values[name].as<std::string>());
  }
  for (const std::string& text : values[name].as<std::vector<std::string>>()) {
    if (std::string mistake = taken(cat("--", name), text); !mistake.empty()) return mistake;
  }
  return "";
}

// A flag that was given although the sub-command does not read it: its user expects it to act.
// Variables of the environment are there for all.
std::string unread_flag(const std::vector<Flag>& flags, const po::variables_map& values,
                        const SubCommand& command) {
  for (const Flag& flag : flags) {
    if (!values.contains(flag.long_name())) continue;
    const std::vector<std::string> readers = flag.readers();
    if (std::ranges::find(readers, command.name) != readers.end()) continue;
    return cat("--", flag.long_name(), " is not a flag of `", command.name, "`: leave it out");
  }
  return "";
}

std::string not_a_sub_command(const std::string& word, const std::vector<SubCommand>& known) {
  std::string text = cat("\"", word, "\" is not a sub-command; try ");
  for (const SubCommand& command : known) {
    if (&command != &known.front()) text += &command == &known.back() ? " or " : ", ";
    text += cat("`", command.name, "`");
  }
  return text;
}

void set_up_log(const CommonFlags& common) {
  const auto* level = std::ranges::find(kLevels, common.log_level,
                                        [](const auto& row) { return std::string(row.first); });
  base::configure_log(level->second,
                      common.log_format == "json" ? base::LogFormat::Json : base::LogFormat::Text);
}

}  // namespace

std::vector<Flag> rows_of(CommonFlags& flags) {
  std::vector<std::string> levels;
  for (const auto& [name, level] : kLevels) levels.emplace_back(name);
  return {
      {"help,h", "", on_off(flags.wants_help), "print this text"},
      {"version", "", on_off(flags.wants_version), "print the version"},
      {"log-level", "", choice(flags.log_level, "LEVEL", levels),
       "the least severe messages that are logged"},
      {"log-format", "", choice(flags.log_format, "FORMAT", {"text", "json"}),
       "how they are written"},
  };
}

int failure(const std::string& program, const std::string& what, int exit_code) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), what.c_str());
  return exit_code;
}

int print(const std::string& program, const std::string& text, int exit_code) {
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return is_written ? exit_code : failure(program, "standard output takes no more");
}

int usage_error(const std::string& program, const std::string& what) {
  return failure(program, cat(what, " (see ", program, " --help)"), kWrongUsage);
}

Parsed parse(int argc, char** argv, const CommandLine& line) {
  CommonFlags common;
  const std::vector<Flag> flags = rows_of(common) + line.flags;
  po::variables_map values;
  try {
    values = split(flags, with_values_of_switches(flags, arguments_of(argc, argv)));
  } catch (const po::error& error) {
    return {.exit_code = usage_error(line.program, error.what())};
  }

  Parsed parsed;
  if (values.contains("positional")) {
    parsed.arguments = values["positional"].as<std::vector<std::string>>();
    parsed.sub_command = parsed.arguments.front();
    parsed.arguments.erase(parsed.arguments.begin());
  }
  const auto command = std::ranges::find(line.sub_commands, parsed.sub_command, &SubCommand::name);
  const bool is_known = command != line.sub_commands.end();
  if (values.contains("help")) {
    std::cout << help_text(line, is_known ? &*command : nullptr);
    return {.exit_code = 0};
  }
  if (values.contains("version")) {
    std::cout << line.program << " " << CDOM_VERSION << "\n";
    return {.exit_code = 0};
  }
  if (!parsed.sub_command.empty()) {
    if (!is_known) {
      return {.exit_code = usage_error(line.program,
                                       not_a_sub_command(parsed.sub_command, line.sub_commands))};
    }
    if (!parsed.arguments.empty() && !command->takes_arguments) {
      return {.exit_code =
                  usage_error(cat(line.program, " ", command->name),
                              cat("it takes no argument: ", base::join(parsed.arguments, " ")))};
    }
  }

  std::string mistake;
  if (is_known && line.refuses_unread_flags) mistake = unread_flag(line.flags, values, *command);
  for (const Flag& flag : flags) {
    if (mistake.empty()) mistake = take(flag, values);
  }
  if (mistake.empty() && line.mistake) mistake = line.mistake(parsed.sub_command);
  if (!mistake.empty()) {
    const std::string program = cat(line.program, is_known ? " " : "", parsed.sub_command);
    return {.exit_code = usage_error(program, mistake)};
  }
  set_up_log(common);
  return parsed;
}

}  // namespace cdom::cli
