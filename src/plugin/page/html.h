// Html: a piece of a page. Markup gets in only as a literal of this program; all that objects say
// gets in as Text, which is escaped. A std::string by itself does not compile. A value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cdom::plugin::page {

// Our own markup, known when this program is compiled.
struct Literal {
  consteval Literal(const char* text) : markup(text) {}  // NOLINT(google-explicit-constructor)
  std::string_view markup;
};

// What somebody wrote: in an element, or in an attribute between double quotes.
struct Text {
  std::string_view text;
  std::size_t most = 0;  // bytes; 0: those of a name
};

// Longest texts on a page, in bytes: names as Kubernetes allows them, and messages.
inline constexpr std::size_t kLongestName = 253;
inline constexpr std::size_t kLongestMessage = 400;

// A name, and a message of which the end may be left out.
inline Text name(std::string_view text) { return {text, kLongestName}; }
inline Text message(std::string_view text) { return {text, kLongestMessage}; }

class Html {
 public:
  Html& operator<<(Literal literal) { return html_ += literal.markup, *this; }
  Html& operator<<(Text text);
  Html& operator<<(const Html& piece) { return html_ += piece.html_, *this; }
  template <class Number>
  requires(std::is_integral_v<Number> && !std::is_same_v<Number, char> &&
           !std::is_same_v<Number, bool>) Html&
  operator<<(Number number) {
    return html_ += std::to_string(number), *this;
  }
  // "12.5", for percentages and coordinates: no more digits than a screen shows.
  Html& decimal(double number);
  // "5,004": for people.
  Html& count(std::int64_t number);

  [[nodiscard]] std::size_t size() const { return html_.size(); }
  [[nodiscard]] bool empty() const { return html_.empty(); }
  std::string take() && { return std::move(html_); }

 private:
  std::string html_;
};

// "n03, n07 and 40 more": the first `most` names, fewer where they are long, and always the count.
Html names_html(const std::vector<std::string>& names, std::size_t most);

}  // namespace cdom::plugin::page
