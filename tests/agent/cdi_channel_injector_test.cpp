#include "compute_domain/agent/cdi_channel_injector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/directory.h"
#include "compute_domain/core/node_plan.h"

namespace cdom::agent {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const core::ClaimRef kClaim{"team-a", "train-0", "3f0e-1"};
constexpr char kFile[] = "cdi/k8s.compute-domain.nvidia.com-claim_3f0e-1.yaml";
constexpr core::ChannelRange kAll{0, 2048};

// A node's folders, and the device files that were made.
class NodeFolders {
 public:
  NodeFolders() {
    dir.write("devices", "Character devices:\n195 nvidia\n235 nvidia-caps-imex-channels\n");
    dir.write("nvidia/params", "EnableMSI: 1\nImexChannelCount: 2048\n");
  }
  const base::Directory dir;
  std::vector<std::string> made;

  CdiChannelInjector injector(const std::string& dev = "", bool as_zero = false) {
    return CdiChannelInjector({.directory = dir.at("cdi"),
                               .proc_devices = dir.at("devices"),
                               .proc_driver = dir.at("nvidia"),
                               .dev = dev.empty() ? "" : dir.at(dev),
                               .as_zero = as_zero},
                              [this](const char* path, mode_t mode, dev_t device) {
                                made.push_back(std::string(path).substr(dir.at().size()) + " " +
                                               std::to_string(major(device)) + ":" +
                                               std::to_string(minor(device)) + " " +
                                               std::to_string(mode & 0777U));
                                return 0;
                              });
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir.at("cdi"))) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST(CdiChannelInjector, WritesTheReferenceDriversSpecInTheLowestVersionThatWillDo) {
  NodeFolders node;
  ASSERT_TRUE(node.injector().write(kClaim, {0, 1}));
  EXPECT_EQ(
      node.dir.read(kFile),
      R"({"cdiVersion":"0.5.0","containerEdits":{},"devices":[{"containerEdits":{"deviceNodes":[)"
      R"({"fileMode":438,"major":235,"minor":0,"path":"/dev/nvidia-caps-imex-channels/channel0",)"
      R"("type":"c"}]},"name":"3f0e-1-channel-0"}],"kind":"k8s.compute-domain.nvidia.com/claim"})");
  EXPECT_EQ(core::cdi_device_id(kClaim.uid),
            "k8s.compute-domain.nvidia.com/claim=3f0e-1-channel-0");
  EXPECT_THAT(node.files(), SizeIs(1)) << "nothing is left beside it";

  ASSERT_TRUE(node.injector().write({"team-a", "b", "f0e"}, {3, 1}));
  EXPECT_THAT(node.dir.read("cdi/k8s.compute-domain.nvidia.com-claim_f0e.yaml"),
              AllOf(HasSubstr(R"("cdiVersion":"0.3.0")"),
                    HasSubstr(R"("minor":3,"path":"/dev/nvidia-caps-imex-channels/channel3")")));
}

TEST(CdiChannelInjector, TellsWhetherAClaimHasAFile) {
  NodeFolders node;
  EXPECT_FALSE(node.injector().is_written(kClaim.uid));
  ASSERT_TRUE(node.injector().write(kClaim, {0, 1}));
  EXPECT_TRUE(node.injector().is_written(kClaim.uid));
  EXPECT_FALSE(node.injector().is_written("another"));
  ASSERT_TRUE(node.injector().remove(kClaim.uid));
  EXPECT_FALSE(node.injector().is_written(kClaim.uid));
}

TEST(CdiChannelInjector, FindsAFileOldWhoseDevicesHaveTheNumbersOfADriverThatWasLoadedBefore) {
  NodeFolders node;
  auto injector = node.injector();
  ASSERT_TRUE(injector.check());
  ASSERT_TRUE(injector.write(kClaim, {0, 1}));
  EXPECT_TRUE(injector.is_up_to_date(kClaim.uid, {0, 1}));
  EXPECT_FALSE(injector.is_up_to_date(kClaim.uid, {0, 2}));

  node.dir.write("devices", "Character devices:\n195 nvidia\n");
  EXPECT_FALSE(injector.check());
  EXPECT_TRUE(injector.is_up_to_date(kClaim.uid, {0, 1})) << "none can be written";
  node.dir.write("devices", "Character devices:\n195 nvidia\n240 nvidia-caps-imex-channels\n");
  EXPECT_TRUE(injector.check());
  EXPECT_FALSE(injector.is_up_to_date(kClaim.uid, {0, 1}));

  testing::internal::CaptureStderr();
  ASSERT_TRUE(injector.write(kClaim, {0, 1}));
  ASSERT_TRUE(injector.write(kClaim, {0, 1}));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, AllOf(HasSubstr("wrote a CDI file again"), HasSubstr(node.dir.at(kFile)),
                         HasSubstr("its devices have major 235, and the driver's have 240")));
  EXPECT_EQ(std::ranges::count(log, '\n'), 1);
  EXPECT_TRUE(injector.is_up_to_date(kClaim.uid, {0, 1}));
  EXPECT_THAT(node.dir.read(kFile), HasSubstr(R"("major":240,"minor":0)"));
}

