#include "json_scanner.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "compute_domain/base/text.h"
#include "compute_domain/base/utf8.h"

namespace cdom::api {

namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_decimal(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_surrogate(std::uint32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

// Four digits, which the scanner has seen.
std::uint32_t hex4(std::string_view digits) {
  std::uint32_t code = 0;
  for (const char c : digits.substr(0, 4)) {
    code = code << 4U | static_cast<std::uint32_t>(hex_digit(c));
  }
  return code;
}

bool is_ascii(std::string_view text) {
  // Eight bytes at a time: it is asked of every string that comes.
  constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;
  std::uint64_t bits = 0;
  std::size_t i = 0;
  for (; i + sizeof bits <= text.size(); i += sizeof bits) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, sizeof word);
    bits |= word;
  }
  for (; i < text.size(); ++i) bits |= static_cast<unsigned char>(text[i]);
  return (bits & kHighBits) == 0;
}

// Appends what the escape at the start of `rest` means; its length.
std::size_t append_escape(std::string& out, std::string_view rest) {
  switch (rest[1]) {
    case 'b':
      out += '\b';
      return 2;
    case 'f':
      out += '\f';
      return 2;
    case 'n':
      out += '\n';
      return 2;
    case 'r':
      out += '\r';
      return 2;
    case 't':
      out += '\t';
      return 2;
    case 'u':
      break;
    default:
      out += rest[1];
      return 2;
  }
  const std::uint32_t code = hex4(rest.substr(2));
  if (!is_surrogate(code)) {
    base::append_utf8(out, code);
    return 6;
  }
  if (code < 0xDC00 && rest.size() >= 12 && rest.substr(6, 2) == "\\u") {
    const std::uint32_t low = hex4(rest.substr(8));
    if (low >= 0xDC00 && low <= 0xDFFF) {
      base::append_utf8(out, 0x10000U + ((code - 0xD800U) << 10U) + (low - 0xDC00U));
      return 12;
    }
  }
  out += base::kReplacementCharacter;
  return 6;
}

// Appends the character at the start of `rest`, or U+FFFD for a byte that is part of none; its
// length.
std::size_t append_character(std::string& out, std::string_view rest) {
  if (const std::size_t length = base::character_size(rest); length > 0) {
    out += rest.substr(0, length);
    return length;
  }
  out += base::kReplacementCharacter;
  return 1;
}

}  // namespace

std::string text_of_string(std::string_view quoted) {
  std::string_view rest = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(rest.size());
  while (!rest.empty()) {
    rest.remove_prefix(rest[0] == '\\' ? append_escape(out, rest) : append_character(out, rest));
  }
  return out;
}

void assign_as_utf8(std::string& out, std::string_view bytes) {
  if (is_ascii(bytes)) {
    out = bytes;
    return;
  }
  out.clear();
  while (!bytes.empty()) bytes.remove_prefix(append_character(out, bytes));
}

JsonScanner::Token JsonScanner::next() {
  if (!problem_.empty()) return Token::Broken;
  const Token token = scan();
  if (token != Token::Key) token_end_ = at_;
  return token;
}

std::string_view JsonScanner::rest_of_value() {
  const std::size_t begin = token_at_;
  const char first = begin < text_.size() ? text_[begin] : '\0';
  if (first == '{' || first == '[') {
    for (const std::size_t depth = open_.size(); open_.size() >= depth;) {
      if (next() == Token::Broken) return {};
    }
  }
  return text_.substr(begin, token_end_ - begin);
}

base::Error JsonScanner::error() const {
  const std::string_view before = text_.substr(0, at_);
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return base::invalid(base::cat("not JSON: parse error at line ", line, ", column ",
                                 at_ - line_begin + 1, ": ", problem_));
}

JsonScanner::Token JsonScanner::scan() {
  pass_space();
  token_at_ = at_;
  switch (wants_) {
    case Wants::Value:
      return value();
    case Wants::ValueOrEnd:
      return here() == ']' ? close() : value();
    case Wants::KeyOrEnd:
      return here() == '}' ? close() : key();
    case Wants::CommaOrEnd:
      break;
  }
  if (open_.empty()) {
    return at_ == text_.size() ? Token::End : broken("there is more behind the end");
  }
  if (here() == (open_.back() ? '}' : ']')) return close();
  if (here() != ',') {
    return broken(open_.back() ? "a comma or } is expected" : "a comma or ] is expected");
  }
  ++at_;
  pass_space();
  token_at_ = at_;
  return open_.back() ? key() : value();
}

