// Heads: what a page and a watch event have beside their objects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/codec.h"

namespace cdom::api {

struct PageHead {
  std::string resource_version, continue_token;
  std::vector<Unreadable> unreadable;
};

using EventHead = WatchEventHead;

// The type that an event names: "ADDED".
WatchType watch_type_of(std::string_view word);

}  // namespace cdom::api
