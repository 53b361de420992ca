// StoredObject: one object as of one write, with its JSON text, which is made once for all readers.
// Immutable.
#pragma once

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
  // The text as an item of a built-in list: without apiVersion and kind. Not thread-safe: made on
  // first use.
  [[nodiscard]] const std::string& text_without_type() const;
  [[nodiscard]] std::uint64_t resource_version() const { return resource_version_; }

 private:
  std::unique_ptr<const json> value_;
  std::string text_;
  mutable std::string text_without_type_;
  std::uint64_t resource_version_;
};

using Object = std::shared_ptr<const StoredObject>;

}  // namespace cdom::sandbox::server
