#include "cli/help_text.h"

#include <algorithm>

#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace {

using base::cat;

constexpr std::size_t kWidth = 92;
constexpr char kIndent[] = "        ";

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

std::string text_of(const Flag& flag) {
  const Value& value = flag.value;
  const bool is_switch = value.form == Value::Form::Switch;
  const std::string name = flag.long_name();
  const std::string short_name =
      flag.name == name ? "" : cat("-", flag.name.substr(name.size() + 1), ", ");
  std::vector<std::string> facts;
  if (!value.range.empty()) facts.push_back(value.range);
  if (!value.by_default.empty() && !is_switch) facts.push_back(cat("default ", value.by_default));
  return cat("  ", short_name, "--", name, is_switch ? "" : " ", is_switch ? "" : value.placeholder,
             facts.empty() ? "" : cat("  (", base::join(facts, "; "), ")"), "\n",
             wrapped(cat(flag.help, value.form == Value::Form::List ? "; may be repeated" : "",
                         flag.variable.empty() ? "" : cat(" (", flag.variable, ")"))));
}

}  // namespace

std::string help_text(const CommandLine& line, const SubCommand* sub_command) {
  std::string text = cat(sub_command == nullptr ? line.usage : sub_command->usage,
                         "\n\nFlags (in brackets the environment variables they default to):\n");
  for (const Flag& flag : line.flags) {
    const auto readers = flag.readers();
    const bool is_read =
        sub_command == nullptr || std::ranges::find(readers, sub_command->name) != readers.end();
    if (is_read) text += text_of(flag);
  }
  text += "\nCommon flags:\n";
  CommonFlags common;
  for (const Flag& flag : rows_of(common)) text += text_of(flag);
  return text;
}

}  // namespace cdom::cli