TEST(CdiChannelInjector, FindsAFileOldThatSomebodyHasChangedOrRemoved) {
  NodeFolders node;
  auto injector = node.injector();
  ASSERT_TRUE(injector.check());
  EXPECT_FALSE(injector.is_up_to_date(kClaim.uid, {0, 1}));
  ASSERT_TRUE(injector.write(kClaim, {0, 1}));
  const std::string text = node.dir.read(kFile);
  for (const std::string& other : {text + "\n", std::string("{}"), std::string()}) {
    EXPECT_TRUE(injector.is_up_to_date(kClaim.uid, {0, 1}));
    node.dir.write(kFile, other);
    EXPECT_FALSE(injector.is_up_to_date(kClaim.uid, {0, 1})) << other;
    testing::internal::CaptureStderr();
    ASSERT_TRUE(injector.write(kClaim, {0, 1}));
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("wrote a CDI file again"));
    EXPECT_EQ(node.dir.read(kFile), text);
  }
  std::filesystem::remove(node.dir.at(kFile));
  EXPECT_FALSE(injector.is_up_to_date(kClaim.uid, {0, 1}));
}

// A file has 2,048 devices in a claim of all channels, and is looked at each two seconds.
TEST(CdiChannelInjector, ReadsAFileThatIsUpToDateOnce) {
  NodeFolders node;
  auto injector = node.injector();
  ASSERT_TRUE(injector.check());
  ASSERT_TRUE(injector.write(kClaim, kAll));
  std::filesystem::permissions(node.dir.at(), std::filesystem::perms(0755));
  std::filesystem::permissions(node.dir.at(kFile), std::filesystem::perms(0600));
  EXPECT_TRUE(injector.is_up_to_date(kClaim.uid, kAll));
  setfsuid(65534);  // it can look at the file, and not into it
  const bool is_up_to_date = injector.is_up_to_date(kClaim.uid, kAll);
  setfsuid(geteuid());
  EXPECT_TRUE(is_up_to_date);
}

TEST(CdiChannelInjector, TellsWhatItWroteAlsoToTheNextAgent) {
  NodeFolders node;
  EXPECT_THAT(node.injector().written()->by_claim, IsEmpty()) << "there is no folder yet";
  ASSERT_TRUE(node.injector().write(kClaim, kAll));
  ASSERT_TRUE(node.injector().write({"team-a", "b", "b-2"}, {7, 1}));
  EXPECT_THAT(node.injector().written()->by_claim,
              UnorderedElementsAre(Pair("3f0e-1", kAll), Pair("b-2", core::ChannelRange{7, 1})));
  ASSERT_TRUE(node.injector().remove(kClaim.uid));
  ASSERT_TRUE(node.injector().remove(kClaim.uid)) << "again";
  EXPECT_THAT(node.injector().written()->by_claim,
              UnorderedElementsAre(Pair("b-2", core::ChannelRange{7, 1})));
}

