#include "sandbox/cluster/scheduler/device_allocator.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cel/device.h"
#include "sandbox/cel/program.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/cluster/scheduler/device_pools.h"
#include "sandbox/cluster/scheduler/node_selector.h"
#include "sandbox/cluster/scheduler/toleration.h"

namespace cdom::sandbox {

class SelectorCache {
 public:
  base::Result<bool> matches(const std::string& expression, const cel::Value& device) {
    auto known = programs_.find(expression);
    if (known == programs_.end()) {
      if (programs_.size() > 1000) programs_.clear();
      known = programs_.emplace(expression, cel::compile_device_selector(expression)).first;
    }
    if (!known->second) return known->second.error();
    return known->second->evaluate_bool({{"device", device}});
  }

 private:
  std::map<std::string, base::Result<cel::Program>> programs_;
};

namespace {

// One way to satisfy one request of one claim.
struct Wish {
  std::string name;  // "main" or "main/sub"
  const json* spec = nullptr;
  const json* device_class = nullptr;  // spec
};

struct Request {
  std::size_t claim = 0;
  std::vector<Wish> wishes;  // one, or those of firstAvailable in their order
};

struct Grant {
  std::size_t claim = 0;
  const Wish* wish = nullptr;
  std::size_t device = 0;  // index into NodeDevices::devices
};

bool concerns(const json& names, const std::string& request) {
  if (names.empty()) return true;
  const std::string main = request.substr(0, request.find('/'));
  return std::any_of(names.begin(), names.end(),
                     [&](const json& name) { return name == request || name == main; });
}

// The search for all requests of a pod on one node.
class Search {
 public:
  Search(const std::vector<ObjectPtr>& claims, std::vector<Request> requests, NodeDevices devices,
         const std::set<DeviceId>& in_use, SelectorCache& selectors)
      : claims_(claims),
        requests_(std::move(requests)),
        offered_(std::move(devices)),
        in_use_(in_use),
        selectors_(selectors),
        values_(offered_.devices.size()) {}

  bool run() { return satisfy(0); }
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }
  [[nodiscard]] const std::vector<Grant>& grants() const { return grants_; }
  [[nodiscard]] const NodeDevices& offered() const { return offered_; }

 private:
  bool satisfy(std::size_t request) {
    if (request == requests_.size()) return true;
    for (const Wish& wish : requests_[request].wishes) {
      const bool is_all = text_at(*wish.spec, "/allocationMode") == "All";
      const std::size_t count = wish.spec->value("count", std::size_t{1});
      if (is_all ? grant_all(request, wish) : grant(request, wish, count, 0)) return true;
      if (error_) return false;
    }
    return false;
  }

  bool grant(std::size_t request, const Wish& wish, std::size_t count, std::size_t from) {
    if (count == 0) return satisfy(request + 1);
    for (std::size_t i = from; i < offered_.devices.size(); ++i) {
      if (!is_free(wish, i) || !matches(wish, i)) {
        if (error_) return false;
        continue;
      }
      grants_.push_back({requests_[request].claim, &wish, i});
      if (constraints_hold() && grant(request, wish, count - 1, i + 1)) return true;
      grants_.pop_back();
      if (error_) return false;
    }
    return false;
  }

  bool grant_all(std::size_t request, const Wish& wish) {
    if (!offered_.is_complete) return false;
    const std::size_t before = grants_.size();
    for (std::size_t i = 0; i < offered_.devices.size(); ++i) {
      if (!matches(wish, i)) {
        if (error_) return false;
        continue;
      }
      if (!is_free(wish, i)) {
        grants_.resize(before);
        return false;
      }
      grants_.push_back({requests_[request].claim, &wish, i});
    }
    if (grants_.size() > before && constraints_hold() && satisfy(request + 1)) return true;
    grants_.resize(before);
    return false;
  }

  bool is_free(const Wish& wish, std::size_t index) const {
    // Twice in one claim is refused even with administrative access.
    for (const Grant& grant : grants_) {
      if (grant.device == index) return false;
    }
    return at(*wish.spec, "/adminAccess") == true || !in_use_.contains(offered_.devices[index].id);
  }

