#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>

#include "compute_domain/controller/stores.h"

namespace cdom::api {

namespace {

// Its parts one after the other, the metadata first, as everybody reads the name there; then how
// long each of them is.
enum Part { kMeta, kList, kReservations, kProblem, kParts };
using Sizes = std::array<std::uint32_t, kParts>;

}  // namespace

template <>
base::SharedBytes pack(const core::StoredList& stored) {
  std::string bytes;
  Sizes sizes{};
  const auto add = [&](Part part, std::string_view packed) {
    bytes += packed;
    sizes[part] = static_cast<std::uint32_t>(packed.size());
  };
  add(kMeta, pack(stored.meta).view());
  if (stored.list) add(kList, pack(*stored.list).view());
  if (stored.reservations) add(kReservations, pack(*stored.reservations).view());
  add(kProblem, stored.problem);
  bytes.append(reinterpret_cast<const char*>(sizes.data()), sizeof sizes);
  return base::SharedBytes(bytes);
}

template <>
core::StoredList unpack(std::string_view bytes) {
  Sizes sizes;
  std::memcpy(sizes.data(), bytes.data() + bytes.size() - sizeof sizes, sizeof sizes);
  const auto part = [&](Part which) {
    const std::size_t from = std::accumulate(sizes.begin(), sizes.begin() + which, std::size_t{0});
    return bytes.substr(from, sizes[which]);
  };
  core::StoredList stored;
  stored.meta = unpack<ObjectMeta>(part(kMeta));
  if (sizes[kList] > 0) stored.list = unpack<NodeList>(part(kList));
  if (sizes[kReservations] > 0) stored.reservations = unpack<ConfigMap>(part(kReservations));
  stored.problem = part(kProblem);
  return stored;
}

}  // namespace cdom::api
