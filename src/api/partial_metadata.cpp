#include <tuple>
#include <utility>

#include "api/fields/meta_fields.h"
#include "api/json/document.h"

namespace cdom::api {

namespace {

// What an API server makes of an object of any kind; it is stored nowhere.
struct PartialObjectMetadata {
  ObjectMeta meta;
};

// clang-format off
const Kind kPartialObjectMetadata{"PartialObjectMetadata", "", "meta.k8s.io", true, {"v1"}};
// clang-format on

}  // namespace

template <>
inline constexpr auto kFields<PartialObjectMetadata> =
    std::tuple{field("metadata", &PartialObjectMetadata::meta, Presence::Required)};

base::Result<Page<ObjectMeta>> decode_metadata_page(std::string_view json) {
  static const WantedObject wanted =
      wanted_of_object(kPartialObjectMetadata, wanted_fields<PartialObjectMetadata>());
  Page<ObjectMeta> page;
  const auto read_it = [&](Decoding& decoding, const JsonView& item, std::string_view) {
    PartialObjectMetadata object;
    read(decoding, item, object);
    if (!decoding.has_failed()) page.items.push_back(std::move(object.meta));
  };
  auto head = decode_list(kPartialObjectMetadata, wanted, json, read_it);
  if (!head) return head.error();
  page.resource_version = std::move(head->resource_version);
  page.continue_token = std::move(head->continue_token);
  page.unreadable = std::move(head->unreadable);
  return page;
}

}  // namespace cdom::api
