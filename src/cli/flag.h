// Flag: one row of a program's table. The parser, the checks, --help and docs/reference/flags.md
// all read the row; nothing else knows the flag.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/whole_number.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {

// Where the value of a flag lies, and what it may be. The kinds of values below make them; the
// field must outlive the value, and what it has then is the default.
struct Value {
  enum class Form { One, Switch, List };
  std::string placeholder;  // in --help
  std::string range;        // of numbers and choices, for people
  std::string by_default;   // "": none
  // Stores a text; gives what is wrong with it, "" when nothing is.
  std::function<std::string(const std::string&)> take;
  Form form = Form::One;
};

struct Flag {
  std::string name;      // with a short one: "output,o"
  std::string variable;  // of the environment, which counts where the flag is not given; "": none
  Value value;
  std::string help;          // names neither variable nor range nor default
  std::string read_by = {};  // the sub-commands whose --help has it: "fabric check"

  [[nodiscard]] std::string long_name() const { return name.substr(0, name.find(',')); }
  [[nodiscard]] std::vector<std::string> readers() const { return base::split(read_by, ' '); }
};

// What a text has to be.
struct Rule {
  std::function<bool(const std::string&)> holds = [](const std::string&) { return true; };
  std::string what = {};  // "an absolute path"
};
Rule absolute_path();

// An empty text follows the rule where it is the default.
Value text(std::string& field, std::string placeholder, const Rule& rule = {});
Value path(std::string& field, std::string placeholder);  // an absolute one
Value choice(std::string& field, std::string placeholder, const std::vector<std::string>& choices);
Value boolean(bool& field);
Value on_off(bool& field);  // the flag's name alone switches it on
Value duration(base::Duration& field);
// May be given several times.
Value texts(std::vector<std::string>& field, std::string placeholder, const Rule& rule = {});
// One text, with commas.
Value names(std::set<std::string>& field, std::string placeholder, const Rule& rule);

// `because` ends the sentence about a number that is outside.
template <std::integral T>
Value number(T& field, T least = kLeast<T>, T most = kMost<T>, const std::string& because = "") {
  const bool is_any = least == kLeast<T> && most == kMost<T>;
  return {.placeholder = "N",
          .range = is_any ? "" : base::cat(least, " to ", most),
          .by_default = base::cat(field),
          .take = [=, &field](const std::string& text) {
            return read_number(text, least, most, field, because);
          }};
}

// May be given several times.
template <std::integral T>
Value numbers(std::vector<T>& field, const std::string& placeholder) {
  return {.placeholder = placeholder,
          .take =
              [&field](const std::string& text) {
                T one{};
                std::string mistake = read_number(text, kLeast<T>, kMost<T>, one);
                if (mistake.empty()) field.push_back(one);
                return mistake;
              },
          .form = Value::Form::List};
}

// The rows of both.
std::vector<Flag> operator+(std::vector<Flag> rows, const std::vector<Flag>& more);

}  // namespace cdom::cli
