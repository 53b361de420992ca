#include "imex/daemon/tls_files.h"

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"

namespace cdom::imex {

using base::cat;

base::Result<TlsFiles> read_tls_files(const std::string& directory) {
  TlsFiles files{.key = cat(directory, "/tls.key"),
                 .certificate = cat(directory, "/tls.crt"),
                 .authority = cat(directory, "/ca.crt"),
                 .revision = {}};
  std::string all;
  for (const std::string* path : {&files.key, &files.certificate, &files.authority}) {
    const auto text = base::read_file(*path);
    if (!text || base::trim(*text).empty()) {
      return base::Error{
          base::ErrorKind::Invalid,
          cat("TLS of nvidia-imex: ", text ? cat(*path, " is empty") : text.error().message,
              ": --tls-directory has to hold tls.key, tls.crt and ca.crt of this node")};
    }
    all += *text;
  }
  files.revision = base::hex64(base::fnv1a64(all));
  return files;
}

}  // namespace cdom::imex
