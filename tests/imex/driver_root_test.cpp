#include "compute_domain/imex/driver_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/directory.h"
#include "imex/host/elf.h"
#include "imex/rig.h"

namespace cdom::imex {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

class PublicLayout : public ::testing::TestWithParam<const char*> {};

// The list of files of each says where it is from; none has a library of IMEX's own.
TEST_P(PublicLayout, HasTheTwoProgramsAndTheDriversLibraries) {
  const base::Directory dir;
  make_driver_root(dir, "root", GetParam());
  const auto files = find_driver_files({.root = dir.at("root")});
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(files->daemon, EndsWith("/nvidia-imex"));
  EXPECT_THAT(files->control_tool, EndsWith("/nvidia-imex-ctl"));
  EXPECT_THAT(files->missing, ElementsAre());
  ASSERT_TRUE(link_libraries(*files, dir.at("links")));
  for (const char* name : {"libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-cfg.so.1"}) {
    EXPECT_THAT(dir.read(std::string("links/") + name), testing::StartsWith("a stand-in for lib"))
        << name;
  }
  EXPECT_FALSE(fs::exists(dir.at("links/libc.so.6")));
}

INSTANTIATE_TEST_SUITE_P(DriverRoot, PublicLayout,
                         ::testing::Values("host", "gpu-operator", "talos", "bottlerocket",
                                           "driver-folder", "old-driver"));

TEST(DriverRoot, ADriverWithoutThePackageOfImexIsOneClearError) {
  const base::Directory dir;
  make_driver_root(dir, "root", "without-imex");
  const auto files = find_driver_files({.root = dir.at("root")});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind, base::ErrorKind::Invalid);
  for (const char* part : {"no nvidia-imex below", "/usr/bin", "install the package nvidia-imex",
                           "--driver-root", "--driver-programs"}) {
    EXPECT_THAT(files.error().message, HasSubstr(part));
  }
}

TEST(DriverRoot, DemandsTheTwoProgramsAndNoLibrary) {
  const base::Directory root;
  root.write("usr/bin/nvidia-imex", "");
  EXPECT_THAT(find_driver_files({.root = root.at()}).error().message,
              HasSubstr("no nvidia-imex-ctl below"));
  root.write("usr/bin/nvidia-imex-ctl", "");
  EXPECT_TRUE(find_driver_files({.root = root.at()}));
}

TEST(DriverRoot, LooksInTheRootItselfAndInOptBin) {
  const base::Directory root;
  root.write("nvidia-imex", "");
  root.write("opt/bin/nvidia-imex-ctl", "");
  root.write("libcuda.so.1", "");
  const auto files = find_driver_files({.root = root.at()});
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_TRUE(files->libraries.contains("libcuda.so.1"));
}

TEST(DriverRoot, LooksInTheGivenFoldersFirst) {
  const base::Directory root;
  for (const char* name : {"usr/bin/nvidia-imex", "usr/bin/nvidia-imex-ctl", "lib64/libcuda.so.1",
                           "srv/bin/nvidia-imex", "srv/lib/libcuda.so.1"}) {
    root.write(name, name);
  }
  const auto files = find_driver_files(
      {.root = root.at(), .program_folders = {"/srv/bin"}, .library_folders = {"/srv/lib"}});
  ASSERT_TRUE(files);
  EXPECT_THAT(files->daemon, EndsWith("/srv/bin/nvidia-imex"));
  EXPECT_THAT(files->control_tool, EndsWith("/usr/bin/nvidia-imex-ctl"));
  EXPECT_THAT(files->libraries.at("libcuda.so.1"), EndsWith("/srv/lib/libcuda.so.1"));
}

