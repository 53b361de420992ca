// The rules: a node that has everything, one change, one verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/node_check/findings.h"

namespace cdom::node_check {
namespace {

using testing::AllOf;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kUid[] = "/var/lib/kubelet/plugins_registry/compute-domain.nvidia.com-0f3a-reg.sock";

const Process kOwnDaemon{
    900, {"/driver-root/usr/bin/nvidia-imex", "-c", "/run/compute-domain/imex/imexd.cfg"}};
const Process kHostDaemon{812, {"/usr/bin/nvidia-imex", "-c", "/etc/nvidia-imex/config.cfg"}};
const Process kOwnAgent{700, {"/usr/bin/compute-domain-agent", "--metrics-listen=:8081"}};
const Process kForeignPlugin{701, {"compute-domain-kubelet-plugin", "-v", "4"}};

NodeFacts good_node() {
  NodeFacts facts;
  facts.node = "n01";
  facts.kernel_driver_version = "580.65.06";
  facts.gpus = 4;
  facts.channel_major = 235;
  facts.capabilities_major = 234;
  facts.imex_capability = 17;
  facts.channel_count = 2048;
  facts.page_size = 65536;
  facts.machine = "aarch64";
  facts.driver_root = "/driver-root";
  facts.imex_programs = ImexPrograms{.daemon = "/driver-root/usr/bin/nvidia-imex",
                                     .control_tool = "/driver-root/usr/bin/nvidia-imex-ctl"};
  facts.fabric =
      Fabric{.driver_version = "580.65.06", .gpus = {{"GPU 0", "c.1", "", ""}}, .clique = "c.1"};
  facts.imex_daemons = {kOwnDaemon};
  facts.own_configuration = "/run/compute-domain/imex/imexd.cfg";
  facts.imex_unit = UnitState::Masked;
  facts.foreign_plugins.emplace();
  facts.keeps_gpus_initialised = true;
  facts.runtime = ContainerRuntime{
      .name = "containerd", .config_path = "/etc/containerd/config.toml", .config_version = 3};
  facts.cdi_folder = "/var/run/cdi";
  facts.has_cdi_folder = true;
  facts.kubelet_folders = {{"/var/lib/kubelet/plugins", true},
                           {"/var/lib/kubelet/plugins_registry", true}};
  facts.registrations = {{kUid, true, kOwnAgent}};
  facts.ports = {{50000, "", {}}, {50005, "", {}}};
  facts.is_node_network = false;
  return facts;
}

// That whose requirement begins so; an empty one when there is none.
Finding finding_of(const NodeFacts& facts, const std::string& requirement) {
  for (const Finding& finding : judge(facts)) {
    if (finding.requirement.starts_with(requirement)) return finding;
  }
  return {};
}

auto is(Verdict verdict, const std::string& found, const std::string& remedy) {
  return AllOf(Field(&Finding::verdict, verdict), Field(&Finding::found, HasSubstr(found)),
               Field(&Finding::remedy, HasSubstr(remedy)));
}
auto fails(const std::string& found, const std::string& remedy) {
  return is(Verdict::Fails, found, remedy);
}

TEST(NodeCheck, ANodeThatHasEverythingIsOkInEachRow) {
  const auto findings = judge(good_node());
  std::vector<std::string> rows;
  for (const Finding& finding : findings) {
    rows.push_back(finding.requirement);
    EXPECT_EQ(finding.verdict, Verdict::Ok) << finding.requirement << ": " << finding.found;
    EXPECT_THAT(finding.remedy, IsEmpty());
  }
  EXPECT_THAT(rows,
              testing::ElementsAre("driver 570.158.01 or later", "GPUs", "IMEX channels",
                                   "number of IMEX channels", "capability fabric-imex-mgmt",
                                   "page size", "persistence mode", "nvidia-imex and -ctl",
                                   "libraries of nvidia-imex", "fabric of GPU 0", "NVLink fabric",
                                   "no other nvidia-imex", "nvidia-imex.service",
                                   "no other compute-domain plugin", "kubelet's folders",
                                   "registration socket", "CDI", "port 50000", "port 50005"));
  EXPECT_FALSE(has_failure(findings));
}

// Programs find a row by it, whatever people read there.
TEST(NodeCheck, EachRowHasAKeyWhateverIsSeenOfTheNode) {
  const auto keys_of = [](const NodeFacts& facts) {
    std::vector<std::string> keys;
    for (const Finding& finding : judge(facts)) {
      keys.push_back(finding.check + (finding.name.empty() ? "" : " " + finding.name));
    }
    return keys;
  };
  NodeFacts facts = good_node();
  EXPECT_THAT(keys_of(facts),
              testing::ElementsAre("Driver", "Gpus", "ImexChannels", "ImexChannelCount",
                                   "ImexCapability", "PageSize", "Persistence", "ImexPrograms",
                                   "ImexLibraries", "GpuFabric 0", "NvlinkFabric", "OtherDaemon",
                                   "HostImex", "OtherPlugin", "KubeletFolders",
                                   "RegistrationSocket", "Cdi", "Port 50000", "Port 50005"));
  const auto keys = keys_of(NodeFacts{.ports = {{50000, "", {}}, {50005, "", {}}}});
  EXPECT_THAT(keys, testing::IsSubsetOf(keys_of(facts)));
  EXPECT_EQ(keys.size(), keys_of(facts).size() - 1) << "all but the row of the GPU";
  facts.is_host_managed = true;
  EXPECT_THAT(keys_of(facts), testing::Contains("HostDaemon"));
}

TEST(NodeCheck, ANodeOfWhichNothingIsSeenIsOkInNoRowThatIsOutOfSight) {
  NodeFacts facts;
  facts.driver_root = "/driver-root";
  facts.ports = {{50000, "", {}}};
  for (const Finding& finding : judge(facts)) {
    if (finding.requirement == "page size" || finding.requirement == "port 50000") continue;
    EXPECT_NE(finding.verdict, Verdict::Ok) << finding.requirement;
    EXPECT_THAT(finding.remedy, Not(IsEmpty())) << finding.requirement;
  }
}

TEST(NodeCheck, NeitherAWarningNorWhatIsUnknownIsAFailure) {
  EXPECT_FALSE(has_failure({{"a", "", Verdict::Warning, ""}, {"b", "", Verdict::Unknown, ""}}));
  EXPECT_TRUE(has_failure({{"a", "", Verdict::Ok, ""}, {"b", "", Verdict::Fails, ""}}));
}

TEST(NodeCheckDriver, HasToBeNewEnough) {
  NodeFacts facts = good_node();
  facts.fabric.reset();
  for (const char* old : {"570.124.06", "565.57.01", "570.158"}) {
    facts.kernel_driver_version = old;
    EXPECT_THAT(finding_of(facts, "driver"), fails(old, "install the NVIDIA driver 570.158.01"));
  }
  for (const char* good : {"570.158.01", "570.172.08", "580.65.06"}) {
    facts.kernel_driver_version = good;
    EXPECT_EQ(finding_of(facts, "driver").verdict, Verdict::Ok) << good;
  }
}

TEST(NodeCheckDriver, MayBeOlderWhereTheHostHasItsOwnDaemon) {
  NodeFacts facts = good_node();
  facts.kernel_driver_version = facts.fabric->driver_version = "565.57.01";
  facts.is_host_managed = true;
  EXPECT_EQ(finding_of(facts, "driver").verdict, Verdict::Warning);
}

TEST(NodeCheckDriver, HasToBeLoaded) {
  NodeFacts facts = good_node();
  facts.kernel_driver_version.clear();
  facts.channel_major.reset();
  EXPECT_THAT(finding_of(facts, "driver"), fails("no NVIDIA driver", "GPU Operator"));
  // What follows from it fails once.
  for (const char* row : {"GPUs", "IMEX channels", "number", "capability"}) {
    EXPECT_THAT(finding_of(facts, row), is(Verdict::Unknown, "no NVIDIA driver", "driver")) << row;
  }
}

TEST(NodeCheckDriver, HasTheVersionOfItsLibraries) {
  NodeFacts facts = good_node();
  facts.fabric->driver_version = "580.82.07";
  EXPECT_THAT(finding_of(facts, "driver"), fails("libraries 580.82.07", "reboot"));
}

TEST(NodeCheckDriver, SeesGpus) {
  NodeFacts facts = good_node();
  facts.gpus = 0;
  EXPECT_THAT(finding_of(facts, "GPUs"), fails("none", "dmesg"));
}

TEST(NodeCheckChannels, HaveAMajorNumber) {
  NodeFacts facts = good_node();
  facts.channel_major.reset();
  EXPECT_THAT(
      finding_of(facts, "IMEX channels"),
      fails("/proc/devices has no nvidia-caps-imex-channels", "NVreg_ImexChannelCount=2048"));
}

TEST(NodeCheckChannels, AreAsManyAsTheControllerCounts) {
  NodeFacts facts = good_node();
  facts.channel_count = 256;
  EXPECT_THAT(finding_of(facts, "number"),
              fails("256 (IMEX_CHANNELS is 2048)", "NVreg_ImexChannelCount=2048 on every node"));
  facts.channel_count = 4096;
  EXPECT_EQ(finding_of(facts, "number").verdict, Verdict::Warning);
  facts.channel_count.reset();
  EXPECT_EQ(finding_of(facts, "number").verdict, Verdict::Unknown);
}

TEST(NodeCheckCapability, AndItsMajorNumberAreThere) {
  NodeFacts facts = good_node();
  facts.capabilities_major.reset();
  EXPECT_THAT(finding_of(facts, "capability"), fails("no nvidia-caps", "capabilities"));
  facts = good_node();
  facts.imex_capability.reset();
  EXPECT_THAT(finding_of(facts, "capability"), fails("the driver has none", "reload"));
}

TEST(NodeCheckPages, AreRecommendedToBeLargeOnArmOnly) {
  NodeFacts facts = good_node();
  facts.page_size = 4096;
  EXPECT_THAT(finding_of(facts, "page size"), is(Verdict::Warning, "4 KiB", "64 KiB"));
  facts.machine = "x86_64";
  EXPECT_EQ(finding_of(facts, "page size").verdict, Verdict::Ok);
}

TEST(NodeCheckPersistence, IsAWarningWhereItIsOff) {
  NodeFacts facts = good_node();
  facts.keeps_gpus_initialised = false;
  EXPECT_THAT(finding_of(facts, "persistence"), is(Verdict::Warning, "off", "nvidia-persistenced"));
}

// `nvidia-smi --persistence-mode=1`, which needs no daemon.
TEST(NodeCheckPersistence, IsWhatNvmlSaysWhoeverHasSwitchedItOn) {
  for (const std::optional<bool> daemon : {std::optional<bool>(), std::optional(false)}) {
    NodeFacts facts = good_node();
    facts.keeps_gpus_initialised = daemon;
    facts.fabric->is_persistent = true;
    EXPECT_THAT(finding_of(facts, "persistence"), is(Verdict::Ok, "on", ""));
    facts.fabric.reset();
    facts.is_persistent = true;
    EXPECT_THAT(finding_of(facts, "persistence"), is(Verdict::Ok, "on", ""));
  }
}

TEST(NodeCheckPrograms, AreFoundAndExecutable) {
  NodeFacts facts = good_node();
  facts.imex_programs = ImexPrograms{.error = "no nvidia-imex below the driver root"};
  EXPECT_THAT(finding_of(facts, "nvidia-imex and"),
              fails("no nvidia-imex below", "install the package nvidia-imex"));
  EXPECT_EQ(finding_of(facts, "libraries of nvidia-imex").verdict, Verdict::Unknown);
  facts = good_node();
  facts.imex_programs->not_executable = {"/driver-root/usr/bin/nvidia-imex"};
  EXPECT_THAT(finding_of(facts, "nvidia-imex and"),
              fails("not executable: /driver-root", "reinstall"));
}

TEST(NodeCheckPrograms, HaveTheirLibraries) {
  NodeFacts facts = good_node();
  facts.imex_programs->missing_libraries = {"libz.so.1", "libfoo.so.2"};
  EXPECT_THAT(finding_of(facts, "libraries of nvidia-imex"),
              fails("missing: libz.so.1, libfoo.so.2", "--driver-libraries"));
}

TEST(NodeCheckPrograms, RunInTheImageOfTheOtherProgram) {
  NodeFacts facts = good_node();
  facts.program = Program::Agent;
  EXPECT_THAT(finding_of(facts, "libraries of nvidia-imex"),
              is(Verdict::Unknown, "", "run `compute-domain-imex check`"));
  EXPECT_THAT(finding_of(facts, "port 50000"),
              is(Verdict::Unknown, "", "run `compute-domain-imex check`"));
}

TEST(NodeCheckPrograms, AreUnknownWithoutADriverRoot) {
  NodeFacts facts = good_node();
  facts.imex_programs.reset();
  EXPECT_THAT(finding_of(facts, "nvidia-imex and"),
              is(Verdict::Unknown, "there is no driver root /driver-root", "--driver-root"));
  facts.program = Program::Agent;
  facts.driver_root.clear();
  EXPECT_THAT(
      finding_of(facts, "nvidia-imex and"),
      is(Verdict::Unknown, "this program has no driver root", "`compute-domain-imex check`"));
}

TEST(NodeCheckFabric, TellsOfEachGpu) {
  NodeFacts facts = good_node();
  facts.fabric->gpus.push_back({"GPU 1", "", "has not joined its NVLink fabric", ""});
  facts.fabric->gpus.push_back({"GPU 2", "c.1", "", "limited capacity"});
  EXPECT_EQ(finding_of(facts, "fabric of GPU 0").verdict, Verdict::Ok);
  EXPECT_THAT(finding_of(facts, "fabric of GPU 1"), fails("has not joined", "NVLink manager"));
  EXPECT_THAT(finding_of(facts, "fabric of GPU 2"),
              is(Verdict::Warning, "limited capacity", "nvidia-smi"));
}

TEST(NodeCheckFabric, WithoutACliqueIsAWarning) {
  NodeFacts facts = good_node();
  facts.fabric = Fabric{.driver_version = "580.65.06", .gpus = {{"GPU 0", "", "", ""}}};
  EXPECT_THAT(finding_of(facts, "NVLink"), is(Verdict::Warning, "no GPU is in", "no channel"));
}

TEST(NodeCheckFabric, ThatCannotBeReadFails) {
  NodeFacts facts = good_node();
  facts.fabric = Fabric{.error = "NVML: it crashed (signal 11)"};
  EXPECT_THAT(finding_of(facts, "NVLink"), fails("it crashed", "dmesg"));
  facts.fabric.reset();
  EXPECT_EQ(finding_of(facts, "NVLink").verdict, Verdict::Unknown);
}

TEST(NodeCheckDaemons, TheHostsOwnHasToBeDisabledAndMasked) {
  constexpr char kRemedy[] =
      "systemctl disable --now nvidia-imex.service && systemctl mask nvidia-imex.service";
  NodeFacts facts = good_node();
  facts.imex_daemons->push_back(kHostDaemon);
  EXPECT_THAT(finding_of(facts, "no other nvidia-imex"),
              fails("runs: nvidia-imex -c /etc/nvidia-imex/config.cfg (pid 812)", kRemedy));
  facts = good_node();
  facts.imex_unit = UnitState::Enabled;
  EXPECT_THAT(finding_of(facts, "nvidia-imex.service"), fails("enabled", kRemedy));
  facts.imex_unit = UnitState::Disabled;
  EXPECT_THAT(finding_of(facts, "nvidia-imex.service"),
              is(Verdict::Warning, "not masked", "systemctl mask"));
  facts.imex_unit = UnitState::Absent;
  EXPECT_EQ(finding_of(facts, "nvidia-imex.service").verdict, Verdict::Ok);
  facts.imex_unit.reset();
  EXPECT_THAT(finding_of(facts, "nvidia-imex.service"), is(Verdict::Unknown, "", "recipe/01"));
}

// Any pod may run one that is called so.
TEST(NodeCheckDaemons, ThatRunHideNoUnitThatIsEnabled) {
  NodeFacts facts = good_node();
  facts.imex_unit = UnitState::Enabled;
  const Finding alone = finding_of(facts, "nvidia-imex.service");
  EXPECT_EQ(alone.reason, "HostImexEnabled");
  facts.imex_daemons->push_back({44, {"nvidia-imex"}});
  EXPECT_EQ(finding_of(facts, "nvidia-imex.service"), alone);
}

TEST(NodeCheckDaemons, ThatOfTheOtherDriverNamesItsSwitches) {
  NodeFacts facts = good_node();
  facts.imex_daemons->push_back({44, {"nvidia-imex", "-c", "/imexd/imexd.cfg"}});
  EXPECT_THAT(finding_of(facts, "no other nvidia-imex"),
              fails("pid 44", "resources.computeDomains.enabled=false"));
}

TEST(NodeCheckDaemons, AreUnknownWhereNoProcessIsSeen) {
  NodeFacts facts = good_node();
  facts.imex_daemons.reset();
  EXPECT_THAT(finding_of(facts, "no other nvidia-imex"), is(Verdict::Unknown, "", "recipe/01"));
}

TEST(NodeCheckDaemons, TheHostsOwnHasToRunWhereItIsUsed) {
  NodeFacts facts = good_node();
  facts.is_host_managed = true;
  facts.imex_daemons = {kHostDaemon};
  EXPECT_EQ(finding_of(facts, "the host's nvidia-imex").verdict, Verdict::Ok);
  facts.imex_daemons.emplace();
  EXPECT_THAT(finding_of(facts, "the host's nvidia-imex"), fails("", "systemctl enable --now"));
  // It has the ports.
  EXPECT_EQ(finding_of(facts, "port").requirement, "");
}

TEST(NodeCheckPlugins, AnotherOneUnderTheSameNameNamesItsSwitches) {
  NodeFacts facts = good_node();
  facts.registrations->push_back(
      {"/var/lib/kubelet/plugins_registry/compute-domain.nvidia.com-reg.sock", true,
       kForeignPlugin});
  for (const char* word :
       {"resources.computeDomains.enabled=false", "draDriver.computeDomains.enabled=false"}) {
    EXPECT_THAT(finding_of(facts, "no other compute-domain plugin"),
                fails("compute-domain-kubelet-plugin", word));
  }
  facts = good_node();
  facts.foreign_plugins = {kForeignPlugin};
  EXPECT_THAT(finding_of(facts, "no other compute-domain plugin"), fails("pid 701", "draDriver"));
}

// Kubelet's folder is root's, so that each socket there is a plugin's.
TEST(NodeCheckPlugins, AreAsManyAsListenInKubeletsFolder) {
  NodeFacts facts = good_node();
  facts.agents = 1;
  facts.registrations->front().listener.reset();
  EXPECT_EQ(finding_of(facts, "no other compute-domain plugin").verdict, Verdict::Ok);
  facts.registrations->push_back(facts.registrations->front());
  EXPECT_THAT(finding_of(facts, "no other compute-domain plugin"),
              fails("plugins that listen in kubelet's folder: 2; agents that are connected to "
                    "compute-domain-imex: 1",
                    "draDriver"));
  EXPECT_EQ(finding_of(facts, "no other compute-domain plugin").reason, "OtherPlugin");
  facts.agents = 2;
  EXPECT_EQ(finding_of(facts, "no other compute-domain plugin").verdict, Verdict::Ok)
      << "one that is followed by another one";
}

TEST(NodeCheckPlugins, WhoseProcessIsOutOfSightAreUnknown) {
  NodeFacts facts = good_node();
  facts.registrations->front().listener.reset();
  EXPECT_THAT(finding_of(facts, "no other compute-domain plugin"),
              is(Verdict::Unknown, "", "recipe/01"));
  EXPECT_EQ(finding_of(facts, "registration socket").verdict, Verdict::Ok);
}

TEST(NodeCheckKubelet, HasItsFoldersWhereTheAgentLooks) {
  NodeFacts facts = good_node();
  facts.kubelet_folders->back().is_there = false;
  EXPECT_THAT(
      finding_of(facts, "kubelet's folders"),
      fails("missing: /var/lib/kubelet/plugins_registry", "KUBELET_REGISTRAR_DIRECTORY_PATH"));
}

TEST(NodeCheckKubelet, ASocketThatIsNotThereYetIsAWarning) {
  NodeFacts facts = good_node();
  facts.registrations->front().is_listening = false;
  EXPECT_THAT(finding_of(facts, "registration socket"),
              is(Verdict::Warning, "nobody listens", "kubectl get pods"));
  facts.registrations->clear();
  EXPECT_THAT(finding_of(facts, "registration socket"), is(Verdict::Warning, "none yet", "agent"));
}

TEST(NodeCheckCdi, HasToBeOnAndReadOurFolder) {
  NodeFacts facts = good_node();
  facts.runtime->enable_cdi = false;
  EXPECT_THAT(finding_of(facts, "CDI"),
              fails("switched off in /etc/containerd/config.toml", "enable_cdi = true"));
  facts.runtime->enable_cdi = true;
  facts.runtime->cdi_folders = {"/etc/cdi"};
  EXPECT_THAT(finding_of(facts, "CDI"),
              fails("containerd reads /etc/cdi", "cdi_spec_dirs with /var/run/cdi"));
  for (const char* folder : {"/run/cdi", "/run/cdi/", "/var/run/cdi/", "/var/run/./cdi"}) {
    facts.runtime->cdi_folders = {"/etc/cdi", folder};
    EXPECT_EQ(finding_of(facts, "CDI").verdict, Verdict::Ok) << folder;
  }
}

TEST(NodeCheckCdi, IsOffByDefaultInAnOldContainerdOnly) {
  NodeFacts facts = good_node();
  facts.runtime->config_version = 2;
  EXPECT_THAT(finding_of(facts, "CDI"), is(Verdict::Warning, "containerd", "enable_cdi = true"));
  facts.runtime->enable_cdi = true;
  EXPECT_EQ(finding_of(facts, "CDI").verdict, Verdict::Ok);
  facts.runtime = ContainerRuntime{.name = "CRI-O"};
  EXPECT_EQ(finding_of(facts, "CDI").verdict, Verdict::Ok);
  facts.runtime = ContainerRuntime{};
  EXPECT_THAT(finding_of(facts, "CDI"), is(Verdict::Unknown, "neither", "/var/run/cdi"));
}

// Those that the node's programs do not find out by themselves.
TEST(NodeCheck, SaysWhatIsLackingInTheWordsOfAReport) {
  const auto reason_of = [](const std::string& requirement, const auto& change) {
    NodeFacts facts = good_node();
    change(facts);
    return finding_of(facts, requirement).reason;
  };
  EXPECT_EQ(reason_of("CDI", [](auto& facts) { facts.runtime->enable_cdi = false; }), "CdiNotRead");
  EXPECT_EQ(reason_of("CDI", [](auto& facts) { facts.runtime->cdi_folders = {"/etc/cdi"}; }),
            "CdiNotRead");
  EXPECT_EQ(reason_of("no other compute-domain plugin",
                      [](auto& facts) { facts.registrations->front().listener = kForeignPlugin; }),
            "OtherPlugin");
  EXPECT_EQ(reason_of("no other compute-domain plugin",
                      [](auto& facts) { facts.foreign_plugins = {kForeignPlugin}; }),
            "")
      << "a pod may call its process so";
  EXPECT_EQ(reason_of("port 50000",
                      [](auto& facts) {
                        facts.ports[0] = {50000, "in use", {}};
                      }),
            "")
      << "it may be a daemon's that is ending";
  EXPECT_EQ(reason_of("port 50000",
                      [](auto& facts) {
                        facts.ports[0] = {50000, "in use", kHostDaemon};
                      }),
            "PortTaken");
  EXPECT_EQ(
      reason_of("nvidia-imex.service", [](auto& facts) { facts.imex_unit = UnitState::Enabled; }),
      "HostImexEnabled");
  EXPECT_EQ(reason_of("page size", [](auto& facts) { facts.page_size = 4096; }), "SmallPages");
  EXPECT_EQ(reason_of("persistence", [](auto& facts) { facts.keeps_gpus_initialised = false; }),
            "NoPersistence");
  for (const Finding& finding : judge(good_node())) EXPECT_EQ(finding.reason, "");
  for (const Finding& finding : judge(NodeFacts())) {
    EXPECT_TRUE(finding.verdict != Verdict::Unknown || finding.reason.empty())
        << finding.requirement;
  }
}

TEST(NodeCheck, TellsTheAgentWhatIsLacking) {
  NodeFacts facts = good_node();
  EXPECT_THAT(lacks_in(judge(facts)), IsEmpty());
  facts.imex_unit = UnitState::Enabled;
  facts.page_size = 4096;
  facts.keeps_gpus_initialised = false;
  facts.runtime->enable_cdi = false;
  facts.registrations->front().listener = kForeignPlugin;
  facts.ports[0] = {50000, "in use", Process{812, {"/usr/bin/nvidia-imex", "-c\n\xff"}}};
  const auto lacks = lacks_in(judge(facts));
  EXPECT_EQ(lacks.size(), lack_reasons().size());
  for (const LackReason& reason : lack_reasons()) {
    const auto lack = std::ranges::find(lacks, reason.name, &base::NodeLack::reason);
    ASSERT_NE(lack, lacks.end()) << reason.name;
    EXPECT_EQ(lack->type, reason.type);
    EXPECT_EQ(lack->is_blocking, reason.is_blocking);
    EXPECT_FALSE(lack->message.empty());
    EXPECT_EQ(lack->message.find_first_of("\n\xff"), std::string::npos) << lack->message;
  }
}

TEST(NodeCheckPorts, AreFreeOrOurOwnDaemons) {
  NodeFacts facts = good_node();
  EXPECT_THAT(finding_of(facts, "port 50000"), is(Verdict::Ok, "this pod's own network", ""));
  facts.ports[0] = {50000, "in use", kOwnDaemon};
  EXPECT_THAT(finding_of(facts, "port 50000"), is(Verdict::Ok, "own nvidia-imex", ""));
  facts.ports[0].holder = kHostDaemon;
  EXPECT_THAT(finding_of(facts, "port 50000"),
              fails("held by nvidia-imex -c /etc", "--server-port"));
  facts.ports[0].holder.reset();
  EXPECT_THAT(finding_of(facts, "port 50000"), fails("in use", "ss -ltnp 'sport = :50000'"));
}

}  // namespace
}  // namespace cdom::node_check
