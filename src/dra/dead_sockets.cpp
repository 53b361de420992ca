#include "dra/dead_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::dra {

namespace fs = std::filesystem;

namespace {

bool is_dead(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return socket &&
         connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

// Removes the dead sockets of this folder whose names are `prefix`, then nothing or a dash and a
// pod's UID, then `suffix`.
void remove_dead_in(const std::string& folder, const std::string& prefix, const std::string& suffix,
                    const std::string& own) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.size() < prefix.size() + suffix.size() || !name.starts_with(prefix) ||
        !name.ends_with(suffix)) {
      continue;
    }
    const std::string uid = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    const bool is_name = uid.empty() || (uid.starts_with('-') && base::is_dns_label(uid.substr(1)));
    const std::string path = base::cat(folder, "/", name);
    if (!is_name || path == own || !is_dead(path)) continue;
    if (unlink(path.c_str()) == 0) {
      base::log_info("removed the socket of a plugin that has ended", {{"path", path}});
    }
  }
}

}  // namespace

void remove_dead_sockets(const PluginOptions& options, const SocketPaths& own) {
  remove_dead_in(options.registrar_dir, options.driver, "-reg.sock", own.registration);
  remove_dead_in(base::cat(options.plugins_dir, "/", options.driver), "dra", ".sock", own.dra);
}

}  // namespace cdom::dra
