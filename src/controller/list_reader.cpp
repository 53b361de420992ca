#include "compute_domain/controller/list_reader.h"

namespace cdom::controller {

core::StoredList ListReader::operator()(const Map& map) {
  {
    const std::scoped_lock lock(mutex_);
    if (const Entry* known = read_.find(map.get())) return known->list;
  }
  core::StoredList list = core::stored_list(*map);
  const std::scoped_lock lock(mutex_);
  return read_.at_or(map.get(), {map, std::move(list)}).list;
}

}  // namespace cdom::controller
