#include "node_check/node_on_disk.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "compute_domain/base/text.h"
#include "imex/rig.h"

namespace cdom::node_check {

namespace fs = std::filesystem;
using base::cat;

NodeOnDisk::NodeOnDisk(const std::string& shape) {
  imex::make_driver_root(dir, "host", shape);
  fs::create_directories(dir.at("host/var/lib/kubelet/plugins"));
  fs::create_directories(dir.at("host/var/lib/kubelet/plugins_registry"));
  fs::create_directories(dir.at("host/run/cdi"));
  fs::create_directory_symlink("/run", dir.at("host/var/run"));
  dir.write("host/run/containerd/containerd.sock", "");
  dir.write("host/etc/containerd/config.toml", "version = 3\n");
  dir.write("host/run/nvidia-persistenced/socket", "");
  fs::create_directories(dir.at("host/etc/systemd/system"));
  fs::create_symlink("/dev/null", dir.at("host/etc/systemd/system/nvidia-imex.service"));
  run(2, {"kthreadd"});
  dir.write("host/proc/devices",
            "Character devices:\n195 nvidia\n234 nvidia-caps\n235 nvidia-caps-imex-channels\n\n"
            "Block devices:\n  7 loop\n");
  dir.write("host/proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build\n"
            "GCC version:  gcc version 12.2.0\n");
  dir.write("host/proc/driver/nvidia/params",
            "ResmanDebugLevel: 4294967295\nImexChannelCount: 2048\n");
  dir.write("host/proc/driver/nvidia/capabilities/fabric-imex-mgmt",
            "DeviceFileMinor: 17\nDeviceFileMode: 256\nDeviceFileModify: 1\n");
  for (int i = 0; i < 4; ++i) {
    dir.write(cat("host/proc/driver/nvidia/gpus/0000:0", i, ":00.0/information"),
              cat("Model: \t NVIDIA GB200\nDevice Minor: \t ", i, "\n"));
  }
  places.node = "n01";
  places.driver.root = dir.at("host");
  places.proc = dir.at("host/proc");
  places.proc_devices = dir.at("host/proc/devices");
  places.proc_driver = dir.at("host/proc/driver/nvidia");
  places.ports.clear();
}

void NodeOnDisk::run(int pid, const std::vector<std::string>& arguments) const {
  const std::string folder = cat("host/proc/", pid, "/");
  const std::string name = base::split(arguments.front(), '/').back();
  dir.write(folder + "comm", name.substr(0, 15) + "\n");
  std::string line;
  for (const std::string& argument : arguments) line += argument + '\0';
  dir.write(folder + "cmdline", line);
  // Of the host, and in no container.
  for (const std::string& link : {folder, std::string("host/proc/1/")}) {
    fs::create_directories(dir.at(link + "ns"));
    std::error_code is_there;
    fs::create_symlink("pid:[4026531836]", dir.at(link + "ns/pid"), is_there);
  }
}

void NodeOnDisk::listen_on(const std::string& path) {
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string whole = dir.at("host" + path);
  if (whole.size() >= sizeof address.sun_path) throw std::logic_error(whole + " is too long");
  std::memcpy(address.sun_path, whole.c_str(), whole.size() + 1);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket.get(), 4) != 0) {
    throw std::logic_error("cannot listen on " + whole);
  }
  sockets_.push_back(std::move(socket));
}

void NodeOnDisk::remove(const std::string& path) const { fs::remove_all(dir.at("host" + path)); }

std::vector<std::string> NodeOnDisk::flags() const {
  return {"--host-root",       dir.at("host"), "--alt-proc-devices",
          places.proc_devices, "--node-name",  places.node};
}

}  // namespace cdom::node_check