TEST(DriverRoot, LinksNvidiasLibrariesAndNoOthers) {
  const base::Directory root;
  for (const char* name :
       {"usr/bin/nvidia-imex", "usr/bin/nvidia-imex-ctl", "lib64/libc.so.6",
        "lib64/libnvidia-ml.so.1", "lib64/libcuda.so.1", "lib64/libcudadebugger.so.1",
        "lib64/libcudart.so", "lib64/libnvidia-x.la", "usr/lib64/libnvidia-ml.so.1"}) {
    root.write(name, name);
  }
  const auto files = find_driver_files({.root = root.at()});
  ASSERT_TRUE(files);
  ASSERT_TRUE(link_libraries(*files, root.at("links")));
  ASSERT_TRUE(link_libraries(*files, root.at("links"))) << "again";
  EXPECT_THAT(names_in(root.at("links")), ElementsAre("libcuda.so.1", "libcudadebugger.so.1",
                                                      "libcudart.so", "libnvidia-ml.so.1"));
  EXPECT_EQ(root.read("links/libnvidia-ml.so.1"), "usr/lib64/libnvidia-ml.so.1");
}

TEST(DriverRoot, FollowsLinksAsOnTheHost) {
  const base::Directory root;
  root.write("opt/driver/nvidia-imex", "");
  root.write("opt/driver/nvidia-imex-ctl", "");
  root.write("opt/driver/lib/libnvidia-ml.so.580", "found");
  fs::create_directories(root.at("usr"));
  fs::create_directory_symlink("/opt/driver", root.at("usr/bin"));
  fs::create_directory_symlink("../opt/../opt/driver/lib", root.at("usr/lib64"));
  fs::create_symlink("/usr/lib64/libnvidia-ml.so.580", root.at("opt/driver/lib/libnvidia-ml.so.1"));
  fs::create_symlink("libnvidia-loop.so", root.at("opt/driver/lib/libnvidia-loop.so"));
  const auto files = find_driver_files({.root = root.at("")});
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(files->daemon, EndsWith("/opt/driver/nvidia-imex"));
  ASSERT_TRUE(link_libraries(*files, root.at("links")));
  EXPECT_EQ(root.read("links/libnvidia-ml.so.1"), "found");
}

// An image that has all that the programs need, but for one library.
TEST(DriverRoot, HasWhatTheImageLacks) {
  const base::Directory dir;
  make_driver_root(dir, "root");
  const auto needed = needed_libraries(dir.at("root/usr/bin/nvidia-imex"));
  ASSERT_TRUE(needed) << needed.error().message;
  ASSERT_THAT(*needed, testing::IsSupersetOf({"libc.so.6", "libz.so.1"}));
  for (const std::string& name : *needed) {
    if (name != "libz.so.1") dir.write("image/lib64/" + name, "");
  }
  const auto lacking = find_driver_files({.root = dir.at("root"), .own_root = dir.at("image")});
  ASSERT_TRUE(lacking);
  EXPECT_THAT(lacking->missing, ElementsAre("libz.so.1"));
  dir.write("root/usr/lib64/libz.so.1", "the host's");
  const auto whole = find_driver_files({.root = dir.at("root"), .own_root = dir.at("image")});
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->missing, ElementsAre());
  EXPECT_THAT(whole->libraries.at("libz.so.1"), EndsWith("/usr/lib64/libz.so.1"));
  EXPECT_FALSE(whole->libraries.contains("libc.so.6")) << "the image's is the first choice";
}

TEST(NeededLibraries, AreRefusedForWhatIsNoProgram) {
  const base::Directory dir;
  EXPECT_FALSE(needed_libraries(dir.at("nothing")));
  EXPECT_FALSE(needed_libraries(dir.write("script", "#!/bin/sh\n")));
  // Cut anywhere, it ends without reading what is not there.
  make_driver_root(dir, "root");
  const std::string whole = dir.read("root/usr/bin/nvidia-imex-ctl");
  for (std::size_t size = 0; size < whole.size(); size = size * 5 / 4 + 1) {
    (void)needed_libraries(dir.write("cut", whole.substr(0, size)));
  }
}

}  // namespace
}  // namespace cdom::imex
