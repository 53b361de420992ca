#include "queued_key.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cdom::controller {

using IdLength = std::uint32_t;

QueuedKey::QueuedKey(const Key& key)
    : bytes_(1 + key.id.size() + key.clique.size() + sizeof(IdLength), [&](char* out) {
        *out++ = static_cast<char>(key.kind);
        out = std::copy(key.id.begin(), key.id.end(), out);
        out = std::copy(key.clique.begin(), key.clique.end(), out);
        const auto length = static_cast<IdLength>(key.id.size());
        std::memcpy(out, &length, sizeof length);
      }) {}

Key QueuedKey::key() const {
  std::string_view rest = bytes_.view();
  IdLength length = 0;
  std::memcpy(&length, rest.data() + rest.size() - sizeof length, sizeof length);
  rest.remove_suffix(sizeof length);
  const auto kind = static_cast<Key::Kind>(rest.front());
  rest.remove_prefix(1);
  return {kind, std::string(rest.substr(0, length)), std::string(rest.substr(length))};
}

}  // namespace cdom::controller
