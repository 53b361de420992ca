// SplitStream: the body of an answer, part by part: lines with a LineSplitter, frames with a
// FrameSplitter.
#pragma once

#include <memory>
#include <string>

#include "compute_domain/http/client.h"
#include "http/client/response_source.h"
#include "http/client/stream/frame_splitter.h"
#include "http/client/stream/line_splitter.h"

namespace cdom::http {

template <class Splitter>
class SplitStream : public Stream {
 public:
  // `what` is the request, for errors: "GET https://host/path".
  SplitStream(std::unique_ptr<ResponseSource> exchange, std::string what);
  base::Result<StreamRead> next(base::Duration wait) override;
  void cancel() override;

 private:
  base::Result<StreamRead> last();

  const std::unique_ptr<ResponseSource> exchange_;
  const std::string what_;
  Splitter parts_;
  std::string last_;  // line, without a newline
};

extern template class SplitStream<LineSplitter>;
extern template class SplitStream<FrameSplitter>;

}  // namespace cdom::http
