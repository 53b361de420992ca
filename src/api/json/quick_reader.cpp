#include "quick_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>

namespace cdom::api {

namespace {

namespace dom = simdjson::dom;
namespace ondemand = simdjson::ondemand;

// One less than parse_json() allows what it keeps.
constexpr std::size_t kMostLevels = 999;
constexpr std::size_t kLeast = 4096;  // that memory is taken for
// What is read once in a while needs no memory between: a text takes some twenty times its length,
// a list seven times.
constexpr std::size_t kMostToKeep = std::size_t{2} << 20U;
constexpr std::size_t kOfText = 20, kOfList = 7;

// A text with the bytes behind it that the library may look at.
class Padded {
 public:
  std::string_view copy(std::string_view text) {
    size_ = text.size();
    if (bytes_.size() < size_ + simdjson::SIMDJSON_PADDING) {
      bytes_.resize(size_ + simdjson::SIMDJSON_PADDING);
    }
    const auto end = std::ranges::copy(text, bytes_.begin()).out;
    std::fill_n(end, simdjson::SIMDJSON_PADDING, '\0');
    return {bytes_.data(), size_};
  }
  [[nodiscard]] simdjson::padded_string_view view() const {
    return simdjson::padded_string_view(bytes_.data(), size_, bytes_.size());
  }
  [[nodiscard]] std::size_t capacity() const { return bytes_.size(); }

