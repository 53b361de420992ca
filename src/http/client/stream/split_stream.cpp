#include "http/client/stream/split_stream.h"

#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::http {
namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

// A part of a watch is one object of at most some MiB; more than this is not a watch.
constexpr std::size_t kLongestPart = 64u << 20;

}  // namespace

template <class Splitter>
SplitStream<Splitter>::SplitStream(std::unique_ptr<ResponseSource> exchange, std::string what)
    : exchange_(std::move(exchange)), what_(std::move(what)) {}

template <class Splitter>
Result<StreamRead> SplitStream<Splitter>::next(base::Duration wait) {
  if (exchange_->pipe().is_cancelled()) {
    return Error{ErrorKind::Cancelled, cat(what_, ": the stream was cancelled")};
  }
  // A socket is waited for in real time, whatever the clock of the program.
  const base::SystemClock clock;
  const base::Duration start = clock.elapsed();
  while (true) {
    if (auto part = parts_.next()) return StreamRead{StreamRead::What::Line, *part};
    if (parts_.carried() > kLongestPart) {
      return Error{ErrorKind::Unavailable,
                   cat(what_, ": a ", Splitter::kPart, " of over ", kLongestPart, " bytes")};
    }
    auto piece = exchange_->pipe().read(wait - (clock.elapsed() - start));
    if (!piece) return piece.error();
    if (piece->is_end) return last();
    if (piece->bytes.empty()) return StreamRead{};
    parts_.add(piece->bytes);
    exchange_->pipe().give_back(std::move(piece->bytes));
  }
}

template <class Splitter>
void SplitStream<Splitter>::cancel() {
  exchange_->cancel();
}

// A proper end may leave a last line without a newline.
template <class Splitter>
Result<StreamRead> SplitStream<Splitter>::last() {
  last_ = parts_.rest();
  if (last_.empty()) return StreamRead{StreamRead::What::End, {}};
  return StreamRead{StreamRead::What::Line, last_};
}

template class SplitStream<LineSplitter>;
template class SplitStream<FrameSplitter>;

}  // namespace cdom::http
