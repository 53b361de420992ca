#include "plugin/age.h"

#include "compute_domain/base/text.h"

namespace cdom::plugin {

std::string age(base::Time now, base::Time then) {
  const base::Duration past = between(then, now);
  if (past < std::chrono::seconds(1)) return "just now";
  return base::cat(base::short_duration(past), " ago");
}

}  // namespace cdom::plugin
