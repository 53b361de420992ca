#include "quick_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>

#include "api/json/structure_walk.h"

namespace cdom::api {

namespace {

constexpr std::size_t kLeast = 4096;  // that memory is taken for
// What is read once in a while needs no memory between: a text takes some six times its length.
constexpr std::size_t kMostToKeep = std::size_t{2} << 20U;
constexpr std::size_t kOfText = 6;

}  // namespace

struct QuickReader::Parts {
  // What the library has for its own front ends: it finds the structure, and nothing else is asked
  // of it.
  std::unique_ptr<simdjson::internal::dom_parser_implementation> library;
  std::vector<char> bytes;  // the text, and what the library may look at behind it
  JsonStructure structure;
  // An item of the list that was cut: its first token, and the first backslash that is not before
  // it.
  struct Item {
    std::size_t token;
    const char* backslash;
  };
  std::vector<Item> items;
  std::vector<QuickValue> values;
  std::deque<std::string> texts;
};

QuickReader::QuickReader() = default;
QuickReader::~QuickReader() = default;

QuickReader::Lease QuickReader::of_thread() {
  thread_local QuickReader reader;
  return Lease(reader.is_lent_ ? nullptr : &reader);
}

QuickReader::Lease::Lease(QuickReader* reader) : reader_(reader) {
  if (reader_ != nullptr) reader_->is_lent_ = true;
}

QuickReader::Lease::~Lease() {
  if (reader_ == nullptr) return;
  reader_->is_lent_ = false;
  reader_->shrink();
}

void QuickReader::shrink() {
  if (parts_ == nullptr) return;
  const std::size_t values = parts_->values.capacity() * sizeof(QuickValue);
  if (kOfText * parts_->bytes.size() > kMostToKeep || values > kMostToKeep) parts_.reset();
}

bool QuickReader::find_structure(std::string_view text) {
  if (parts_ == nullptr) parts_ = std::make_unique<Parts>();
  Parts& parts = *parts_;
  if (text.empty() || text.size() >= UINT32_MAX) return false;
  const std::size_t capacity = std::bit_ceil(std::max(text.size(), kLeast));
  // The text's place first: where there is no memory for it the library keeps what it had.
  if (parts.bytes.size() < capacity + simdjson::SIMDJSON_PADDING) {
    parts.bytes.resize(capacity + simdjson::SIMDJSON_PADDING);
  }
  if (parts.library == nullptr || parts.library->capacity() < text.size()) {
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            capacity, 1, parts.library) != simdjson::SUCCESS) {
      parts.library.reset();
      return false;
    }
  }
  std::memcpy(parts.bytes.data(), text.data(), text.size());
  std::memset(parts.bytes.data() + text.size(), 0, simdjson::SIMDJSON_PADDING);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(parts.bytes.data());
  if (parts.library->stage1(bytes, text.size(), simdjson::stage1_mode::regular) !=
      simdjson::SUCCESS) {
    return false;
  }
  parts.structure = {{parts.bytes.data(), text.size()},
                     parts.library->structural_indexes.get(),
                     parts.library->n_structural_indexes};
  return true;
}

std::optional<JsonView> QuickReader::keep(StructureWalk& walk, const WantedIndex& wanted) {
  Parts& parts = *parts_;
  parts.values.clear();
  parts.texts.clear();
  if (!walk.keep(wanted, parts.values, parts.texts)) return std::nullopt;
  return parts.values.front();
}

std::optional<JsonView> QuickReader::read(std::string_view text, const WantedIndex& wanted) {
  if (!find_structure(text)) return std::nullopt;
  StructureWalk walk(parts_->structure);
  const auto view = keep(walk, wanted);
  return walk.is_at_end() ? view : std::nullopt;
}

std::optional<JsonView> QuickReader::item(std::size_t index, const WantedIndex& wanted) {
  const Parts::Item& item = parts_->items[index];
  StructureWalk walk(parts_->structure, item.token, item.backslash);
  return keep(walk, wanted);
}

std::optional<QuickReader::Cut> QuickReader::cut(std::string_view list) {
  if (!find_structure(list)) return std::nullopt;
  parts_->items.clear();
  StructureWalk walk(parts_->structure);
  Cut cut;
  // An empty one has no items.
  if (!walk.take('{')) return std::nullopt;
  do {
    const auto name = walk.name();
    if (!name || !walk.take(':')) return std::nullopt;
    if (name != "items") {
      const auto text = walk.pass();
      if (!text) return std::nullopt;
      cut.members.push_back({*name, *text});
      continue;
    }
    // Gives up on a second "items": the last one counts, and it may be null.
    if (cut.has_items || !walk.take('[')) return std::nullopt;
    cut.has_items = true;
    if (walk.take(']')) continue;
    do {
      parts_->items.push_back({walk.token(), walk.backslash()});
      const auto text = walk.pass();
      if (!text) return std::nullopt;
      cut.items.push_back(*text);
    } while (walk.take(','));
    if (!walk.take(']')) return std::nullopt;
  } while (walk.take(','));
  if (!walk.take('}') || !walk.is_at_end()) return std::nullopt;
  return cut;
}

}  // namespace cdom::api
