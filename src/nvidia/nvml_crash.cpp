#include "compute_domain/nvidia/nvml_crash.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace cdom::nvidia {

namespace {

constexpr std::size_t kLongestCall = 127;

// Read by the signal's handler, which runs in the thread that crashed.
thread_local char call_under_way[kLongestCall + 1] = {};
const char* program_name = "";

void put(const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

void on_crash(int signal_number) {
  put(program_name);
  put(": crashed");
  if (call_under_way[0] != '\0') {
    put(" in the GPU driver's library, in ");
    put(call_under_way);
    put(": see the kernel log for Xid errors, and `compute-domain-imex fabric`");
  }
  put("\n");
  // The handler is gone (SA_RESETHAND): what would have happened happens now.
  (void)raise(signal_number);
}

}  // namespace

void report_nvml_crashes(const char* program) {
  program_name = program;
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    sigaction(number, &action, nullptr);
  }
}

void note_nvml_call(const std::string& call) {
  const std::size_t length = std::min(call.size(), kLongestCall);
  std::memcpy(call_under_way, call.data(), length);
  call_under_way[length] = '\0';
}

}  // namespace cdom::nvidia
