#include "plugin/text/json_report.h"

#include <nlohmann/json.hpp>

namespace cdom::plugin {

std::string json_report(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace cdom::plugin
