// How each built-in kind prints: its columns, and a function that gives the cells of an object.
#pragma once

#include <functional>
#include <vector>

#include "compute_domain/base/clock.h"
#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

struct BuiltinColumn {
  const char* name;
  const char* type = "string";
  int priority = 0;  // 1: only with -o wide
};

struct BuiltinTable {
  std::vector<BuiltinColumn> columns;
  // One cell per column; `object` is in its stored version.
  std::function<json(const json& object, base::Time now)> cells;
};

const BuiltinTable& builtin_table(const Kind& kind);

// The cells of a pod, in pod_table.cpp: what kubectl calls its status is a small art of its own.
json pod_cells(const json& pod, base::Time now);

// The age of the object, "5d".
std::string age_cell(const json& object, base::Time now);

}  // namespace cdom::sandbox::server
