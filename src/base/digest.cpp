#include "compute_domain/base/digest.h"

#include <openssl/sha.h>

#include "compute_domain/base/text.h"

namespace cdom::base {

std::string sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string digest128(std::string_view text) {
  const std::string digest = sha256(text);
  std::string digits;
  std::uint64_t part = 0;
  for (std::size_t i = 0; i < 2 * sizeof part; ++i) {
    part = part << 8 | static_cast<unsigned char>(digest[i]);
    if ((i + 1) % sizeof part == 0) digits += hex64(part);
  }
  return digits;
}

}  // namespace cdom::base
