// CustomVersion: what one version of a CustomResourceDefinition says, parsed once. Immutable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/patch/merge_rules.h"
#include "sandbox/schema/schema.h"
#include "sandbox/text/json.h"
#include "sandbox/text/jsonpath.h"

namespace cdom::sandbox::server {

struct PrinterColumn {
  std::string name, type, format, description;
  int priority = 0;
  JsonPath path;
};

struct CustomVersion {
  std::shared_ptr<const schema::Schema> schema;
  std::shared_ptr<const patch::MergeRules> merge_rules;
  // The openAPIV3Schema as it was written, for /openapi.
  std::shared_ptr<const json> source;
  std::vector<PrinterColumn> columns;
  std::vector<std::string> selectable_fields;  // "spec.color"
};

// The rows that a CustomResourceDefinition stands for, one per served version. Invalid names the
// field of the definition that is wrong or that this server does not understand.
base::Result<std::vector<Kind>> kinds_of_definition(const json& definition);

}  // namespace cdom::sandbox::server
