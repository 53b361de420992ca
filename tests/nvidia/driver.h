// Driver: the driver of a node of a test: the stand-in for NVML below a driver root of its own, and
// the file that it reads.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/nvidia/nvml.h"

namespace cdom::nvidia {

inline constexpr char kInClique7[] = R"({"driver": "580.65.06", "gpus": [
  {"uuid": "GPU-0", "name": "NVIDIA GB200", "state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 7},
  {"uuid": "GPU-0", "name": "NVIDIA GB200", "state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 7}]})";
// That, and one member more: R"("newest": 2)".
inline std::string in_clique_7_and(const std::string& member) {
  return "{" + member + ", " + (kInClique7 + 1);
}
inline constexpr char kClique7[] = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10.7";

class Driver {
 public:
  explicit Driver(const std::string& says = kInClique7) {
    install("libnvidia-ml");
    say(says);
  }
  void install(const std::string& stand_in) const {
    dir_.write(kPath, "");
    remove();
    std::filesystem::copy_file(std::string(CDOM_NVML_STAND_IN) + "/" + stand_in + ".so.1",
                               dir_.at(kPath));
  }
  void remove() const { std::filesystem::remove(dir_.at(kPath)); }
  void say(const std::string& json) const { dir_.write(std::string(kPath) + ".json", json); }
  [[nodiscard]] const base::Directory& dir() const { return dir_; }
  [[nodiscard]] NvmlOptions options() const {
    NvmlOptions options;
    options.driver_root = dir_.at("root");
    return options;
  }

  // Says the same, and hangs in this call until let_go().
  void hang_in(const std::string& call) const {
    ASSERT_EQ(mkfifo(dir_.at("pipe").c_str(), 0600), 0);
    say(in_clique_7_and(R"("hangs": ")" + call + R"(", "until": ")" + dir_.at("pipe") + '"'));
  }
  // After the call has begun: opening waits for it.
  void let_go() const { const base::Descriptor end(open(dir_.at("pipe").c_str(), O_WRONLY)); }

 private:
  static constexpr char kPath[] = "root/usr/lib64/libnvidia-ml.so.1";
  const base::Directory dir_;
};

}  // namespace cdom::nvidia
