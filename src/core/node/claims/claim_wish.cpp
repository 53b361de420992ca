#include "core/node/claims/claim_wish.h"

#include <algorithm>
#include <optional>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/domain_config.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/claim_config.h"
#include "compute_domain/core/membership.h"

namespace cdom::core {

namespace {

using base::cat;

// Kubelet knows main requests only.
std::string main_request(const std::string& request) {
  return request.substr(0, request.find('/'));
}

// A clique's devices are for every node that the scheduler takes for one of it.
std::vector<const api::AllocatedDevice*> seats_on(const api::Allocation& allocation,
                                                  const std::string& node) {
  std::vector<const api::AllocatedDevice*> devices;
  for (const api::AllocatedDevice& device : allocation.devices) {
    const bool is_here = device.pool == node || shared_clique_of(device);
    if (device.driver == api::kDriver && is_here) devices.push_back(&device);
  }
  return devices;
}

// The config of the highest precedence: class configs come before those of the claim, and later
// ones override earlier ones.
const api::OpaqueConfig* config_for(const api::Allocation& allocation, const std::string& request) {
  const api::OpaqueConfig* found = nullptr;
  for (const bool from_class : {true, false}) {
    for (const api::OpaqueConfig& config : allocation.configs) {
      if (config.driver != api::kDriver || config.from_class != from_class) continue;
      const auto names = [&](const std::string& name) {
        return std::ranges::find(config.requests, name) != config.requests.end();
      };
      if (config.requests.empty() || names(request) || names(main_request(request))) {
        found = &config;
      }
    }
  }
  return found;
}

// Of a mistake: what it quotes may be long, and the remedy behind it has to stay.
constexpr std::size_t kLongestMistake = 500;

}  // namespace

bool has_ended_here(const ClaimReading& reading, const ClaimRef& claim, const std::string& node) {
  if (reading.error) return reading.error->kind == base::ErrorKind::NotFound;
  if (!reading.claim) return false;
  return reading.claim->meta.uid != claim.uid || !reading.claim->allocation ||
         seats_on(*reading.claim->allocation, node).empty();
}

std::variant<ClaimWish, Refusal> wish_of(const ClaimRef& claim, const api::ResourceClaim& object,
                                         const std::string& node) {
  const std::string name = cat("ResourceClaim ", to_string(claim));
  if (object.meta.uid != claim.uid) {
    return Refusal{cat(name, " has UID ", object.meta.uid, ", kubelet asks for ", claim.uid)};
  }
  if (!object.allocation) return Refusal{cat(name, " is not allocated")};
  const auto devices = seats_on(*object.allocation, node);
  if (devices.empty()) {
    return Refusal{cat(name, " has no device of ", api::kDriver, " on node ", node)};
  }

  ClaimWish wish;
  const api::OpaqueConfig* config = nullptr;
  for (const api::AllocatedDevice* device : devices) {
    wish.devices.push_back({main_request(device->request), device->pool, device->device});
    wish.admin_access |= device->admin_access;
    if (auto clique = shared_clique_of(*device)) wish.shared_clique = std::move(clique);
    if (config == nullptr) config = config_for(*object.allocation, device->request);
  }
  if (domain_ref_of(object).kind == DomainRef::Kind::Contradictory) {
    return Refusal{cat(name,
                       " has a configuration that names a ComputeDomain (domainID) and a "
                       "ComputeDomainConfig: leave one of them out"),
                   true};
  }
  if (config == nullptr) return wish;
  const auto refusal = [&](const base::Error& error) {
    return Refusal{
        cat("error decoding config parameters of ", name, ": ",
            base::shortened(error.message, kLongestMistake), "; ", config_remedy(*config, object)),
        true};
  };
  if (api::config_words_in(config->parameters).kind == api::kDomainConfigKind) {
    const auto automatic = api::decode_domain_config(config->parameters);
    if (!automatic) return refusal(automatic.error());
    wish.allocation_mode = automatic->allocation_mode;
    return wish;
  }
  const auto named = api::decode_channel_config(config->parameters);
  if (!named) return refusal(named.error());
  wish.domain_uid = named->domain_uid;
  wish.allocation_mode = named->allocation_mode;
  return wish;
}

}  // namespace cdom::core
