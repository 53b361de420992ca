// QuickReader: reads most JSON documents, with the structure that simdjson finds
// (structure_walk.h), and gives nullopt for the others.
//
// parse_json() takes every document that it takes, with the same result. What it does not take
// (bytes that are not UTF-8, numbers beyond 64 bits, documents deeper than 64 levels) may still be
// JSON: parse_json() reads it, or says what is wrong. One thread; it keeps its memory for the next
// document, unless the last one was large.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json_scanner.h"
#include "api/json/json_view.h"
#include "api/json/wanted_index.h"

namespace cdom::api {

class StructureWalk;

class QuickReader {
 public:
  // This thread's, unless a document of it is being read: nullptr then.
  class Lease;
  static Lease of_thread();

  QuickReader();
  ~QuickReader();
  QuickReader(const QuickReader&) = delete;
  QuickReader& operator=(const QuickReader&) = delete;

  // What of the document is wanted; good until the next call of any of these.
  std::optional<JsonView> read(std::string_view text, const WantedIndex& wanted);

  // A list of objects, cut into its items. All of it is JSON.
  struct Cut {
    std::vector<JsonMember> members;  // but for the items
    std::vector<std::string_view> items;
    bool has_items = false;  // which are a list
  };
  // In texts of this reader's, good until it reads or cuts another one.
  std::optional<Cut> cut(std::string_view list);
  // What is wanted of an item of the list that was cut; good until the next call of any of these.
  std::optional<JsonView> item(std::size_t index, const WantedIndex& wanted);

 private:
  struct Parts;
  // The structure of the text, a copy of which is kept.
  bool find_structure(std::string_view text);
  std::optional<JsonView> keep(StructureWalk& walk, const WantedIndex& wanted);
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
