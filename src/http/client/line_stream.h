// LineStream: the body of an answer, line by line.
#pragma once

#include <memory>
#include <string>

#include "compute_domain/http/client.h"
#include "http/client/line_splitter.h"
#include "http/client/response_source.h"

namespace cdom::http {

class LineStream : public Stream {
 public:
  // `what` is the request, for errors: "GET https://host/path".
  LineStream(std::unique_ptr<ResponseSource> exchange, std::string what);
  base::Result<StreamRead> next(base::Duration wait) override;
  void cancel() override;

 private:
  base::Result<StreamRead> last();

  const std::unique_ptr<ResponseSource> exchange_;
  const std::string what_;
  LineSplitter lines_;
  std::string last_;  // line, without a newline
};

}  // namespace cdom::http
