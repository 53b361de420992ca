#include "sandbox/cel/device.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace cdom::sandbox::cel {

namespace {

using nlohmann::json;

// An attribute says its type by the name of its one field.
Value attribute_value(const json& attribute) {
  if (!attribute.is_object() || attribute.empty()) return Value();
  const std::string& type = attribute.begin().key();
  const json& content = attribute.begin().value();
  if (type != "version" || !content.is_string()) return Value::from_json(content);
  auto version = Semver::parse(content.get<std::string>());
  return version ? Value(Value::Content(*version)) : Value::failure(version.error());
}

Value capacity_value(const json& capacity) {
  const json& content = capacity.is_object() ? capacity.value("value", json()) : capacity;
  auto quantity =
      Quantity::parse(content.is_string() ? content.get<std::string>() : content.dump());
  return quantity ? Value(Value::Content(*quantity)) : Value::failure(quantity.error());
}

// {domain: {id: value}}; an id without a domain stands under the driver's.
Value by_domain(std::string_view driver, const json& device, const char* field,
                Value (*convert)(const json&)) {
  std::map<std::string, Map> domains;
  const json none = json::object();
  const auto found = device.find(field);
  const json& entries = found != device.end() && found->is_object() ? *found : none;
  for (const auto& [name, entry] : entries.items()) {
    const auto slash = name.find('/');
    const std::string domain =
        slash == std::string::npos ? std::string(driver) : name.substr(0, slash);
    const std::string id = slash == std::string::npos ? name : name.substr(slash + 1);
    domains[domain].entries.insert_or_assign(id, convert(entry));
  }
  Map out;
  out.absent_is_empty_map = true;
  for (auto& [domain, ids] : domains) out.entries.emplace(domain, Value(std::move(ids)));
  return Value(std::move(out));
}

}  // namespace

Value device_value(std::string_view driver, const json& device) {
  Map out;
  out.entries.emplace("driver", Value(std::string(driver)));
  out.entries.emplace("attributes", by_domain(driver, device, "attributes", attribute_value));
  out.entries.emplace("capacity", by_domain(driver, device, "capacity", capacity_value));
  out.entries.emplace("allowMultipleAllocations",
                      Value(device.value("allowMultipleAllocations", false)));
  return Value(std::move(out));
}

base::Result<Program> compile_device_selector(std::string_view expression) {
  return compile(expression, {"device"});
}

}  // namespace cdom::sandbox::cel
