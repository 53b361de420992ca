#include "node_check/runtime_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <filesystem>

#include "base/directory.h"

namespace cdom::node_check {
namespace {

using testing::ElementsAre;

ContainerRuntime runtime_with(const std::string& toml) {
  ContainerRuntime runtime;
  read_runtime_config(toml, runtime);
  return runtime;
}

TEST(RuntimeConfig, ReadsWhatItSaysOfCdi) {
  const auto runtime = runtime_with(R"(version = 2
[plugins."io.containerd.grpc.v1.cri"]
  # enable_cdi = false
  enable_cdi = true  # for DRA
  cdi_spec_dirs = ["/etc/cdi", '/var/run/cdi']
)");
  EXPECT_EQ(runtime.config_version, 2);
  EXPECT_EQ(runtime.enable_cdi, true);
  EXPECT_THAT(runtime.cdi_folders, ElementsAre("/etc/cdi", "/var/run/cdi"));
}

TEST(RuntimeConfig, TakesAnArrayOfSeveralLinesAndAHashInQuotes) {
  const auto runtime = runtime_with("cdi_spec_dirs = [\n \"/etc/c#di\", # old\n '/run/cdi',\n]\n");
  EXPECT_THAT(runtime.cdi_folders, ElementsAre("/etc/c#di", "/run/cdi"));
  EXPECT_EQ(runtime.enable_cdi, std::nullopt);
}

TEST(RuntimeConfig, BrokenFilesAreReadAsFarAsTheyGo) {
  EXPECT_THAT(runtime_with("cdi_spec_dirs = [\"/etc/cdi").cdi_folders, ElementsAre());
  EXPECT_EQ(runtime_with("enable_cdi\n=\n").enable_cdi, std::nullopt);
}

TEST(RuntimeConfig, IsOfTheRuntimeWhoseSocketIsThere) {
  const base::Directory host;
  EXPECT_EQ(container_runtime_of(host.at()).name, "");
  host.write("run/containerd/containerd.sock", "");
  EXPECT_EQ(container_runtime_of(host.at()).name, "containerd");
  EXPECT_EQ(container_runtime_of(host.at()).config_path, "");
  host.write("etc/containerd/config.toml",
             "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  host.write("etc/containerd/conf.d/99-nvidia.toml", "version = 3\nenable_cdi = true\n");
  const auto runtime = container_runtime_of(host.at());
  EXPECT_EQ(runtime.config_path, "/etc/containerd/config.toml");
  EXPECT_EQ(runtime.enable_cdi, true);
  host.write("run/crio/crio.sock", "");
  EXPECT_EQ(container_runtime_of(host.at()).name, "containerd") << "CRI-O has no configuration";
  host.write("etc/crio/crio.conf", "");
  EXPECT_EQ(container_runtime_of(host.at()).name, "CRI-O");
}

// What an import says holds over the file that names it (containerd-config.toml(5)).
TEST(RuntimeConfig, FollowsItsImports) {
  const base::Directory host;
  host.write("run/containerd/containerd.sock", "");
  host.write("etc/containerd/config.toml",
             "version = 3\nenable_cdi = false\nimports = [\"/opt/more/*.toml\",\n \"own.toml\"]\n");
  EXPECT_EQ(container_runtime_of(host.at()).enable_cdi, false);
  host.write("opt/more/1.toml", "enable_cdi = true\n");
  EXPECT_EQ(container_runtime_of(host.at()).enable_cdi, true);
  host.write("etc/containerd/own.toml", "cdi_spec_dirs = [\"/etc/cdi\"]\n");
  EXPECT_THAT(container_runtime_of(host.at()).cdi_folders, testing::ElementsAre("/etc/cdi"));
}

TEST(RuntimeConfig, TakesAFolderThatNobodyImportsOnlyWhereContainerdReadsIt) {
  const base::Directory host;
  host.write("run/containerd/containerd.sock", "");
  host.write("etc/containerd/config.toml", "version = 2\n");
  host.write("etc/containerd/conf.d/old.toml", "enable_cdi = false\n");
  EXPECT_EQ(container_runtime_of(host.at()).enable_cdi, std::nullopt);
  host.write("etc/containerd/config.toml", "version = 3\n");
  EXPECT_EQ(container_runtime_of(host.at()).enable_cdi, false);
}

// Docker brings a containerd of its own beside kubelet's runtime.
TEST(RuntimeConfig, IsNotThatOfAContainerdWithoutKubeletsPart) {
  const base::Directory host;
  host.write("run/containerd/containerd.sock", "");
  host.write("etc/containerd/config.toml",
             "disabled_plugins = [\"io.containerd.grpc.v1.cri\"]\nenable_cdi = false\n");
  EXPECT_EQ(container_runtime_of(host.at()).name, "");
  host.write("run/crio/crio.sock", "");
  host.write("etc/crio/crio.conf.d/10-crio.conf", "cdi_spec_dirs = [\"/etc/cdi\"]\n");
  EXPECT_EQ(container_runtime_of(host.at()).name, "CRI-O");
  EXPECT_THAT(container_runtime_of(host.at()).cdi_folders, ElementsAre("/etc/cdi"));
}

TEST(RuntimeConfig, FollowsAnAbsoluteLinkOfTheHost) {
  const base::Directory host;
  host.write("run/containerd/containerd.sock", "");
  host.write("etc/containerd/config.toml",
             "enable_cdi = false\nimports = [\"/etc/more/*.toml\"]\n");
  host.write("opt/more/1.toml", "enable_cdi = true\n");
  std::filesystem::create_directory_symlink("/opt/more", host.at("etc/more"));
  EXPECT_EQ(container_runtime_of(host.at()).enable_cdi, true);
}

TEST(RuntimeConfig, OfARancherNodeIsWhereItsAgentWritesIt) {
  const base::Directory host;
  host.write("run/k3s/containerd/containerd.sock", "");
  host.write("var/lib/rancher/rke2/agent/etc/containerd/config.toml", "version = 3\n");
  const auto runtime = container_runtime_of(host.at());
  EXPECT_EQ(runtime.config_path, "/var/lib/rancher/rke2/agent/etc/containerd/config.toml");
  EXPECT_EQ(runtime.config_version, 3);
}

}  // namespace
}  // namespace cdom::node_check
