// StoredObject: one object as of one write, with its JSON text, which is made once for all readers.
// Immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

class StoredObject {
 public:
  // Writes the resource version into the metadata; 0 (a dry run that creates) takes it out.
  StoredObject(json value, std::uint64_t resource_version);
  ~StoredObject();
  [[nodiscard]] const json& value() const { return *value_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  // The text as an item of a built-in list, without apiVersion and kind, after what `out` has.
  void append_without_type(std::string& out) const;
  [[nodiscard]] std::uint64_t resource_version() const { return resource_version_; }

 private:
  std::unique_ptr<const json> value_;
  std::string text_;
  // A member of the text, with the comma behind it.
  struct Cut {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  std::array<Cut, 2> cuts_;  // apiVersion and kind
  std::uint64_t resource_version_;
};

using Object = std::shared_ptr<const StoredObject>;

}  // namespace cdom::sandbox::server
