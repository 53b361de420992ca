// Table: the columns and cells by which kubectl prints objects of a kind.
//
// Built-in kinds print as in Kubernetes 1.36 (pkg/printers/internalversion), custom ones by their
// additionalPrinterColumns. Cells are rendered here; kubectl prints them as they are. Pure.
#pragma once

#include "compute_domain/base/clock.h"
#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// columnDefinitions, an array.
json table_columns(const Kind& kind);
// The cells of one row; `object` is in the version of the kind.
json table_cells(const Kind& kind, const json& object, base::Time now);

}  // namespace cdom::sandbox::server
