// JsonScanner: walks over JSON text and takes what Go's encoding/json takes, as an API server hands
// on what others have written. Builds nothing, recurses nowhere, and so has no limit of depth.
//
// A string may hold bytes that are not UTF-8, and escapes of half a surrogate pair;
// text_of_string() puts U+FFFD in their place. The scanned text has to outlive the scanner. One
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::api {

class JsonScanner {
 public:
  enum class Token {
    BeginObject,
    EndObject,
    BeginList,
    EndList,
    Key,
    String,
    Number,
    Word,  // true, false or null
    End,
    Broken,  // the text is not JSON; there is no more
  };

  explicit JsonScanner(std::string_view text) : text_(text) {}

  Token next();
  // The last token as it stands in the text, a string with its quotes.
  [[nodiscard]] std::string_view token_text() const {
    return text_.substr(token_at_, token_end_ - token_at_);
  }
  // Passes over what is left of the value that the last token has begun; the text of all of it,
  // which is empty when it breaks off.
  std::string_view rest_of_value();
  // Once next() has given Broken: "not JSON: parse error at line 1, column 2: …".
  [[nodiscard]] base::Error error() const;

 private:
  enum class Wants { Value, ValueOrEnd, KeyOrEnd, CommaOrEnd };

  Token scan();
  Token value();
  Token key();
  Token open(bool is_object);
  Token close();
  Token word(std::string_view word);
  Token number();
  bool pass_string();
  bool pass_escape();
  bool pass_digits();
  void pass_space();
  Token broken(std::string_view problem);
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t token_at_ = 0, token_end_ = 0;  // of the last token
  Wants wants_ = Wants::Value;
  std::vector<bool> open_;    // objects (true) and lists that have not ended, from the outermost
  std::string_view problem_;  // that is at at_; empty: none
};

// What a key or string means, `quoted` being its token_text().
std::string text_of_string(std::string_view quoted);
// The same of bytes that are no JSON: each that is not of a character of UTF-8 becomes U+FFFD.
void assign_as_utf8(std::string& out, std::string_view bytes);

// A member of an object, with the text of its value.
struct JsonMember {
  std::string name;
  std::string_view value;
};
// The members of an object, in their order.
base::Result<std::vector<JsonMember>> members_in(std::string_view object);
// The texts of a list's elements.
base::Result<std::vector<std::string_view>> elements_in(std::string_view list);

}  // namespace cdom::api
