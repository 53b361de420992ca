// libFuzzer's two entries. CDOM_FUZZ_TARGET names the target; without one it prints their names.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compute_domain/base/log.h"
#include "fuzz/targets.h"

namespace {

void (*run)(std::string_view bytes) = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* wanted = std::getenv("CDOM_FUZZ_TARGET");  // NOLINT(concurrency-mt-unsafe)
  const auto& all = cdom::fuzz::targets();
  const auto named = std::ranges::find(all, wanted == nullptr ? std::string_view() : wanted,
                                       &cdom::fuzz::Target::name);
  if (named != all.end()) {
    run = named->run;
    cdom::base::configure_log(cdom::base::LogLevel::Off, cdom::base::LogFormat::Text);
    return 0;
  }
  for (const auto& each : all) std::printf("%s\n", std::string(each.name).c_str());
  std::exit(wanted == nullptr ? 0 : 2);  // NOLINT(concurrency-mt-unsafe)
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