// CUDA opens another process's memory through the file that has its channel's number in its name:
// tests/nvidia/gpu_test.py.
TEST(CdiChannelInjector, ShowsAnOnlyChannelAsChannelZeroTooOnRequest) {
  NodeFolders node;
  ASSERT_TRUE(node.injector("dev", true).write(kClaim, {7, 1}));
  EXPECT_THAT(node.dir.read(kFile),
              AllOf(HasSubstr(R"("minor":7,"path":"/dev/nvidia-caps-imex-channels/channel0")"),
                    HasSubstr(R"("minor":7,"path":"/dev/nvidia-caps-imex-channels/channel7")")));
  EXPECT_THAT(node.made, ElementsAre("dev/nvidia-caps-imex-channels/channel7 235:7 438"))
      << "the host has it under its own name";
  EXPECT_EQ(node.injector().written()->by_claim.at(kClaim.uid), (core::ChannelRange{7, 1}))
      << "also for an agent without the request";
  ASSERT_TRUE(node.injector().write(kClaim, {7, 1}));
  EXPECT_THAT(node.dir.read(kFile),
              AllOf(HasSubstr(R"("minor":7,"path":"/dev/nvidia-caps-imex-channels/channel7")"),
                    Not(HasSubstr("channel0"))));
  ASSERT_TRUE(node.injector("", true).write(kClaim, {0, 2}));
  EXPECT_THAT(node.dir.read(kFile),
              AllOf(HasSubstr(R"("minor":0,"path":"/dev/nvidia-caps-imex-channels/channel0")"),
                    HasSubstr(R"("minor":1,"path":"/dev/nvidia-caps-imex-channels/channel1")")));
}

TEST(CdiChannelInjector, WritingTheSameAgainDoesNotTouchTheFile) {
  NodeFolders node;
  const auto inode = [&] {
    struct stat facts {};
    return stat(node.dir.at(kFile).c_str(), &facts) == 0 ? facts.st_ino : 0;
  };
  ASSERT_TRUE(node.injector().write(kClaim, {0, 1}));
  const auto before = inode();
  ASSERT_TRUE(node.injector().write(kClaim, {0, 1}));
  EXPECT_EQ(inode(), before);
  ASSERT_TRUE(node.injector().write(kClaim, {1, 1}));
  EXPECT_EQ(node.injector().written()->by_claim.at(kClaim.uid), (core::ChannelRange{1, 1}));
}

TEST(CdiChannelInjector, ATornFileIsWrittenAnew) {
  NodeFolders node;
  EXPECT_TRUE(node.injector().written()->are_all);
  node.dir.write(kFile, R"({"cdiVersion":"0.5)");
  EXPECT_THAT(node.injector().written()->by_claim, IsEmpty());
  EXPECT_FALSE(node.injector().written()->are_all);
  ASSERT_TRUE(node.injector().write(kClaim, {0, 1}));
  EXPECT_THAT(node.injector().written()->by_claim, SizeIs(1));
}

TEST(CdiChannelInjector, MakesTheHostsDeviceFilesThatAreMissing) {
  NodeFolders node;
  ASSERT_TRUE(node.injector().write(kClaim, {0, 1}));
  EXPECT_THAT(node.made, IsEmpty()) << "a container runtime needs none";
  ASSERT_TRUE(node.injector("dev").write(kClaim, {4, 2}));
  EXPECT_THAT(node.made, ElementsAre("dev/nvidia-caps-imex-channels/channel4 235:4 438",
                                     "dev/nvidia-caps-imex-channels/channel5 235:5 438"));
}

