#include "plugin/age.h"

#include "compute_domain/base/text.h"

namespace cdom::plugin {

std::string age(base::Time now, base::Time then) {
  if (now - then < std::chrono::seconds(1)) return "just now";
  return base::cat(base::short_duration(now - then), " ago");
}

}  // namespace cdom::plugin
