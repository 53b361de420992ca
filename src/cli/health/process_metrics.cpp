#include "cli/health/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "compute_domain/base/files.h"

namespace cdom::cli {

namespace {

// Fields of /proc/PID/stat, see proc(5), counted from the one behind the program's name (field 2).
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kStartTicks = 22 - 3;
constexpr std::size_t kVirtualBytes = 23 - 3;
constexpr std::size_t kResidentPages = 24 - 3;

// nullopt: it cannot be read, or is not what proc(5) says.
std::optional<std::vector<double>> numbers_in_stat() {
  const auto stat = base::read_file("/proc/self/stat");
  if (!stat) return std::nullopt;
  const auto name_end = stat->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(stat->substr(name_end + 1));
  std::string state;
  rest >> state;
  std::vector<double> numbers{0};  // in the place of the state
  for (double number = 0; rest >> number;) numbers.push_back(number);
  if (numbers.size() <= kResidentPages) return std::nullopt;
  return numbers;
}

// In seconds.
std::optional<double> uptime_of_machine() {
  const auto text = base::read_file("/proc/uptime");
  if (!text) return std::nullopt;
  std::istringstream stream(*text);
  double seconds = 0;
  if (!(stream >> seconds)) return std::nullopt;
  return seconds;
}

}  // namespace

ProcessMetrics::ProcessMetrics(const base::Clock& clock) {
  metrics_
      .gauge("compute_domain_build_info", "1, labelled with the version of this program.",
             {{"version", CDOM_VERSION}})
      .set(1);
  look();
  note_start(clock);
}

// Once: the machine's uptime and its clock drift apart, and a start that moves looks like another.
void ProcessMetrics::note_start(const base::Clock& clock) {
  const auto stat = numbers_in_stat();
  const auto uptime = uptime_of_machine();
  if (!stat || !uptime) return;
  const std::chrono::duration<double> now = clock.now().time_since_epoch();
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  metrics_.gauge("process_start_time_seconds", "Start of the process, since the Unix epoch.")
      .set(now.count() - *uptime + (*stat)[kStartTicks] / ticks);
}

std::string ProcessMetrics::render() {
  const std::scoped_lock lock(mutex_);
  look();
  return metrics_.render();
}

void ProcessMetrics::look() {
  if (const auto stat = numbers_in_stat()) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    metrics_.counter("process_cpu_seconds_total", "User and system CPU time spent, in seconds.")
        .set(((*stat)[kUserTicks] + (*stat)[kSystemTicks]) / ticks);
    metrics_.gauge("process_virtual_memory_bytes", "Virtual memory size.")
        .set((*stat)[kVirtualBytes]);
    metrics_.gauge("process_resident_memory_bytes", "Resident memory size.")
        .set((*stat)[kResidentPages] * static_cast<double>(sysconf(_SC_PAGESIZE)));
  }
  std::error_code failed;
  std::filesystem::directory_iterator descriptor("/proc/self/fd", failed);
  double open = 0;
  for (; !failed && descriptor != std::filesystem::directory_iterator(); ++open) {
    descriptor.increment(failed);
  }
  if (!failed) metrics_.gauge("process_open_fds", "Open file descriptors.").set(open);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    metrics_.gauge("process_max_fds", "Most file descriptors that may be open.")
        .set(static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace cdom::cli
