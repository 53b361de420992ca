#include "sandbox/cel/token_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::cel {

namespace {

// Decimal or hexadecimal, with a minus sign or without; nullopt when it does not fit.
template <class Integer>
std::optional<Integer> integer(std::string text) {
  const auto hex = text.find_first_of("xX");
  if (hex != std::string::npos) text.erase(hex - 1, 2);
  Integer value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] =
      std::from_chars(text.data(), end, value, hex == std::string::npos ? 10 : 16);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<double> floating(const std::string& text) {
  double value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

const Token& TokenReader::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool TokenReader::is_sign(std::string_view sign, std::size_t ahead) const {
  return peek(ahead).kind == Token::Kind::Sign && peek(ahead).text == sign;
}

bool TokenReader::is_name(std::size_t ahead) const { return peek(ahead).kind == Token::Kind::Name; }

Token TokenReader::next() {
  const Token& token = peek();
  if (token.kind != Token::Kind::End) ++at_;
  return token;
}

bool TokenReader::take(std::string_view sign) {
  if (!is_sign(sign)) return false;
  ++at_;
  return true;
}

base::Result<Value> TokenReader::take_literal() {
  const bool is_negative = take("-");
  const auto value_of = [](const auto& number) {
    return number ? std::optional(Value(*number)) : std::nullopt;
  };
  const std::string text = (is_negative ? "-" : "") + peek().text;
  std::optional<Value> value;
  switch (peek().kind) {
    case Token::Kind::String:
      value = Value(peek().text);
      break;
    case Token::Kind::Int:
      value = value_of(integer<std::int64_t>(text));
      break;
    case Token::Kind::Uint:
      value = value_of(integer<std::uint64_t>(text));
      break;
    case Token::Kind::Double:
      value = value_of(floating(text));
      break;
    default:
      return unexpected("a value");
  }
  if (!value) return error(base::cat(text, " is beyond the range of its type"));
  ++at_;
  return *std::move(value);
}

std::size_t TokenReader::count_arguments() const {
  if (is_sign(")")) return 0;
  std::size_t commas = 0;
  int open = 0;
  for (std::size_t ahead = 0; peek(ahead).kind != Token::Kind::End; ++ahead) {
    if (peek(ahead).kind != Token::Kind::Sign) continue;
    const std::string_view sign = peek(ahead).text;
    if (sign == "(" || sign == "[" || sign == "[?" || sign == "{") {
      ++open;
    } else if (sign == ")" || sign == "]" || sign == "}") {
      if (--open < 0) break;
    } else if (sign == "," && open == 0) {
      ++commas;
    }
  }
  return commas + 1;
}

base::Error TokenReader::unexpected(std::string_view expected) const {
  const std::string found =
      peek().kind == Token::Kind::End ? "the end" : base::cat("'", peek().text, "'");
  return error(base::cat("expected ", expected, ", found ", found));
}

base::Error TokenReader::error_at(const Token& token, std::string_view what) {
  return {base::ErrorKind::Invalid, base::cat("at ", token.at + 1, ": ", what)};
}

}  // namespace cdom::sandbox::cel
