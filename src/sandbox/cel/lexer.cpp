#include "sandbox/cel/lexer.h"

#include <cctype>
#include <charconv>
#include <cstdint>

#include "compute_domain/base/text.h"
#include "compute_domain/base/utf8.h"

namespace cdom::sandbox::cel {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_hex_digit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  base::Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    while (true) {
      skip_blanks();
      auto token = next();
      if (!token) return token.error();
      tokens.push_back(*std::move(token));
      if (tokens.back().kind == Token::Kind::End) return tokens;
    }
  }

 private:
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  [[nodiscard]] base::Error error(std::string_view what) const {
    return {base::ErrorKind::Invalid, base::cat("at ", at_ + 1, ": ", what)};
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (rest().starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
        ++at_;
      } else {
        return;
      }
    }
  }

  base::Result<Token> next() {
    const std::size_t start = at_;
    if (at_ == text_.size()) return Token{Token::Kind::End, "", start};
    if (is_digit(peek())) return number();
    const bool is_raw = (peek() == 'r' || peek() == 'R') && (peek(1) == '"' || peek(1) == '\'');
    if (is_raw || peek() == '"' || peek() == '\'') return string(is_raw);
    if ((peek() == 'b' || peek() == 'B') && (peek(1) == '"' || peek(1) == '\'')) {
      return error("bytes literals are not supported");
    }
    if (is_name_start(peek())) {
      while (is_name_part(peek())) ++at_;
      return Token{Token::Kind::Name, std::string(text_.substr(start, at_ - start)), start};
    }
    for (const std::string_view sign : {"==", "!=", "<=", ">=", "&&", "||", ".?", "[?"}) {
      if (rest().starts_with(sign)) return take_sign(sign);
    }
    constexpr std::string_view kSigns = "<>+-*/%!?:.,()[]{}";
    if (kSigns.find(peek()) != std::string_view::npos) return take_sign(rest().substr(0, 1));
    return error(base::cat("'", peek(), "' is not part of CEL"));
  }

  Token take_sign(std::string_view sign) {
    const std::size_t start = at_;
    at_ += sign.size();
    return {Token::Kind::Sign, std::string(sign), start};
  }

  base::Result<Token> number() {
    const std::size_t start = at_;
    Token::Kind kind = Token::Kind::Int;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at_ += 2;
      while (is_hex_digit(peek())) ++at_;
    } else {
      while (is_digit(peek())) ++at_;
      if (peek() == '.' && is_digit(peek(1))) {
        kind = Token::Kind::Double;
        ++at_;
        while (is_digit(peek())) ++at_;
      }
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
        kind = Token::Kind::Double;
        at_ += 1 + sign;
        while (is_digit(peek())) ++at_;
      }
    }
    Token token{kind, std::string(text_.substr(start, at_ - start)), start};
    if (kind == Token::Kind::Int && (peek() == 'u' || peek() == 'U')) {
      token.kind = Token::Kind::Uint;
      ++at_;
    }
    if (is_name_part(peek())) return error("a number ends in letters");
    return token;
  }

  base::Result<Token> string(bool is_raw) {
    const std::size_t start = at_;
    if (is_raw) ++at_;
    const std::size_t quotes = rest().substr(0, 3) == std::string(3, peek()) ? 3 : 1;
    const std::string_view quote = rest().substr(0, quotes);
    at_ += quotes;
    std::string out;
    while (!rest().starts_with(quote)) {
      if (at_ == text_.size() || (quotes == 1 && peek() == '\n')) {
        return error("a string has no closing quote");
      }
      if (peek() == '\\' && !is_raw) {
        if (auto escaped = escape(out); !escaped) return escaped.error();
      } else {
        out += text_[at_++];
      }
    }
    at_ += quotes;
    return Token{Token::Kind::String, std::move(out), start};
  }

  base::Result<void> escape(std::string& out) {
    constexpr std::string_view kNames = "abfnrtv\\'\"`?", kMeant = "\a\b\f\n\r\t\v\\'\"`?";
    const char name = peek(1);
    if (const auto at = kNames.find(name); at != std::string_view::npos) {
      out += kMeant[at];
      at_ += 2;
      return {};
    }
    const bool is_octal = name >= '0' && name <= '3';
    const std::size_t digits = is_octal                     ? 3
                               : name == 'x' || name == 'X' ? 2
                               : name == 'u'                ? 4
                               : name == 'U'                ? 8
                                                            : 0;
    const std::string_view code =
        rest().substr(std::min(rest().size(), is_octal ? 1UL : 2UL), digits);
    std::uint32_t point = 0;
    const auto [end, failed] =
        std::from_chars(code.data(), code.data() + code.size(), point, is_octal ? 8 : 16);
    if (digits == 0 || code.size() < digits || failed != std::errc() ||
        end != code.data() + code.size() || point > 0x10FFFF) {
      return error("an escape in a string that CEL does not know");
    }
    base::append_utf8(out, point);
    at_ += (is_octal ? 1 : 2) + digits;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

base::Result<std::vector<Token>> tokens_of(std::string_view expression) {
  return Lexer(expression).run();
}

}  // namespace cdom::sandbox::cel
