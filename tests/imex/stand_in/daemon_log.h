// What the stand-in daemon prints, in the form of nvidia-imex:
// "[Mar 27 2025 15:47:10] [INFO] [tid 39] Connection established to node 0 …" (NVIDIA GPU Operator,
// documentation of DRA for ComputeDomains).
#pragma once

#include <string>

namespace cdom::stand_in {

// To LOG_FILE_NAME; where that is empty or cannot be opened, to stderr.
class DaemonLog {
 public:
  explicit DaemonLog(const std::string& file);

  void info(const std::string& text) const { print("INFO", text); }
  void error(const std::string& text) const { print("ERROR", text); }

 private:
  void print(const char* level, const std::string& text) const;

  int out_;
};

}  // namespace cdom::stand_in
