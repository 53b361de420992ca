#include "structure_walk.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "api/json/json_scanner.h"

namespace cdom::api {

namespace {

// As many levels as a machine word has bits.
constexpr unsigned kMostLevels = 64;
// A number with so few characters and no exponent is never too large.
constexpr std::size_t kLongestFloat = 300;
constexpr JsonName kMetadata("metadata"), kManagedFields("managedFields");

bool is_digit_of_number(char c) { return c >= '0' && c <= '9'; }

bool is_digit_of_escape(char c) {
  return is_digit_of_number(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Behind the digits that begin there; nullptr when there are none.
const char* pass_digits(const char* at) {
  if (!is_digit_of_number(*at)) return nullptr;
  while (is_digit_of_number(*at)) ++at;
  return at;
}

const char* pass_number(const char* at) {
  if (*at == '-') ++at;
  at = *at == '0' ? at + 1 : pass_digits(at);
  if (at != nullptr && *at == '.') at = pass_digits(at + 1);
  if (at != nullptr && (*at == 'e' || *at == 'E')) {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    at = pass_digits(at);
  }
  return at;
}

const char* pass_literal(const char* at, std::string_view word) {
  return std::string_view(at, word.size()) == word ? at + word.size() : nullptr;
}

// 0 when it is not a valid escape.
std::size_t length_of_escape(const char* backslash) {
  switch (backslash[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return 2;
    case 'u':
      return std::all_of(backslash + 2, backslash + 6, is_digit_of_escape) ? 6 : 0;
    default:
      return 0;
  }
}

const char* find_backslash(const char* from, const char* end) {
  const void* found = std::memchr(from, '\\', static_cast<std::size_t>(end - from));
  return found == nullptr ? end : static_cast<const char*>(found);
}

std::string_view text_between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

struct StructureWalk::Kept {
  std::vector<QuickValue>& values;
  std::deque<std::string>& texts;
};

StructureWalk::StructureWalk(const JsonStructure& structure)
    : StructureWalk(
          structure, 0,
          find_backslash(structure.text.data(), structure.text.data() + structure.text.size())) {}

StructureWalk::StructureWalk(const JsonStructure& structure, std::size_t token,
                             const char* backslash)
    : text_(structure.text.data()),
      text_end_(text_ + structure.text.size()),
      tokens_(structure.tokens),
      end_(tokens_ + structure.count),
      at_(tokens_ + token),
      backslash_(backslash) {}

bool StructureWalk::keep(const WantedIndex& wanted, std::vector<QuickValue>& values,
                         std::deque<std::string>& texts) {
  Kept kept{values, texts};
  return keep_value(wanted, {}, 0, kept);
}

std::optional<std::string_view> StructureWalk::pass() {
  const char* begin = taken();
  const char* end = pass_value(begin);
  return end == nullptr ? std::nullopt : std::optional(text_between(begin, end));
}

bool StructureWalk::take(char token) {
  if (next() != token) return false;
  ++at_;
  return true;
}

std::optional<std::string> StructureWalk::name() {
  if (next() != '"') return std::nullopt;
  const char* begin = taken();
  if (!look_into_string()) return std::nullopt;
  return text_of_string(text_between(begin, end_of_string()));
}

bool StructureWalk::keep_value(const WantedIndex& wanted, const JsonName& name, unsigned depth,
                               Kept& kept) {
  if (depth == kMostLevels) return false;
  const char* begin = taken();
  QuickValue& value = kept.values.emplace_back();
  value.name = name;
  // What begins so is null, or nothing.
  if (wanted.is_text() && *begin != 'n') {
    const char* end = pass_value(begin);
    if (end == nullptr) return false;
    value.type = JsonView::Type::String;
    value.text = text_between(begin, end);
    return true;
  }
  switch (*begin) {
    case '{':
      value.type = JsonView::Type::Object;
      return keep_object(wanted, name == kMetadata, depth, kept);
    case '[':
      value.type = JsonView::Type::List;
      return keep_list(wanted, depth, kept);
    case '"':
      value.type = JsonView::Type::String;
      return kept_string(value.text, kept);
    default:
      break;
  }
  const char* end = pass_scalar(begin);
  if (end == nullptr) return false;
  if (*begin == 'n') return true;
  if (*begin == 't' || *begin == 'f') {
    value.type = JsonView::Type::Boolean;
    value.boolean = *begin == 't';
    return true;
  }
  return keep_number(text_between(begin, end), value);
}

bool StructureWalk::keep_object(const WantedIndex& wanted, bool is_metadata, unsigned depth,
                                Kept& kept) {
  const std::size_t self = kept.values.size() - 1;
  std::uint64_t names = 0, seen = 0;
  bool may_repeat = false;
  if (!take('}')) {
    do {
      const char* begin = text_ + *at_ + 1;
      std::string_view text;
      if (!take('"') || !kept_string(text, kept) || !take(':')) return false;
      const JsonName name = text.data() == begin ? JsonName::padded(text) : JsonName(text);
      const WantedIndex::Member member = wanted.of(name);
      if (member.wanted == nullptr || (is_metadata && name == kManagedFields)) {
        if (pass_value(taken()) == nullptr) return false;
        continue;
      }
      names |= name.bit();
      const bool is_known = member.index < 64;
      const std::uint64_t bit = is_known ? std::uint64_t{1} << member.index : 0;
      may_repeat = may_repeat || !is_known || (seen & bit) != 0;
      seen |= bit;
      if (!keep_value(*member.wanted, name, depth + 1, kept)) return false;
    } while (take(','));
    if (!take('}')) return false;
  }
  QuickValue& object = kept.values[self];
  object.size = static_cast<std::uint32_t>(kept.values.size() - self);
  object.integer = names;
  object.boolean = may_repeat;
  return true;
}

bool StructureWalk::keep_list(const WantedIndex& wanted, unsigned depth, Kept& kept) {
  const std::size_t self = kept.values.size() - 1;
  if (!take(']')) {
    do {
      if (!keep_value(wanted, {}, depth + 1, kept)) return false;
    } while (take(','));
    if (!take(']')) return false;
  }
  kept.values[self].size = static_cast<std::uint32_t>(kept.values.size() - self);
  return true;
}

bool StructureWalk::keep_number(std::string_view text, QuickValue& value) {
  value.text = text;
  const char* end = text.data() + text.size();
  if (text.find_first_of(".eE") != std::string_view::npos) {
    value.type = JsonView::Type::Float;
    return text.size() <= kLongestFloat && text.find_first_of("eE") == std::string_view::npos;
  }
  if (text.starts_with('-')) {
    std::int64_t negative = 0;
    const auto [at, error] = std::from_chars(text.data(), end, negative);
    value.type = JsonView::Type::Integer;
    value.integer = static_cast<std::uint64_t>(negative);
    return error == std::errc{};
  }
  const auto [at, error] = std::from_chars(text.data(), end, value.integer);
  value.type = value.integer > INT64_MAX ? JsonView::Type::LargeInteger : JsonView::Type::Integer;
  return error == std::errc{};
}

// The one whose quote has just been taken.
bool StructureWalk::kept_string(std::string_view& meaning, Kept& kept) {
  const char* begin = text_ + at_[-1];
  const char* backslash_before = backslash_;
  if (!look_into_string()) return false;
  const std::string_view quoted = text_between(begin, end_of_string());
  meaning = backslash_ == backslash_before
                ? quoted.substr(1, quoted.size() - 2)
                : std::string_view(kept.texts.emplace_back(text_of_string(quoted)));
  return true;
}

const char* StructureWalk::pass_value(const char* begin) {
  std::uint64_t is_object = 0;  // a bit for each that is open, the innermost last
  unsigned depth = 0;
  const auto pass_name = [this] { return take('"') && look_into_string() && take(':'); };
  while (true) {
    const char* end = nullptr;
    if (*begin == '{' || *begin == '[') {
      const bool opens_object = *begin == '{';
      if (next() != (opens_object ? '}' : ']')) {
        if (++depth > kMostLevels || (opens_object && !pass_name())) return nullptr;
        is_object = is_object << 1U | (opens_object ? 1U : 0U);
        begin = taken();
        continue;
      }
      end = taken() + 1;
    } else {
      end = pass_scalar(begin);
      if (end == nullptr) return nullptr;
    }
    // A value has ended; what ends with it?
    while (true) {
      if (depth == 0) return end;
      const bool in_object = (is_object & 1U) != 0;
      if (take(',')) {
        if (in_object && !pass_name()) return nullptr;
        begin = taken();
        break;
      }
      if (next() != (in_object ? '}' : ']')) return nullptr;
      end = taken() + 1;
      is_object >>= 1U;
      --depth;
    }
  }
}

const char* StructureWalk::pass_scalar(const char* begin) {
  const char* end = nullptr;
  switch (*begin) {
    case '"':
      return look_into_string() ? end_of_string() : nullptr;
    case 't':
      end = pass_literal(begin, "true");
      break;
    case 'f':
      end = pass_literal(begin, "false");
      break;
    case 'n':
      end = pass_literal(begin, "null");
      break;
    default:
      end = pass_number(begin);
      break;
  }
  return end != nullptr && is_end_of_scalar(end) ? end : nullptr;
}

bool StructureWalk::look_into_escapes(const char* limit) {
  while (backslash_ < limit) {
    const std::size_t length = length_of_escape(backslash_);
    if (length == 0) return false;
    backslash_ = find_backslash(backslash_ + length, text_end_);
  }
  return true;
}

// The end of the string whose quote has just been taken: only space lies between it and the next
// token.
const char* StructureWalk::end_of_string() const {
  const char* end = text_ + *at_;
  while (end[-1] != '"') --end;
  return end;
}

bool StructureWalk::is_end_of_scalar(const char* at) const {
  switch (*at) {
    case ' ':
    case '\t':
    case '\n':
    case '\r':
    case ',':
    case ':':
    case '[':
    case ']':
    case '{':
    case '}':
      return true;
    default:
      return at == text_end_;
  }
}

}  // namespace cdom::api