  bool matches(const Wish& wish, std::size_t index) {
    const OfferedDevice& device = offered_.devices[index];
    if (!tolerates_device_taints(at(*device.device, "/taints"), at(*wish.spec, "/tolerations"))) {
      return false;
    }
    if (!values_[index]) values_[index] = cel::device_value(device.id.driver, *device.device);
    for (const json* selectors :
         {&at(*wish.device_class, "/selectors"), &at(*wish.spec, "/selectors")}) {
      for (const json& selector : *selectors) {
        const auto fits = selectors_.matches(text_at(selector, "/cel/expression"), *values_[index]);
        if (!fits) {
          error_ =
              base::Error{base::ErrorKind::Invalid,
                          base::cat("request ", wish.name,
                                    ": selector #0: CEL runtime error: ", fits.error().message)};
          return false;
        }
        if (!*fits) return false;
      }
    }
    return true;
  }

  bool constraints_hold() const {
    for (std::size_t claim = 0; claim < claims_.size(); ++claim) {
      for (const json& constraint : at(*claims_[claim], "/spec/devices/constraints")) {
        const std::string attribute = text_at(constraint, "/matchAttribute");
        if (!attribute.empty() && !attribute_is_equal(claim, constraint, attribute)) return false;
      }
    }
    return true;
  }

  bool attribute_is_equal(std::size_t claim, const json& constraint,
                          const std::string& attribute) const {
    const json* common = nullptr;
    for (const Grant& grant : grants_) {
      if (grant.claim != claim || !concerns(at(constraint, "/requests"), grant.wish->name))
        continue;
      const json& value = attribute_of(offered_.devices[grant.device], attribute);
      if (value.is_null() || (common != nullptr && *common != value)) return false;
      common = &value;
    }
    return true;
  }

  const std::vector<ObjectPtr>& claims_;
  const std::vector<Request> requests_;
  const NodeDevices offered_;
  const std::set<DeviceId>& in_use_;
  SelectorCache& selectors_;
  std::vector<std::optional<cel::Value>> values_;
  std::vector<Grant> grants_;
  std::optional<base::Error> error_;
};

// All FromClass entries first, each class once; then FromClaim, an entry that names N requests N
// times, as the allocator of 1.36 does.
json config_of(const json& claim, const std::vector<const Wish*>& wishes) {
  json from_class = json::array();
  std::map<const json*, std::size_t> first_of_class;
  for (const Wish* wish : wishes) {
    const json& configs = at(*wish->device_class, "/config");
    const auto [known, is_new] = first_of_class.emplace(wish->device_class, from_class.size());
    for (std::size_t i = 0; i < configs.size(); ++i) {
      if (is_new) {
        json entry = configs[i];
        entry["source"] = "FromClass";
        entry["requests"] = json::array({wish->name});
        from_class.push_back(std::move(entry));
      } else {
        from_class[known->second + i]["requests"].push_back(wish->name);
      }
    }
  }
  json all = std::move(from_class);
  for (const json& config : at(claim, "/spec/devices/config")) {
    const json& names = at(config, "/requests");
    json entry = config;
    entry["source"] = "FromClaim";
    const auto times = std::count_if(wishes.begin(), wishes.end(), [&](const Wish* wish) {
      return !names.empty() && concerns(names, wish->name);
    });
    const std::ptrdiff_t copies = names.empty() ? 1 : times;
    for (std::ptrdiff_t i = 0; i < copies; ++i) all.push_back(entry);
  }
  return all;
}

// Adds those requirements of the list that are not in it yet.
void add_requirements(const json& more, const char* list, json& term) {
  for (const json& requirement : at(more, base::cat("/", list))) {
    json& known = term[list];
    if (std::find(known.begin(), known.end(), requirement) == known.end()) {
      known.push_back(requirement);
    }
  }
}

// One term that demands what the slices of all devices demand; null: any node will do.
json node_selector_of(const std::vector<const OfferedDevice*>& devices, const json& node) {
  json all = json::object();
  for (const OfferedDevice* device : devices) {
    const bool per_device = at(*device->slice, "/perDeviceNodeSelection") == true;
    const json& where = per_device ? *device->device : *device->slice;
    if (!text_at(where, "/nodeName").empty() || at(*device->device, "/bindsToNode") == true) {
      return selector_of_node(key_of(node).name);
    }
    for (const json& term : at(where, "/nodeSelector/nodeSelectorTerms")) {
      add_requirements(term, "matchFields", all);
      add_requirements(term, "matchExpressions", all);
    }
  }
  return all.empty() ? json() : json{{"nodeSelectorTerms", json::array({all})}};
}

json allocation_of(const Search& search, std::size_t index, const json& claim, const json& node,
                   base::Time now) {
  json results = json::array();
  std::vector<const Wish*> wishes;
  std::vector<const OfferedDevice*> devices;
  for (const Grant& grant : search.grants()) {
    if (grant.claim != index) continue;
    const OfferedDevice& device = search.offered().devices[grant.device];
    json result{{"request", grant.wish->name},
                {"driver", device.id.driver},
                {"pool", device.id.pool},
                {"device", device.id.device}};
    if (at(*grant.wish->spec, "/adminAccess") == true) result["adminAccess"] = true;
    const json& tolerations = at(*grant.wish->spec, "/tolerations");
    if (!tolerations.empty()) result["tolerations"] = tolerations;
    results.push_back(std::move(result));
    devices.push_back(&device);
    if (wishes.empty() || wishes.back() != grant.wish) wishes.push_back(grant.wish);
  }
  json allocation{{"devices", {{"results", std::move(results)}}},
                  {"allocationTimestamp", base::to_rfc3339(now)}};
  json config = config_of(claim, wishes);
  if (!config.empty()) allocation["devices"]["config"] = std::move(config);
  json selector = node_selector_of(devices, node);
  if (!selector.is_null()) allocation["nodeSelector"] = std::move(selector);
  return allocation;
}

}  // namespace

