#include "sandbox/apiserver/printing/table.h"

#include <nlohmann/json.hpp>

#include "sandbox/apiserver/kinds/custom_version.h"
#include "sandbox/apiserver/kinds/versions.h"
#include "sandbox/apiserver/printing/builtin_tables.h"
#include "sandbox/apiserver/printing/table_cell.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

namespace {

json column(const std::string& name, const std::string& type, const std::string& format,
            const std::string& description, int priority) {
  return {{"name", name},
          {"type", type},
          {"format", format},
          {"description", description},
          {"priority", priority}};
}

const std::string kNameText =
    "Name must be unique within a namespace. Is required when creating resources.";
const std::string kAgeText = "CreationTimestamp is the time when this object was created.";

json custom_columns(const CustomVersion& version) {
  json out = json::array({column("Name", "string", "name", kNameText, 0)});
  for (const PrinterColumn& printed : version.columns) {
    out.push_back(
        column(printed.name, printed.type, printed.format, printed.description, printed.priority));
  }
  if (version.columns.empty()) out.push_back(column("Age", "date", "", kAgeText, 0));
  return out;
}

json custom_cells(const CustomVersion& version, const json& object, base::Time now) {
  json out = json::array({name_of(object)});
  for (const PrinterColumn& printed : version.columns) {
    out.push_back(cell_of(object, printed.path, printed.type, now));
  }
  if (version.columns.empty()) {
    out.push_back(age_of(at_path(object, {"metadata", "creationTimestamp"}), now));
  }
  return out;
}

}  // namespace

json table_columns(const Kind& kind) {
  if (kind.is_custom()) return custom_columns(*kind.custom);
  json out = json::array();
  for (const BuiltinColumn& each : builtin_table(kind).columns) {
    const bool is_name = out.empty() && std::string_view(each.name) == "Name";
    out.push_back(column(each.name, each.type, is_name ? "name" : "", is_name ? kNameText : "",
                         each.priority));
  }
  return out;
}

json table_cells(const Kind& kind, const json& object, base::Time now) {
  if (kind.is_custom()) return custom_cells(*kind.custom, object, now);
  return builtin_table(kind).cells(to_storage(kind, object), now);
}

}  // namespace cdom::sandbox::server
