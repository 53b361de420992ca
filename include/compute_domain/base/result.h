// Result: a value or the Error that stands in its place.
//
// Shaped like std::expected. The kind of an Error says what the caller can do about it; one switch
// in the controller turns it into a retry policy. Values, not shared between threads.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace cdom::base {

enum class ErrorKind {
  NotFound,       // the object is absent
  AlreadyExists,  // a create lost a race; read it back
  Conflict,       // our snapshot is stale; read again and re-plan
  Expired,        // the watch position is too old; list again
  Invalid,        // retrying cannot help until a person changes something
  Forbidden,      // as Invalid, but RBAC is at fault, or the credentials are
  Unavailable,    // try again after a backoff
  Cancelled,      // we are shutting down
};

// The enumerator's name, as in logs and metrics labels: "NotFound".
std::string_view name_of(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::Unavailable;
  // One line that names the object, the field and the remedy, without a trailing period.
  std::string message;
  // When the server said how long to wait (Retry-After).
  std::optional<std::chrono::nanoseconds> retry_after = std::nullopt;
  // An API server has answered so. False: nothing has answered, or nothing was asked.
  bool is_answer = false;
  // The server does not know who asks (401). Forbidden, and no right that somebody gives can help.
  bool is_unauthenticated = false;

  friend bool operator==(const Error&, const Error&) = default;
};

// What the caller gave cannot be.
inline Error invalid(std::string message) { return {ErrorKind::Invalid, std::move(message)}; }

// "NotFound: computedomains.resource.nvidia.com "a" not found".
std::string to_string(const Error& error);

template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor): `return value;` and `return Error{…};` are the point
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return content_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // The value; throws std::logic_error when there is none (a broken invariant of the caller).
  T& value() & { return check(), std::get<0>(content_); }
  const T& value() const& { return check(), std::get<0>(content_); }
  T&& value() && { return check(), std::get<0>(std::move(content_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // The error; only when has_value() is false.
  [[nodiscard]] const Error& error() const { return std::get<1>(content_); }

 private:
  void check() const {
    if (!has_value()) throw std::logic_error("Result without value: " + to_string(error()));
  }
  std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace cdom::base
