// QuickReader: reads JSON by simdjson, which takes most documents and says nothing of the others.
//
// What it takes, parse_json() takes too, and both mean the same. What it does not take (bytes that
// are not UTF-8, halves of surrogate pairs, numbers beyond 64 bits, documents deeper than a
// thousand levels) may still be JSON: parse_json() reads it, or tells what is wrong. One thread; it
// keeps its memory for the next document, unless that was a large one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json_scanner.h"
#include "api/json/json_view.h"

namespace cdom::api {

// The part of `wanted` that leads to what is wanted as text.
Wanted texts_in(const Wanted& wanted);

class QuickReader {
 public:
  // This thread's, unless a document of it is being read: nullptr then.
  class Lease;
  static Lease of_thread();

  QuickReader();
  ~QuickReader();
  QuickReader(const QuickReader&) = delete;
  QuickReader& operator=(const QuickReader&) = delete;

  // The document; good until the next call. `texts`: what of its member `below` ("": of itself) is
  // wanted as text, and the way there.
  std::optional<JsonView> read(std::string_view text, const Wanted& texts,
                               std::string_view below = "");

  // A list of objects, cut into its items. Only the items have not been looked into.
  struct Cut {
    std::vector<JsonMember> members;  // but for the items
    std::vector<std::string_view> items;
    bool has_items = false;  // which are a list
  };
  // In texts of this reader's, good until the next call of cut().
  std::optional<Cut> cut(std::string_view list);

 private:
  struct Parts;
  Parts& parts();
  void shrink();

  std::unique_ptr<Parts> parts_;
  bool is_lent_ = false;
};

class QuickReader::Lease {
 public:
  explicit Lease(QuickReader* reader);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  explicit operator bool() const { return reader_ != nullptr; }
  QuickReader* operator->() const { return reader_; }

 private:
  QuickReader* const reader_;
};

}  // namespace cdom::api
