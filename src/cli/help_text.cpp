#include "cli/help_text.h"

#include <algorithm>
#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <utility>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace po = boost::program_options;

namespace {

using base::cat;

constexpr std::size_t kWidth = 92;
constexpr char kIndent[] = "        ";

// What stands for a flag's value, by how its name ends; the first that fits.
constexpr std::pair<std::string_view, std::string_view> kPlaceholders[] = {
    {"listen", "ADDRESS:PORT"},
    {"address", "ADDRESS"},
    {"port", "PORT"},
    {"-dir", "DIR"},
    {"-root", "DIR"},
    {"driver-programs", "DIR"},
    {"driver-libraries", "DIR"},
    {"directory", "DIR"},
    {"file", "FILE"},
    {"tls-cert", "FILE"},
    {"tls-key", "FILE"},
    {"socket", "FILE"},
    {"kubeconfig", "FILE"},
    {"devices", "FILE"},
    {"path", "PATH"},
    {"namespace", "NAMESPACE"},
    {"adopt-from", "NAMESPACE,…"},
    {"name", "NAME"},
    {"duration", "DURATION"},
    {"deadline", "DURATION"},
    {"period", "DURATION"},
    {"delay", "DURATION"},
    {"stay", "DURATION"},
    {"mode", "MODE"},
    {"isolation", "MODE"},
    {"device-files", "WAY"},
    {"level", "LEVEL"},
    {"format", "FORMAT"},
    {"output", "FORMAT"},
    {"option", "KEY=VALUE"},
    {"user", "ID"},
    {"uid", "UID"},
    {"controller", "true|false"}};

std::string placeholder_of(const std::string& flag) {
  if (flag == "device-files") return "WAY";
  for (const auto& [end, placeholder] : kPlaceholders) {
    if (flag.ends_with(end)) return std::string(placeholder);
  }
  return "N";
}

// The library writes "arg (=2s)", of a switch "[=arg(=1)] (=0)".
std::string default_in(const std::string& name) {
  const auto at = name.rfind("(=");
  return at == std::string::npos ? "" : name.substr(at + 2, name.size() - at - 3);
}

std::string wrapped(const std::string& text) {
  std::string out, line;
  for (const std::string& word : base::split(text, ' ')) {
    if (!line.empty() && sizeof kIndent + line.size() + word.size() > kWidth) {
      out += cat(kIndent, line, "\n");
      line.clear();
    }
    line += cat(line.empty() ? "" : " ", word);
  }
  return cat(out, kIndent, line, "\n");
}

std::string text_of(const po::option_description& option) {
  const std::string& flag = option.long_name();
  const std::string name = option.semantic()->name();
  // The library has a name for a value that is never given, too.
  const bool is_switch = option.semantic()->max_tokens() == 0 || name.starts_with('[');
  const bool has_short =
      option.canonical_display_name(po::command_line_style::allow_dash_for_short).size() == 2;
  std::string head = cat(
      "  ",
      has_short
          ? cat(option.canonical_display_name(po::command_line_style::allow_dash_for_short), ", ")
          : "",
      "--", flag, is_switch ? "" : cat(" ", placeholder_of(flag)));
  const std::string value = default_in(name);
  const bool is_shown = !value.empty() && !(is_switch && value == "0");
  if (is_shown) head += cat("  (default ", value, ")");
  return cat(head, "\n", wrapped(option.description()));
}

}  // namespace

std::string help_text(const std::string& usage, const po::options_description& own,
                      const po::options_description& common, const SubCommand* sub_command) {
  std::string text = cat(sub_command == nullptr ? usage : sub_command->usage,
                         "\n\nFlags (in brackets the environment variables they default to):\n");
  for (const auto& option : own.options()) {
    const bool is_read =
        sub_command == nullptr ||
        std::ranges::find(sub_command->flags, option->long_name()) != sub_command->flags.end();
    if (is_read) text += text_of(*option);
  }
  text += "\nCommon flags:\n";
  for (const auto& option : common.options()) text += text_of(*option);
  return text;
}

}  // namespace cdom::cli