 private:
  std::vector<char> bytes_;
  std::size_t size_ = 0;
};

// The places of what is wanted as text, in the order of the document.
void find_places(const dom::element& value, const Wanted& texts, std::vector<std::size_t>& places) {
  if (texts.as_text) {
    if (!value.is_null()) places.push_back(std::bit_cast<JsonView::Place>(value).index);
  } else if (value.is_array()) {
    const dom::array list = value.get_array().value_unsafe();
    for (const dom::element item : list) find_places(item, texts, places);
  } else if (value.is_object()) {
    const dom::object object = value.get_object().value_unsafe();
    for (const auto [name, member] : object) {
      const auto wanted = texts.members.find(name);
      if (wanted != texts.members.end()) find_places(member, wanted->second, places);
    }
  }
}

// The texts that stand there, in the same order; false: the library did not go along.
bool find_texts(ondemand::value value, const Wanted& texts, std::vector<std::string_view>& found) {
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return false;
  if (texts.as_text) {
    if (type == ondemand::json_type::null) return true;
    std::string_view text;
    if (simdjson::to_json_string(value).get(text) != simdjson::SUCCESS) return false;
    found.push_back(text);
  } else if (type == ondemand::json_type::array) {
    ondemand::array items;
    if (value.get_array().get(items) != simdjson::SUCCESS) return false;
    for (auto item : items) {
      ondemand::value inner;
      if (item.get(inner) != simdjson::SUCCESS || !find_texts(inner, texts, found)) return false;
    }
  } else if (type == ondemand::json_type::object) {
    ondemand::object members;
    if (value.get_object().get(members) != simdjson::SUCCESS) return false;
    for (auto member : members) {
      std::string_view name;
      if (member.unescaped_key().get(name) != simdjson::SUCCESS) return false;
      const auto wanted = texts.members.find(name);
      if (wanted == texts.members.end()) continue;
      ondemand::value inner;
      if (member.value().get(inner) != simdjson::SUCCESS ||
          !find_texts(inner, wanted->second, found)) {
        return false;
      }
    }
  }
  return true;
}

// The text of a value in a document that nobody has validated, passed over; nullopt: of one that is
// not passed over without a look at what follows it.
std::optional<std::string_view> passed_text(ondemand::value value) {
  ondemand::json_type type{};
  std::string_view text;
  if (value.type().get(type) != simdjson::SUCCESS) return std::nullopt;
  if (type == ondemand::json_type::string) {
    text = value.raw_json_token();
    const std::size_t end = text.find_last_of('"');
    std::string_view read;
    if (value.get_string().get(read) != simdjson::SUCCESS) return std::nullopt;
    return text.substr(0, end + 1);
  }
  const bool is_composed =
      type == ondemand::json_type::object || type == ondemand::json_type::array;
  if (!is_composed || simdjson::to_json_string(value).get(text) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return text;
}

}  // namespace

Wanted texts_in(const Wanted& wanted) {
  Wanted texts{.as_text = wanted.as_text};
  for (const auto& [name, member] : wanted.members) {
    Wanted inner = texts_in(member);
    if (inner.as_text || !inner.members.empty()) texts.members.emplace(name, std::move(inner));
  }
  return texts;
}

struct QuickReader::Parts {
  dom::parser parser;
  ondemand::parser text_parser, list_parser;
  Padded text, list;
  std::vector<std::size_t> places;
  std::vector<std::string_view> texts;
  JsonView::RawTexts raw_texts;
};

QuickReader::QuickReader() = default;
QuickReader::~QuickReader() = default;

QuickReader::Parts& QuickReader::parts() {
  if (parts_ == nullptr) parts_ = std::make_unique<Parts>();
  return *parts_;
}

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
  const std::size_t kept = kOfText * parts_->text.capacity() + kOfList * parts_->list.capacity();
  if (kept > kMostToKeep) parts_.reset();
}

std::optional<JsonView> QuickReader::read(std::string_view text, const Wanted& texts,
                                          std::string_view below) {
  Parts& parts = this->parts();
  parts.raw_texts.clear();
  const std::string_view padded = parts.text.copy(text);
  if (parts.parser.capacity() < padded.size() &&
      parts.parser.allocate(std::bit_ceil(std::max(padded.size(), kLeast)), kMostLevels) !=
          simdjson::SUCCESS) {
    return std::nullopt;
  }
  dom::element root;
  if (parts.parser.parse(padded.data(), padded.size(), false).get(root) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const JsonView document(std::bit_cast<JsonView::Place>(root), parts.raw_texts);
  if (!texts.as_text && texts.members.empty()) return document;

  Wanted from_root;
  if (!below.empty()) from_root.members.emplace(below, texts);
  const Wanted& wanted = below.empty() ? texts : from_root;
  parts.places.clear();
  find_places(root, wanted, parts.places);
  if (parts.places.empty()) return document;
  parts.texts.clear();
  ondemand::document walked;
  ondemand::value value;
  if (parts.text_parser.iterate(parts.text.view()).get(walked) != simdjson::SUCCESS ||
      walked.get_value().get(value) != simdjson::SUCCESS ||
      !find_texts(value, wanted, parts.texts) || parts.texts.size() != parts.places.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < parts.places.size(); ++i) {
    parts.raw_texts.emplace_back(parts.places[i], parts.texts[i]);
  }
  return document;
}

std::optional<QuickReader::Cut> QuickReader::cut(std::string_view list) {
  Parts& parts = this->parts();
  (void)parts.list.copy(list);
  ondemand::document document;
  ondemand::object object;
  if (parts.list_parser.iterate(parts.list.view()).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  Cut cut;
  for (auto member : object) {
    std::string_view name;
    ondemand::value value;
    ondemand::json_type type{};
    if (member.unescaped_key().get(name) != simdjson::SUCCESS ||
        member.value().get(value) != simdjson::SUCCESS ||
        value.type().get(type) != simdjson::SUCCESS) {
      return std::nullopt;
    }
    if (name == "items") {
      // Of two the last one counts, and it may be null.
      if (cut.has_items || type != ondemand::json_type::array) return std::nullopt;
      cut.has_items = true;
      ondemand::array items;
      if (value.get_array().get(items) != simdjson::SUCCESS) return std::nullopt;
      for (auto item : items) {
        ondemand::value inner;
        if (item.get(inner) != simdjson::SUCCESS) return std::nullopt;
        const auto text = passed_text(inner);
        if (!text) return std::nullopt;
        cut.items.push_back(*text);
      }
      continue;
    }
    const auto text = passed_text(value);
    // Passing over a value does not look into it.
    if (!text || !read(*text, {})) return std::nullopt;
    cut.members.push_back({std::string(name), *text});
  }
  // Something stands behind the list.
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) return std::nullopt;
  return cut;
}

}  // namespace cdom::api
