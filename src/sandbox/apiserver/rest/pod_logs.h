// PodLogs: what the containers of simulated pods have printed.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cdom::sandbox::server {

// Part of ApiState, under its mutex. Keeps the last MiB of each container.
class PodLogs {
 public:
  void append(std::string_view namespace_, std::string_view pod, std::string_view container,
              std::string_view text);
  // All that is kept; `begin` is how many bytes were printed before it.
  struct Text {
    std::string_view kept;
    std::size_t begin = 0;
  };
  [[nodiscard]] Text read(std::string_view namespace_, std::string_view pod,
                          std::string_view container) const;
  // The pod is gone.
  void forget(std::string_view namespace_, std::string_view pod);

 private:
  struct Log {
    std::string kept;
    std::size_t begin = 0;
  };
  std::map<std::string, Log> logs_;  // "<namespace>/<pod>/<container>"
};

}  // namespace cdom::sandbox::server
