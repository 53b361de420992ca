// Structured log lines: a sentence and its fields.
//
// Text format: `2026-01-02T03:04:05.006Z info  message key=value`; JSON format: one object a line.
// Everything goes to standard error. Thread-safe; before configure() it writes text at Info.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace cdom::base {

enum class LogLevel { Debug, Info, Warning, Error, Off };
enum class LogFormat { Text, Json };

struct LogField {
  std::string_view key;
  std::string value;
};

// Once, at the start of main.
void configure_log(LogLevel level, LogFormat format);
// For a program that must go on when nobody reads its log: a line that standard error does not take
// at once is left out, and a later line says how many were.
void keep_log_from_waiting();

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

inline void log_debug(std::string_view m, std::initializer_list<LogField> f = {}) {
  log(LogLevel::Debug, m, f);
}
inline void log_info(std::string_view m, std::initializer_list<LogField> f = {}) {
  log(LogLevel::Info, m, f);
}
inline void log_warning(std::string_view m, std::initializer_list<LogField> f = {}) {
  log(LogLevel::Warning, m, f);
}
inline void log_error(std::string_view m, std::initializer_list<LogField> f = {}) {
  log(LogLevel::Error, m, f);
}

}  // namespace cdom::base
