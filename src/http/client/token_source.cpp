#include "http/client/token_source.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::http {
namespace {

// How long a token that was read is used, as in client-go for the token of a service account.
constexpr base::Duration kFresh = std::chrono::seconds(60);

}  // namespace

TokenSource::TokenSource(std::string token, std::string file, const base::Clock& clock)
    : file_(std::move(file)), clock_(clock), token_(std::move(token)) {}

base::Result<std::string> TokenSource::current() {
  const std::lock_guard lock(mutex_);
  if (file_.empty()) return token_;
  if (!read_at_ || clock_.elapsed() - *read_at_ >= kFresh) {
    if (auto read = read_file(); !read && token_.empty()) return read.error();
  }
  return token_;
}

bool TokenSource::rejected(const std::string& token) {
  const std::lock_guard lock(mutex_);
  if (file_.empty()) return false;
  // Another thread may have read the new token already.
  if (token_ == token && !read_file()) return false;
  return token_ != token;
}

base::Result<void> TokenSource::read_file() {
  std::ifstream in(file_);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    return base::Error{
        base::ErrorKind::Unavailable,
        base::cat("token file ", file_, ": ", std::generic_category().message(errno))};
  }
  // A rotation may be under way. Without a token the request would be an anonymous one.
  const std::string_view token = base::trim(text);
  if (token.empty()) {
    return base::Error{base::ErrorKind::Unavailable, base::cat("token file ", file_, " is empty")};
  }
  token_ = token;
  read_at_ = clock_.elapsed();
  return {};
}

}  // namespace cdom::http
