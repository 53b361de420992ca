// What a program says of its arguments.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/command_line.h"

namespace cdom::cli {

inline Parsed parse(std::vector<std::string> arguments, const CommandLine& line) {
  arguments.insert(arguments.begin(), line.program);
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return parse(static_cast<int>(argv.size()), argv.data(), line);
}

// "" when it takes them.
inline std::string refusal(const std::vector<std::string>& arguments, const CommandLine& line) {
  testing::internal::CaptureStderr();
  const Parsed parsed = parse(arguments, line);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(parsed.exit_code, text.empty() ? std::nullopt : std::optional(2));
  return text;
}

}  // namespace cdom::cli
