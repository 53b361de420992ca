#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/api_front.h"

namespace cdom::sandbox {

using base::cat;

std::string kubeconfig(const std::string& address, const std::string& token,
                       const std::string& user) {
  return cat("apiVersion: v1\n",                                                 //
             "kind: Config\n",                                                   //
             "clusters:\n",                                                      //
             "- name: sandbox\n  cluster:\n    server: http://", address, "\n",  //
             "users:\n",                                                         //
             "- name: ", user, "\n  user:\n    token: ", token, "\n",            //
             "contexts:\n",                                                      //
             "- name: sandbox\n  context:\n    cluster: sandbox\n    user: ", user,
             "\n    namespace: default\n",  //
             "current-context: sandbox\n");
}

base::Result<void> write_kubeconfig(const std::string& path, const std::string& text) {
  const auto failed = [&](const char* what) {
    return base::Error{.kind = base::ErrorKind::Invalid,
                       .message = cat("kubeconfig ", path, ": ", what, ": ",
                                      std::generic_category().message(errno))};
  };
  const std::string next = cat(path, ".new");
  const int file = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return failed("cannot create");
  const ssize_t written = ::write(file, text.data(), text.size());
  if (::close(file) != 0 || written != static_cast<ssize_t>(text.size())) {
    return failed("cannot write");
  }
  if (std::rename(next.c_str(), path.c_str()) != 0) return failed("cannot rename");
  return {};
}

}  // namespace cdom::sandbox
