#include "sandbox/apiserver/storage/snapshot.h"

#include <algorithm>

namespace cdom::sandbox::server {

struct Snapshot::Node {
  std::shared_ptr<const std::string> key;
  Object object;
  // Of a parent at least that of its children, which balances the tree as if keys came by chance.
  std::size_t priority = 0;
  Tree left, right;
  std::size_t size = 1;
};

std::size_t Snapshot::size_of(const Tree& tree) { return tree ? tree->size : 0; }

Snapshot::Tree Snapshot::node(const Node& like, Tree left, Tree right) {
  const std::size_t size = size_of(left) + 1 + size_of(right);
  return std::make_shared<const Node>(
      Node{like.key, like.object, like.priority, std::move(left), std::move(right), size});
}

std::size_t Snapshot::size() const { return size_of(root_); }

Object Snapshot::find(std::string_view key) const {
  const Node* at = root_.get();
  while (at != nullptr && *at->key != key) at = (key < *at->key ? at->left : at->right).get();
  return at == nullptr ? nullptr : at->object;
}

std::size_t Snapshot::before(std::string_view key) const {
  std::size_t count = 0;
  for (const Node* at = root_.get(); at != nullptr;) {
    if (*at->key < key) {
      count += size_of(at->left) + 1;
      at = at->right.get();
    } else {
      at = at->left.get();
    }
  }
  return count;
}

std::size_t Snapshot::count(std::string_view from, std::string_view prefix) const {
  const std::string_view first = std::max(from, prefix);
  if (prefix.empty()) return size() - before(first);
  std::string end(prefix);
  ++end.back();  // the least key behind all that begin so: prefixes end with a slash
  return before(end) - std::min(before(first), before(end));
}

bool Snapshot::walk(const Tree& tree, std::string_view from, std::string_view prefix,
                    const Visit& visit) {
  if (!tree) return true;
  if (*tree->key >= from) {
    if (!walk(tree->left, from, prefix, visit)) return false;
    if (!tree->key->starts_with(prefix) || !visit(*tree->key, tree->object)) return false;
  }
  return walk(tree->right, from, prefix, visit);
}

void Snapshot::walk(std::string_view from, std::string_view prefix, const Visit& visit) const {
  walk(root_, std::max(from, prefix), prefix, visit);
}

Snapshot::Tree Snapshot::put(const Tree& tree, const std::string& key, Object object) {
  if (!tree) {
    return std::make_shared<const Node>(Node{std::make_shared<const std::string>(key),
                                             std::move(object), std::hash<std::string>{}(key),
                                             nullptr, nullptr, 1});
  }
  if (key == *tree->key) {
    Node changed = *tree;
    changed.object = std::move(object);
    return std::make_shared<const Node>(std::move(changed));
  }
  // A child of a higher priority than its parent takes its place.
  if (key < *tree->key) {
    Tree left = put(tree->left, key, std::move(object));
    if (left->priority <= tree->priority) return node(*tree, std::move(left), tree->right);
    return node(*left, left->left, node(*tree, left->right, tree->right));
  }
  Tree right = put(tree->right, key, std::move(object));
  if (right->priority <= tree->priority) return node(*tree, tree->left, std::move(right));
  return node(*right, node(*tree, tree->left, right->left), right->right);
}

Snapshot::Tree Snapshot::merge(const Tree& left, const Tree& right) {
  if (!left || !right) return left ? left : right;
  return left->priority > right->priority ? node(*left, left->left, merge(left->right, right))
                                          : node(*right, merge(left, right->left), right->right);
}

Snapshot::Tree Snapshot::erase(const Tree& tree, std::string_view key) {
  if (!tree) return tree;
  if (key == *tree->key) return merge(tree->left, tree->right);
  return key < *tree->key ? node(*tree, erase(tree->left, key), tree->right)
                          : node(*tree, tree->left, erase(tree->right, key));
}

Snapshot Snapshot::with(const std::string& key, Object object) const {
  return Snapshot(put(root_, key, std::move(object)));
}

Snapshot Snapshot::without(std::string_view key) const { return Snapshot(erase(root_, key)); }

}  // namespace cdom::sandbox::server