JsonScanner::Token JsonScanner::value() {
  const char c = here();
  if (c == '{') return open(true);
  if (c == '[') return open(false);
  wants_ = Wants::CommaOrEnd;
  if (c == '"') return pass_string() ? Token::String : Token::Broken;
  if (c == '-' || is_decimal(c)) return number();
  if (c == 't') return word("true");
  if (c == 'f') return word("false");
  if (c == 'n') return word("null");
  return broken("a value is expected");
}

JsonScanner::Token JsonScanner::key() {
  if (here() != '"') return broken("a key in quotes is expected");
  if (!pass_string()) return Token::Broken;
  token_end_ = at_;
  pass_space();
  if (here() != ':') return broken("a colon is expected");
  ++at_;
  wants_ = Wants::Value;
  return Token::Key;
}

JsonScanner::Token JsonScanner::open(bool is_object) {
  ++at_;
  open_.push_back(is_object);
  wants_ = is_object ? Wants::KeyOrEnd : Wants::ValueOrEnd;
  return is_object ? Token::BeginObject : Token::BeginList;
}

JsonScanner::Token JsonScanner::close() {
  ++at_;
  const bool was_object = open_.back();
  open_.pop_back();
  wants_ = Wants::CommaOrEnd;
  return was_object ? Token::EndObject : Token::EndList;
}

JsonScanner::Token JsonScanner::word(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return broken("a value is expected");
  at_ += word.size();
  return Token::Word;
}

JsonScanner::Token JsonScanner::number() {
  if (here() == '-') ++at_;
  if (here() == '0') {
    ++at_;
  } else if (!pass_digits()) {
    return broken("a digit is expected");
  }
  if (here() == '.') {
    ++at_;
    if (!pass_digits()) return broken("a digit is expected");
  }
  if (here() == 'e' || here() == 'E') {
    ++at_;
    if (here() == '+' || here() == '-') ++at_;
    if (!pass_digits()) return broken("a digit is expected");
  }
  return Token::Number;
}

bool JsonScanner::pass_digits() {
  const std::size_t begin = at_;
  while (is_decimal(here())) ++at_;
  return at_ > begin;
}

bool JsonScanner::pass_string() {
  for (++at_; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < ' ') {
      broken("a control character must be escaped");
      return false;
    }
    if (c == '\\' && !pass_escape()) return false;
  }
  broken("the string does not end");
  return false;
}

// Leaves the scanner on the last character of the escape.
bool JsonScanner::pass_escape() {
  ++at_;
  const char letter = here();
  if (letter == 'u') {
    const std::string_view digits = text_.substr(at_ + 1, 4);
    const auto is_hex = [](char c) { return hex_digit(c) >= 0; };
    if (digits.size() == 4 && std::ranges::all_of(digits, is_hex)) {
      at_ += 4;
      return true;
    }
  } else if (letter != '\0' &&
             std::string_view("\"\\/bfnrt").find(letter) != std::string_view::npos) {
    return true;
  }
  broken("it is not an escape");
  return false;
}

void JsonScanner::pass_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    ++at_;
  }
}

JsonScanner::Token JsonScanner::broken(std::string_view problem) {
  problem_ = problem;
  return Token::Broken;
}

base::Result<std::vector<JsonMember>> members_in(std::string_view object) {
  using Token = JsonScanner::Token;
  JsonScanner scanner(object);
  const Token first = scanner.next();
  if (first == Token::Broken) return scanner.error();
  if (first != Token::BeginObject) return base::invalid("must be an object");
  std::vector<JsonMember> members;
  while (scanner.next() == Token::Key) {
    std::string name = text_of_string(scanner.token_text());
    (void)scanner.next();
    members.push_back({std::move(name), scanner.rest_of_value()});
  }
  if (scanner.next() != Token::End) return scanner.error();
  return members;
}

base::Result<std::vector<std::string_view>> elements_in(std::string_view list) {
  using Token = JsonScanner::Token;
  JsonScanner scanner(list);
  const Token first = scanner.next();
  if (first == Token::Broken) return scanner.error();
  if (first != Token::BeginList) return base::invalid("must be a list");
  std::vector<std::string_view> elements;
  for (Token token = scanner.next(); token != Token::EndList; token = scanner.next()) {
    if (token == Token::Broken) return scanner.error();
    elements.push_back(scanner.rest_of_value());
  }
  if (scanner.next() != Token::End) return scanner.error();
  return elements;
}

}  // namespace cdom::api