DeviceAllocator::DeviceAllocator(const JsonInformer& slices, const JsonInformer& classes)
    : pools_(std::make_unique<DevicePools>(slices)),
      classes_(classes),
      selectors_(std::make_unique<SelectorCache>()) {}

DeviceAllocator::~DeviceAllocator() = default;

base::Result<std::optional<std::vector<json>>> DeviceAllocator::allocate(
    const std::vector<ObjectPtr>& claims, const json& node, const std::set<DeviceId>& in_use,
    base::Time now) {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    for (const json& request : at(*claims[i], "/spec/devices/requests")) {
      Request wanted{i, {}};
      const std::string name = text_at(request, "/name");
      const auto wish = [&](const std::string& full_name, const json& spec) -> base::Result<void> {
        const std::string class_name = text_at(spec, "/deviceClassName");
        const ObjectPtr device_class = classes_.find({"", class_name});
        if (!device_class) {
          return base::Error{
              base::ErrorKind::Invalid,
              base::cat("request ", full_name, ": device class ", class_name, " does not exist")};
        }
        wanted.wishes.push_back({full_name, &spec, &at(*device_class, "/spec")});
        return {};
      };
      if (const json& exactly = at(request, "/exactly"); !exactly.is_null()) {
        if (auto known = wish(name, exactly); !known) return known.error();
      }
      for (const json& sub : at(request, "/firstAvailable")) {
        if (auto known = wish(base::cat(name, "/", text_at(sub, "/name")), sub); !known) {
          return known.error();
        }
      }
      requests.push_back(std::move(wanted));
    }
  }
  Search search(claims, std::move(requests), pools_->of_node(node), in_use, *selectors_);
  const bool fits = search.run();
  if (search.error()) return *search.error();
  if (!fits) return std::optional<std::vector<json>>();
  std::vector<json> allocations;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    allocations.push_back(allocation_of(search, i, *claims[i], node, now));
  }
  return std::optional(std::move(allocations));
}

void collect_devices_in_use(const json& claim, std::set<DeviceId>& in_use) {
  for (const json& result : at(claim, "/status/allocation/devices/results")) {
    if (at(result, "/adminAccess") == true) continue;
    in_use.insert(
        {text_at(result, "/driver"), text_at(result, "/pool"), text_at(result, "/device")});
  }
}

}  // namespace cdom::sandbox
