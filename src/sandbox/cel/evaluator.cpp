#include "sandbox/cel/evaluator.h"

#include "compute_domain/base/text.h"

namespace cdom::sandbox::cel {

namespace {

using Kind = Expression::Kind;
using Evaluated = base::Result<Value>;

using base::invalid;

base::Error no_overload(std::string_view name, const Value& value) {
  return no_such_overload(name, std::span<const Value>(&value, 1));
}

// A variable of a macro, within the ones around it.
struct Scope {
  std::string_view name;
  const Value& value;
  const Scope* outer;
};

std::string key_text(const Value& key) {
  if (const std::string* text = key.text()) return *text;
  if (const auto* number = key.get_if<std::int64_t>()) return std::to_string(*number);
  return std::string(key.type_name());
}

// container[key], or nothing when it is not there; an error when the container has no such keys.
base::Result<std::optional<Value>> find(const Value& container, const Value& key) {
  if (const Map* map = container.map()) {
    const std::string* text = key.text();
    const auto found = text != nullptr ? map->entries.find(*text) : map->entries.end();
    if (found != map->entries.end()) return std::optional(found->second);
    if (map->absent_is_empty_map && text != nullptr) return std::optional(Value(Map{}));
    return std::optional<Value>();
  }
  if (const List* list = container.list()) {
    const auto* index = key.get_if<std::int64_t>();
    if (index == nullptr) return no_overload("list index", key);
    if (*index < 0 || *index >= static_cast<std::int64_t>(list->size())) {
      return std::optional<Value>();
    }
    return std::optional((*list)[static_cast<std::size_t>(*index)]);
  }
  return no_overload(base::cat("field or index '", key_text(key), "'"), container);
}

class Evaluation {
 public:
  Evaluation(const Bindings& bindings, int max_steps) : bindings_(bindings), steps_(max_steps) {}

  Evaluated run(const Expression& node, const Scope* scope) {
    if (--steps_ < 0) return invalid("the expression takes too many steps");
    auto value = dispatch(node, scope);
    if (!value) return value;
    if (const auto* failure = value->get_if<Failure>()) return *failure->error;
    return value;
  }

 private:
  Evaluated dispatch(const Expression& node, const Scope* scope) {
    switch (node.kind) {
      case Kind::Literal:
        return node.literal;
      case Kind::Variable:
        return variable(node, scope);
      case Kind::Member:
      case Kind::Index:
        return select(node, scope);
      case Kind::Has:
        return has(node, scope);
      case Kind::MakeList:
        return list(node, scope);
      case Kind::MakeMap:
        return map(node, scope);
      case Kind::Call:
        return call(node, scope);
      case Kind::And:
        return decide(node, scope, false);
      case Kind::Or:
        return decide(node, scope, true);
      case Kind::Conditional:
        return conditional(node, scope);
      case Kind::All:
        return quantifier(node, scope, false);
      case Kind::Exists:
        return quantifier(node, scope, true);
      case Kind::ExistsOne:
        return exists_one(node, scope);
      case Kind::Filter:
      case Kind::Transform:
        return transform(node, scope);
      case Kind::Bind:
        return bind(node, scope);
      case Kind::OptionalMap:
      case Kind::OptionalFlatMap:
        return optional_map(node, scope);
      case Kind::OptionalOr:
      case Kind::OptionalOrValue:
        return optional_or(node, scope);
    }
    return invalid("unknown expression");
  }

  Evaluated variable(const Expression& node, const Scope* scope) const {
    for (; scope != nullptr; scope = scope->outer) {
      if (scope->name == node.name) return scope->value;
    }
    const auto bound = bindings_.find(node.name);
    if (bound == bindings_.end()) return invalid(base::cat("no such attribute: ", node.name));
    return bound->second;
  }

  // Once a chain has become optional (a.?b), what follows (.c) is optional too.
  Evaluated select(const Expression& node, const Scope* scope) {
    auto container = run(*node.operands[0], scope);
    if (!container) return container;
    Evaluated key = Value(node.name);
    if (node.kind == Kind::Index) key = run(*node.operands[1], scope);
    if (!key) return key;

    const auto* optional = container->get_if<Optional>();
    if (optional != nullptr && optional->value == nullptr) return container;
    auto found = find(optional != nullptr ? *optional->value : *container, *key);
    if (!found) return found.error();
    if (optional != nullptr || node.is_optional) {
      return *found ? Value::optional_of(**found) : Value::optional_none();
    }
    if (*found) return **found;
    return invalid(container->list() != nullptr ? base::cat("index out of bounds: ", key_text(*key))
                                                : base::cat("no such key: ", key_text(*key)));
  }

  Evaluated has(const Expression& node, const Scope* scope) {
    auto container = run(*node.operands[0], scope);
    if (!container) return container;
    const auto* optional = container->get_if<Optional>();
    if (optional != nullptr && optional->value == nullptr) return Value(false);
    const Value& inner = optional != nullptr ? *optional->value : *container;
    if (inner.map() == nullptr) return no_overload(base::cat("has ", node.name), inner);
    return Value(inner.map()->entries.contains(node.name));
  }

  base::Result<List> all_of(const Expression& node, const Scope* scope) {
    List values;
    values.reserve(node.operands.size());
    for (const Node& operand : node.operands) {
      auto value = run(*operand, scope);
      if (!value) return value.error();
      values.push_back(*std::move(value));
    }
    return values;
  }

  Evaluated list(const Expression& node, const Scope* scope) {
    auto values = all_of(node, scope);
    if (!values) return values.error();
    return Value(*std::move(values));
  }

