// Snapshot: the objects of a bucket as of one write, in order of key.
//
// A treap that is never changed: with() and without() give another snapshot, which shares all with
// this one but the way from the root to the key. So every write leaves the state before it behind
// for the price of that way, any place in a list is found without passing what lies before it, and
// what lies behind it is counted without passing it. A value; copies are cheap.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sandbox/apiserver/storage/stored_object.h"

namespace cdom::sandbox::server {

class Snapshot {
 public:
  Snapshot() = default;

  [[nodiscard]] std::size_t size() const;
  // Null when there is none.
  [[nodiscard]] Object find(std::string_view key) const;
  // How many have a key of at least `from` that begins with `prefix`.
  [[nodiscard]] std::size_t count(std::string_view from, std::string_view prefix) const;
  // Passes those to `visit` in order of key until it gives false.
  using Visit = std::function<bool(const std::string& key, const Object& object)>;
  void walk(std::string_view from, std::string_view prefix, const Visit& visit) const;

  [[nodiscard]] Snapshot with(const std::string& key, Object object) const;
  [[nodiscard]] Snapshot without(std::string_view key) const;

 private:
  struct Node;
  using Tree = std::shared_ptr<const Node>;
  explicit Snapshot(Tree root) : root_(std::move(root)) {}

  static std::size_t size_of(const Tree& tree);
  static Tree node(const Node& like, Tree left, Tree right);
  static Tree put(const Tree& tree, const std::string& key, Object object);
  static Tree erase(const Tree& tree, std::string_view key);
  static Tree merge(const Tree& left, const Tree& right);
  static bool walk(const Tree& tree, std::string_view from, std::string_view prefix,
                   const Visit& visit);
  [[nodiscard]] std::size_t before(std::string_view key) const;

  Tree root_;
};

}  // namespace cdom::sandbox::server
