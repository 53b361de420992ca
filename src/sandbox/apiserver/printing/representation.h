// Representation: how the objects of one answer are written: in which version, whole, as
// PartialObjectMetadata, or as the rows of a Table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/apiserver/serving/request_info.h"
#include "sandbox/apiserver/storage/storage.h"

namespace cdom::sandbox::server {

struct ListMeta {
  std::uint64_t resource_version = 0;
  std::string continue_token = {};
  std::optional<std::size_t> remaining = std::nullopt;
};

class Representation {
 public:
  // As the Accept header of the request and its option includeObject say.
  Representation(KindRef kind, const http::Request& request, const RequestInfo& info,
                 const base::Clock& clock);

  [[nodiscard]] std::string object(const StoredObject& object) const;
  [[nodiscard]] std::string list(const std::vector<Object>& objects, const ListMeta& meta) const;
  // What a BOOKMARK event carries; `ends_initial_events` marks the end of a streamed list.
  [[nodiscard]] std::string bookmark(std::uint64_t resource_version,
                                     bool ends_initial_events) const;
  // Whether object() is just the text that the object is stored with.
  [[nodiscard]] bool is_stored_text() const { return plain_; }

 private:
  [[nodiscard]] std::string table(const std::vector<const StoredObject*>& objects,
                                  const ListMeta& meta) const;
  [[nodiscard]] std::string partial_metadata(const StoredObject& object) const;

  KindRef kind_;
  Form form_;
  std::string include_object_;
  const base::Clock& clock_;
  bool plain_;
};

}  // namespace cdom::sandbox::server
