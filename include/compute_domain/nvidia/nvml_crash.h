// A line on standard error when this process crashes in a call of the GPU driver's library, which
// would otherwise end it silently. Any thread.
#pragma once

#include <string>

namespace cdom::nvidia {

// From now on. `program` outlives the process's threads.
void report_nvml_crashes(const char* program);

// The call that this thread is about to make: "nvmlDeviceGetUUID of GPU 2"; "": none.
void note_nvml_call(const std::string& call);

}  // namespace cdom::nvidia
