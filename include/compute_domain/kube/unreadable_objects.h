// UnreadableObjects: what of a kind the API server has and this program cannot decode.
//
// Their number is a gauge; each is logged once for each thing that is wrong with it. One thread.
#pragma once

#include <map>
#include <string>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/metrics.h"

namespace cdom::kube {

class UnreadableObjects {
 public:
  // `resource` is the plural of the kind; `metrics` may be null.
  UnreadableObjects(std::string resource, base::Registry* metrics);

  // Whether it is new, or something else is wrong with it than before.
  bool add(const api::Unreadable& object);
  [[nodiscard]] bool is_empty() const { return problems_.empty(); }
  // It can be read now, or is gone.
  void remove(const api::ObjectName& name);
  // The others are gone.
  void keep_only(const std::map<api::ObjectName, api::Unreadable>& objects);

 private:
  void count();

  const std::string resource_;
  base::Number* const gauge_;
  std::map<api::ObjectName, std::string> problems_;
};

}  // namespace cdom::kube
