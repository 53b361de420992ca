#include <sys/un.h>

#include "compute_domain/base/text.h"
#include "compute_domain/dra/plugin.h"

namespace cdom::dra {

namespace {

// The last byte ends the name.
constexpr std::size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;

base::Result<void> check_length(const std::string& path) {
  if (path.size() <= kLongestPath) return {};
  return base::invalid(base::cat("the path of a unix socket has at most ", kLongestPath,
                                 " characters, and ", path, " has ", path.size(),
                                 ": choose a shorter kubelet directory or driver name"));
}

}  // namespace

base::Result<SocketPaths> socket_paths(const PluginOptions& options) {
  if (!base::is_dns_subdomain(options.driver)) {
    return base::invalid(
        base::cat("\"", options.driver,
                  "\" is not a valid DRA driver name: give it a DNS subdomain as in "
                  "compute-domain.nvidia.com"));
  }
  if (!options.pod_uid.empty() && !base::is_dns_label(options.pod_uid)) {
    return base::invalid(
        base::cat("\"", options.pod_uid,
                  "\" is not the UID of a pod: give the pod's metadata.uid, or nothing"));
  }
  for (const std::string& folder : {options.plugins_dir, options.registrar_dir}) {
    if (!folder.starts_with('/') || folder.ends_with('/')) {
      return base::invalid(base::cat("kubelet's directory \"", folder,
                                     "\" must be an absolute path, without a slash at its end"));
    }
  }
  const std::string suffix = options.pod_uid.empty() ? "" : "-" + options.pod_uid;
  SocketPaths paths{
      .registration = base::cat(options.registrar_dir, "/", options.driver, suffix, "-reg.sock"),
      .dra = base::cat(options.plugins_dir, "/", options.driver, "/dra", suffix, ".sock"),
  };
  for (const std::string& path : {paths.registration, paths.dra}) {
    if (auto fits = check_length(path); !fits) return fits.error();
  }
  return paths;
}

}  // namespace cdom::dra
