// FrameSplitter: frames out of pieces that were cut anywhere, as a watch in protobuf has them: the
// length in four bytes, the highest first, and as many bytes
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding).
//
// The rest of the last one is carried over to the next piece. A value, for one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cdom::http {

class FrameSplitter {
 public:
  static constexpr char kPart[] = "frame";  // for errors

  void add(std::string_view piece);
  // The next whole frame without its length; there until the next call.
  [[nodiscard]] std::optional<std::string_view> next();
  // What is left without its end; empties the splitter.
  [[nodiscard]] std::string rest();
  // Bytes of the unfinished frame, once next() has given nothing: those that its length promises
  // too.
  [[nodiscard]] std::size_t carried() const;

 private:
  std::string bytes_;
  std::size_t begin_ = 0;  // of the first frame not given out
};

}  // namespace cdom::http