  Evaluated map(const Expression& node, const Scope* scope) {
    auto values = all_of(node, scope);
    if (!values) return values.error();
    Map map;
    for (std::size_t i = 0; i < values->size(); i += 2) {
      const std::string* key = (*values)[i].text();
      if (key == nullptr) return invalid("map keys other than strings are not supported");
      if (!map.entries.emplace(*key, (*values)[i + 1]).second) {
        return invalid(base::cat("repeated key: ", *key));
      }
    }
    return Value(std::move(map));
  }

  Evaluated call(const Expression& node, const Scope* scope) {
    auto arguments = all_of(node, scope);
    if (!arguments) return arguments.error();
    if (node.pattern && arguments->front().text() != nullptr) {
      return Value(node.pattern->is_found_in(*arguments->front().text()));
    }
    return node.function->evaluate(*arguments);
  }

  // && (decisive: false) and || (decisive: true): a decisive side wins over the other's error.
  Evaluated decide(const Expression& node, const Scope* scope, bool decisive) {
    Evaluated outcome = Value(!decisive);
    for (const Node& operand : node.operands) {
      auto side = run(*operand, scope);
      if (side && side->get_if<bool>() == nullptr) {
        side = no_overload(decisive ? "||" : "&&", *side);
      }
      if (side && *side->get_if<bool>() == decisive) return side;
      if (outcome && !side) outcome = std::move(side);
    }
    return outcome;
  }

  Evaluated conditional(const Expression& node, const Scope* scope) {
    auto condition = run(*node.operands[0], scope);
    if (!condition) return condition;
    const bool* chosen = condition->get_if<bool>();
    if (chosen == nullptr) return no_overload("?:", *condition);
    return run(*node.operands[*chosen ? 1 : 2], scope);
  }

  // What a macro goes over: the elements of a list, the keys of a map.
  base::Result<List> range(const Expression& node, const Scope* scope) {
    auto value = run(*node.operands[0], scope);
    if (!value) return value.error();
    if (const List* list = value->list()) return *list;
    if (value->map() == nullptr) return no_overload("a macro over", *value);
    List keys;
    for (const auto& [key, member] : value->map()->entries) keys.emplace_back(key);
    return keys;
  }

  base::Result<bool> holds(const Expression& predicate, const Scope* scope) {
    auto value = run(predicate, scope);
    if (!value) return value.error();
    if (const bool* flag = value->get_if<bool>()) return *flag;
    return no_overload("a predicate", *value);
  }

  // all (decisive: false) and exists (decisive: true), with the errors of && and ||.
  Evaluated quantifier(const Expression& node, const Scope* scope, bool decisive) {
    auto elements = range(node, scope);
    if (!elements) return elements.error();
    Evaluated outcome = Value(!decisive);
    for (const Value& element : *elements) {
      const Scope inner{node.name, element, scope};
      const auto flag = holds(*node.operands[1], &inner);
      if (flag && *flag == decisive) return Value(decisive);
      if (outcome && !flag) outcome = flag.error();
    }
    return outcome;
  }

  Evaluated exists_one(const Expression& node, const Scope* scope) {
    auto elements = range(node, scope);
    if (!elements) return elements.error();
    int count = 0;
    for (const Value& element : *elements) {
      const Scope inner{node.name, element, scope};
      const auto flag = holds(*node.operands[1], &inner);
      if (!flag) return flag.error();
      if (*flag) ++count;
    }
    return Value(count == 1);
  }

  // filter(x, predicate), map(x, value) and map(x, predicate, value).
  Evaluated transform(const Expression& node, const Scope* scope) {
    auto elements = range(node, scope);
    if (!elements) return elements.error();
    const bool is_filter = node.kind == Kind::Filter;
    const Expression* predicate =
        is_filter || node.operands.size() == 3 ? node.operands[1].get() : nullptr;
    List out;
    for (const Value& element : *elements) {
      const Scope inner{node.name, element, scope};
      if (predicate != nullptr) {
        const auto flag = holds(*predicate, &inner);
        if (!flag) return flag.error();
        if (!*flag) continue;
      }
      auto value = is_filter ? Evaluated(element) : run(*node.operands.back(), &inner);
      if (!value) return value;
      out.push_back(*std::move(value));
    }
    return Value(std::move(out));
  }

  Evaluated bind(const Expression& node, const Scope* scope) {
    // Bound as it is, so that an error is only seen where the variable is read.
    auto value = run(*node.operands[0], scope);
    const Value bound = value ? *value : Value::failure(value.error());
    const Scope inner{node.name, bound, scope};
    return run(*node.operands[1], &inner);
  }

  Evaluated optional_map(const Expression& node, const Scope* scope) {
    auto receiver = run(*node.operands[0], scope);
    if (!receiver) return receiver;
    const auto* optional = receiver->get_if<Optional>();
    if (optional == nullptr) return no_overload("optMap", *receiver);
    if (optional->value == nullptr) return receiver;
    const Scope inner{node.name, *optional->value, scope};
    auto body = run(*node.operands[1], &inner);
    if (!body || node.kind == Kind::OptionalFlatMap) return body;
    return Value::optional_of(*std::move(body));
  }

  // The alternative is evaluated only when there is no value.
  Evaluated optional_or(const Expression& node, const Scope* scope) {
    auto receiver = run(*node.operands[0], scope);
    if (!receiver) return receiver;
    const auto* optional = receiver->get_if<Optional>();
    if (optional == nullptr) return no_overload("or", *receiver);
    if (optional->value == nullptr) return run(*node.operands[1], scope);
    return node.kind == Kind::OptionalOr ? receiver : Evaluated(*optional->value);
  }

  const Bindings& bindings_;
  int steps_;
};

}  // namespace

base::Result<Value> evaluate(const Expression& root, const Bindings& bindings, int max_steps) {
  return Evaluation(bindings, max_steps).run(root, nullptr);
}

}  // namespace cdom::sandbox::cel
