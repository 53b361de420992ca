#include "compute_domain/nvidia/device_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/directory.h"

namespace cdom::nvidia {
namespace {

using base::Directory;
using ::testing::ElementsAre;

TEST(CharacterMajor, IsOfACharacterDeviceOfThatNameOnly) {
  const std::string devices =
      "Character devices:\n  1 mem\n235 nvidia-caps-imex-channels\n\nBlock devices:\n  7 loop\n";
  EXPECT_EQ(character_major(devices, "nvidia-caps-imex-channels"), 235U);
  EXPECT_EQ(character_major(devices, "nvidia-caps"), std::nullopt);
  EXPECT_EQ(character_major(devices, "loop"), std::nullopt);
}

TEST(DeviceNodes, MakesWhatIsMissingAndReplacesWhatIsOld) {
  const Directory dir;
  dir.write("dev/nvidia0", "no device at all");
  std::vector<std::string> made;
  const auto record = [&](const char* path, mode_t mode, dev_t device) {
    made.push_back(std::string(path).substr(dir.at("dev/").size()) + " " +
                   std::to_string(major(device)) + ":" + std::to_string(minor(device)) + " " +
                   std::to_string(mode & 0777U));
    return 0;
  };
  const std::vector<DeviceNode> nodes{{"nvidia0", 195, 0, 0666},
                                      {"nvidia-caps/nvidia-cap17", 234, 17, 0400}};
  ASSERT_TRUE(make_device_nodes(nodes, dir.at("dev"), record));
  EXPECT_THAT(made, ElementsAre("nvidia0 195:0 438", "nvidia-caps/nvidia-cap17 234:17 256"));

  made.clear();
  ASSERT_TRUE(make_device_nodes({{"null", 1, 3, 0666}}, "/dev", record));
  EXPECT_TRUE(made.empty()) << "it is there";
}

// A named pipe needs no privilege.
TEST(DeviceNodes, HaveTheirModeWhateverTheUmaskIs) {
  const Directory dir;
  const mode_t before = umask(077);
  EXPECT_EQ(make_device_node(dir.at("pipe").c_str(), S_IFIFO | 0666, 0), 0);
  umask(before);
  EXPECT_EQ(std::filesystem::status(dir.at("pipe")).permissions(), std::filesystem::perms(0666));
}

TEST(DeviceNodes, TheDriversFolderIsBesideTheListOfDevices) {
  EXPECT_EQ(proc_driver_beside("/proc/devices"), "/proc/driver/nvidia");
  EXPECT_EQ(proc_driver_beside("/mock/proc/devices"), "/mock/proc/driver/nvidia");
}

}  // namespace
}  // namespace cdom::nvidia
