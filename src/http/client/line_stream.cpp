#include "http/client/line_stream.h"

#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::http {
namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

// A line of a watch is one object of at most some MiB; more than this is not a watch.
constexpr std::size_t kLongestLine = 64u << 20;

}  // namespace

LineStream::LineStream(std::unique_ptr<ResponseSource> exchange, std::string what)
    : exchange_(std::move(exchange)), what_(std::move(what)) {}

Result<StreamRead> LineStream::next(base::Duration wait) {
  if (exchange_->pipe().is_cancelled()) {
    return Error{ErrorKind::Cancelled, cat(what_, ": the stream was cancelled")};
  }
  // A socket is waited for in real time, whatever the clock of the program.
  const base::SystemClock clock;
  const base::Duration start = clock.elapsed();
  while (true) {
    if (auto line = lines_.next()) return StreamRead{StreamRead::What::Line, *line};
    if (lines_.carried() > kLongestLine) {
      return Error{ErrorKind::Unavailable, cat(what_, ": a line of over ", kLongestLine, " bytes")};
    }
    auto piece = exchange_->pipe().read(wait - (clock.elapsed() - start));
    if (!piece) return piece.error();
    if (piece->is_end) return last();
    if (piece->bytes.empty()) return StreamRead{};
    lines_.add(piece->bytes);
    exchange_->pipe().give_back(std::move(piece->bytes));
  }
}

void LineStream::cancel() { exchange_->cancel(); }

// A proper end may leave a last line without a newline.
Result<StreamRead> LineStream::last() {
  last_ = lines_.rest();
  if (last_.empty()) return StreamRead{StreamRead::What::End, {}};
  return StreamRead{StreamRead::What::Line, last_};
}

}  // namespace cdom::http
