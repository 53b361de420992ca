// StructureWalk: goes once through all of a JSON text, with the structure that simdjson has found,
// and keeps what is wanted.
//
// simdjson has found where each token begins, and that the text is UTF-8 with strings that end and
// have no control characters. The walk checks the order of the tokens and each token by itself.
// JsonScanner takes everything that it takes; it gives up on values deeper than 64 levels, and on
// numbers that it would have to round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json_view.h"
#include "api/json/wanted_index.h"

namespace cdom::api {

// Where the tokens of a text begin. The byte behind the text is readable, and zero. Behind the last
// token, `tokens` holds the end of the text.
struct JsonStructure {
  std::string_view text;
  const std::uint32_t* tokens = nullptr;
  std::size_t count = 0;
};

class StructureWalk {
 public:
  explicit StructureWalk(const JsonStructure& structure);
  // Starts at a token that begins a value; a walk that has come so far has this backslash().
  StructureWalk(const JsonStructure& structure, std::size_t token, const char* backslash);

  // Adds the value that begins here to `values`, and the texts that do not stand in the document to
  // `texts`. False: it gave up.
  bool keep(const WantedIndex& wanted, std::vector<QuickValue>& values,
            std::deque<std::string>& texts);
  // The text of the value that begins here; nullopt: it gave up.
  std::optional<std::string_view> pass();

  // Takes the next token if it is this bracket, comma or colon.
  bool take(char token);
  // A string that is a name, as it means.
  std::optional<std::string> name();
  // What the next token begins with; '\0' at the end.
  [[nodiscard]] char next() const { return text_[*at_]; }
  // The first that has not been looked into; it is looked for once in the whole text.
  [[nodiscard]] const char* backslash() const { return backslash_; }
  [[nodiscard]] std::size_t token() const { return static_cast<std::size_t>(at_ - tokens_); }
  [[nodiscard]] bool is_at_end() const { return at_ == end_; }

 private:
  struct Kept;

  bool keep_value(const WantedIndex& wanted, const JsonName& name, unsigned depth, Kept& kept);
  bool keep_object(const WantedIndex& wanted, bool is_metadata, unsigned depth, Kept& kept);
  bool keep_list(const WantedIndex& wanted, unsigned depth, Kept& kept);
  bool keep_number(std::string_view text, QuickValue& value);
  bool kept_string(std::string_view& meaning, Kept& kept);

  // Each passes over what begins with the token that has just been taken; where it ends, or
  // nullptr.
  const char* pass_value(const char* begin);
  const char* pass_scalar(const char* begin);
  // The string whose quote has just been taken: its escapes, which are all that may be wrong with
  // it.
  bool look_into_string() {
    const char* limit = text_ + *at_;
    return backslash_ >= limit || look_into_escapes(limit);
  }
  bool look_into_escapes(const char* limit);
  [[nodiscard]] const char* end_of_string() const;
  [[nodiscard]] bool is_end_of_scalar(const char* at) const;

  const char* taken() { return text_ + *at_++; }

  const char* const text_;
  const char* const text_end_;
  const std::uint32_t* const tokens_;
  const std::uint32_t* const end_;
  const std::uint32_t* at_;
  const char* backslash_;  // the first that has not been looked at, or the end of the text
};

}  // namespace cdom::api
