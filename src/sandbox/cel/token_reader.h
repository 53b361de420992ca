// TokenReader: the place in a CEL expression that the parser has reached. One owner.
#pragma once

#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"
#include "sandbox/cel/lexer.h"
#include "sandbox/cel/value.h"

namespace cdom::sandbox::cel {

class TokenReader {
 public:
  // `tokens` ends with a token of kind End, at which the reader stays.
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
  [[nodiscard]] bool is_sign(std::string_view sign, std::size_t ahead = 0) const;
  [[nodiscard]] bool is_name(std::size_t ahead = 0) const;
  Token next();
  // Steps over the sign when it stands here.
  bool take(std::string_view sign);

  // A number or string, with the minus sign before a number.
  base::Result<Value> take_literal();

  // How many arguments stand between here and the parenthesis that closes.
  [[nodiscard]] std::size_t count_arguments() const;

  // "at 7: expected ')', found the end".
  [[nodiscard]] base::Error unexpected(std::string_view expected) const;
  [[nodiscard]] base::Error error(std::string_view what) const { return error_at(peek(), what); }
  [[nodiscard]] static base::Error error_at(const Token& token, std::string_view what);

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace cdom::sandbox::cel
