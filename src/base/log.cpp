#include "compute_domain/base/log.h"

#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>

namespace cdom::base {

namespace {

// spdlog's own registry is not used: this is the process's one logger.
struct Sink {
  Sink()
      : logger(std::make_shared<spdlog::logger>(
            "compute-domain", std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-7l %v", spdlog::pattern_time_type::utc);
  }

  const std::shared_ptr<spdlog::logger> logger;
  LogFormat format = LogFormat::Text;
  std::atomic<bool> may_wait = true;
  std::atomic<unsigned> left_out = 0;
};

Sink& sink() {
  static Sink instance;
  return instance;
}

// Whether a pipe has room for a line of usual length (pipe(7)).
bool has_room() {
  pollfd one{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&one, 1, 0) == 1;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
    case LogLevel::Off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escape[8];
          std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
          out += escape;
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

bool needs_quotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \t\r\n\"=") != std::string_view::npos;
}

}  // namespace

void configure_log(LogLevel level, LogFormat format) {
  Sink& s = sink();
  s.format = format;
  s.logger->set_level(spdlog_level(level));
  s.logger->set_pattern(format == LogFormat::Json
                            ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                            : "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v",
                        spdlog::pattern_time_type::utc);
}

void keep_log_from_waiting() { sink().may_wait = false; }

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  Sink& s = sink();
  if (!s.logger->should_log(spdlog_level(level))) return;
  if (!s.may_wait) {
    if (!has_room()) {
      ++s.left_out;
      return;
    }
    if (const unsigned lines = s.left_out.exchange(0); lines > 0) {
      log(LogLevel::Warning, "the log was not read in time: left out lines of it",
          {{"lines", std::to_string(lines)}});
    }
  }
  std::string line;
  if (s.format == LogFormat::Json) {
    line = "\"message\":" + json_string(message);
    for (const LogField& field : fields) {
      line += ',' + json_string(field.key) + ':' + json_string(field.value);
    }
  } else {
    line = message;
    for (const LogField& field : fields) {
      line += ' ';
      line += field.key;
      line += '=';
      line += needs_quotes(field.value) ? json_string(field.value) : field.value;
    }
  }
  s.logger->log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace cdom::base