TEST(CdiChannelInjector, UnderstandsTheReferenceDriversClaimsAndLeavesTheFilesOfOthers) {
  NodeFolders node;
  const std::string prefix = "cdi/k8s.compute-domain.nvidia.com-claim_";
  node.dir.write(
      prefix + "ref.yaml",
      "cdiVersion: 0.5.0\nkind: k8s.compute-domain.nvidia.com/claim\ncontainerEdits: {}\ndevices:\n"
      "- name: ref-channel-0\n  containerEdits:\n    deviceNodes:\n"
      "    - {path: /dev/nvidia-caps-imex-channels/channel0, type: c, major: 235, fileMode: "
      "438}\n");
  node.dir.write(prefix + "daemon.yaml",
                 "cdiVersion: 0.5.0\nkind: k8s.compute-domain.nvidia.com/claim\ndevices:\n"
                 "- name: daemon-daemon-0\n  containerEdits: {env: [A=B]}\n");
  node.dir.write("cdi/nvidia.yaml", "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n");
  node.dir.write(prefix + "foreign.yaml",
                 "cdiVersion: 0.5.0\nkind: vendor.com/claim\ndevices: []\n");
  auto injector = node.injector();
  EXPECT_THAT(injector.written()->by_claim,
              UnorderedElementsAre(Pair("ref", core::ChannelRange{0, 1})));

  const auto refused = injector.write({"team-a", "f", "foreign"}, {0, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("kind vendor.com/claim, which is not ours"));
  EXPECT_TRUE(injector.remove("foreign"));
  EXPECT_TRUE(injector.remove("../cdi/nvidia"));
  EXPECT_THAT(node.files(), SizeIs(4));
  EXPECT_TRUE(injector.remove("ref"));
  EXPECT_THAT(node.files(), SizeIs(3));
}

TEST(CdiChannelInjector, SaysWhatTheKernelDoesNotHave) {
  NodeFolders node;
  node.dir.write("nvidia/params", "ImexChannelCount: 1024\n");
  const auto few = node.injector().write(kClaim, kAll);
  EXPECT_EQ(few.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(few.error().message,
              AllOf(HasSubstr("IMEX channels 0 to 2047"), HasSubstr("the NVIDIA driver has 1024"),
                    HasSubstr("NVreg_ImexChannelCount=2048")));
  EXPECT_TRUE(node.injector().write(kClaim, {1023, 1}));
  EXPECT_THAT(node.injector().write(kClaim, {1024, 1}).error().message,
              HasSubstr("IMEX channel 1024"));

  node.dir.write("devices", "Character devices:\n195 nvidia\n\nBlock devices:\n");
  const auto none = node.injector().write(kClaim, {0, 1});
  EXPECT_EQ(none.error().kind, base::ErrorKind::Unavailable);
  EXPECT_THAT(none.error().message,
              HasSubstr("devices has no character device nvidia-caps-imex-channels"));
}

TEST(CdiChannelInjector, ADriverThatDoesNotTellItsNumberOfChannelsHasEnough) {
  NodeFolders node;
  EXPECT_EQ(node.injector().count(), 2048);
  std::filesystem::remove_all(node.dir.at("nvidia"));
  EXPECT_EQ(node.injector().count(), std::nullopt);
  EXPECT_TRUE(node.injector().write(kClaim, kAll));
}

TEST(CdiChannelInjector, AFullDiskIsToldAndLeavesTheFileAsItWas) {
  NodeFolders node;
  ASSERT_TRUE(node.injector().write(kClaim, {0, 1}));
  std::filesystem::create_symlink("/dev/full", node.dir.at(kFile) + std::string(".next"));
  const auto full = node.injector().write(kClaim, kAll);
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message,
              AllOf(HasSubstr(node.dir.at(kFile)), HasSubstr("No space left on device")));
  EXPECT_EQ(node.injector().written()->by_claim.at(kClaim.uid), (core::ChannelRange{0, 1}));
  EXPECT_THAT(node.files(), SizeIs(1));
}

TEST(CdiChannelInjector, AFolderThatCannotBeWrittenIsTold) {
  NodeFolders node;
  ASSERT_TRUE(node.injector().write(kClaim, {0, 1}));
  std::filesystem::permissions(node.dir.at(), std::filesystem::perms(0755));
  std::filesystem::permissions(node.dir.at("cdi"), std::filesystem::perms(0555));
  setfsuid(65534);  // who may do anything may write here too
  const auto written = node.injector().write(kClaim, {1, 1});
  const auto removed = node.injector().remove(kClaim.uid);
  setfsuid(geteuid());
  std::filesystem::permissions(node.dir.at("cdi"), std::filesystem::perms(0755));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, AllOf(HasSubstr("cannot write " + node.dir.at(kFile)),
                                             HasSubstr("Permission denied")));
  ASSERT_FALSE(removed);
  EXPECT_THAT(removed.error().message, HasSubstr("cannot remove " + node.dir.at(kFile)));
  EXPECT_THAT(node.injector().written()->by_claim, SizeIs(1));
}

TEST(CdiChannelInjector, RefusesWhatCannotBeAFileOrADevice) {
  NodeFolders node;
  EXPECT_EQ(node.injector().write({"", "", "../x"}, {0, 1}).error().kind, base::ErrorKind::Invalid);
  EXPECT_EQ(node.injector().write({"", "", ""}, {0, 1}).error().kind, base::ErrorKind::Invalid);
  EXPECT_EQ(node.injector().write(kClaim, {0, 0}).error().kind, base::ErrorKind::Invalid);
}

}  // namespace
}  // namespace cdom::agent
