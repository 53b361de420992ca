// Reading: by which of the two readers of JSON the codec reads. Both give the same, which tests and
// benchmarks compare; everybody else calls the functions of codec.h without it.
#pragma once

#include <string_view>

#include "compute_domain/api/codec.h"

namespace cdom::api {

enum class Reading {
  Quick,     // by json/quick_reader.h what it takes; the rest, and all that is wrong, as Thorough
  Thorough,  // by json/json_scanner.h
};

// Instantiated for the kinds of kind.h.
template <class T>
base::Result<T> decode(std::string_view json, Reading reading);
template <class T>
base::Result<Page<T>> decode_page(std::string_view json, Reading reading);
template <class T>
base::Result<WatchEvent<T>> decode_watch_event(std::string_view line, Reading reading);

}  // namespace cdom::api
