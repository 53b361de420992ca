#include <string>
#include <string_view>
#include <utility>

#include "api/protobuf/messages.h"
#include "compute_domain/api/node_labels.h"

namespace cdom::api {

namespace {

void read_message(MessageReader in, Taint& out) {
  read_plain(in, PlainField{1, out.key}, PlainField{2, out.value}, PlainField{3, out.effect});
}

// A NodeCondition or PodCondition, which have the same numbers.
struct ForeignCondition {
  std::string type, status;
  std::optional<base::Time> changed;

  [[nodiscard]] bool is_ready() const { return type == "Ready"; }
  // Any other word is Unknown, as in AsForeignStatus.
  [[nodiscard]] ConditionStatus value() const {
    return status == "True"    ? ConditionStatus::True
           : status == "False" ? ConditionStatus::False
                               : ConditionStatus::Unknown;
  }
};

void read_message(MessageReader in, ForeignCondition& out) {
  while (in.next()) {
    switch (in.number()) {
      case 1:
        in.read(out.type);
        break;
      case 2:
        in.read(out.status);
        break;
      case 4:
        read_message(in.message(), out.changed);
        break;
      default:
        break;
    }
  }
}

struct NodeAddress {
  std::string type, address;
};

void read_message(MessageReader in, NodeAddress& out) {
  read_plain(in, PlainField{1, out.type}, PlainField{2, out.address});
}

void read_spec(MessageReader in, Node& out) {
  while (in.next()) {
    if (in.number() == 4) in.read(out.unschedulable);
    if (in.number() == 5) read_message(in.message(), out.taints.emplace_back());
  }
}

// When several conditions or addresses have one type, the first one counts.
void read_status(MessageReader in, Node& out) {
  bool has_ready = false, has_address = false;
  while (in.next()) {
    if (in.number() == 4 && !has_ready) {
      ForeignCondition condition;
      read_message(in.message(), condition);
      has_ready = condition.is_ready();
      if (has_ready) out.ready = condition.value();
    } else if (in.number() == 5 && !has_address) {
      NodeAddress address;
      read_message(in.message(), address);
      has_address = address.type == "InternalIP";
      if (has_address) out.internal_ip = std::move(address.address);
    } else if (in.number() == 7) {
      read_plain(in.message(), PlainField{3, out.boot_id});
    }
  }
}

void read_message(MessageReader in, PodClaim& out) {
  read_plain(in, PlainField{1, out.name}, PlainField{4, out.template_name});
}

void read_spec(MessageReader in, Pod& out) {
  while (in.next()) {
    if (in.number() == 10) in.read(out.node);
    if (in.number() == 39) read_message(in.message(), out.claims.emplace_back());
  }
}

void read_status(MessageReader in, Pod& out) {
  bool has_ready = false;
  while (in.next()) {
    if (in.number() == 1) {
      in.read(out.phase);
    } else if (in.number() == 2 && !has_ready) {
      ForeignCondition condition;
      read_message(in.message(), condition);
      has_ready = condition.is_ready();
      if (!has_ready) continue;
      out.ready = condition.value() == ConditionStatus::True;
      out.ready_changed = condition.changed;
    } else if (in.number() == 6) {
      in.read(out.ip);
    }
  }
}

void read_message(MessageReader in, NodeSelectorRequirement& out) {
  read_plain(in, PlainField{1, out.key}, PlainField{2, out.op}, PlainField{3, out.values});
}

void read_message(MessageReader in, NodeSelectorTerm& out) {
  while (in.next()) {
    if (in.number() == 1) read_message(in.message(), out.labels.emplace_back());
    if (in.number() == 2) read_message(in.message(), out.fields.emplace_back());
  }
}

}  // namespace

void read_message(MessageReader in, NodeSelector& out) {
  while (in.next()) {
    if (in.number() == 1) read_message(in.message(), out.terms.emplace_back());
  }
}

void read_message(MessageReader in, Node& out) {
  while (in.next()) {
    switch (in.number()) {
      case 1:
        read_message(in.message(), out.meta, is_read_of_nodes);
        break;
      case 2:
        read_spec(in.message(), out);
        break;
      case 3:
        read_status(in.message(), out);
        break;
      default:
        break;
    }
  }
}

void read_message(MessageReader in, Pod& out) {
  while (in.next()) {
    switch (in.number()) {
      case 1:
        read_message(in.message(), out.meta);
        break;
      case 2:
        read_spec(in.message(), out);
        break;
      case 3:
        read_status(in.message(), out);
        break;
      default:
        break;
    }
  }
}

void read_message(MessageReader in, ConfigMap& out) {
  while (in.next()) {
    if (in.number() == 1) read_message(in.message(), out.meta);
    if (in.number() == 2) {
      std::string key, value;
      read_entry(in.message(), key, [&](const MessageReader& field) { field.read(value); });
      out.data.insert_or_assign(std::move(key), std::move(value));
    }
  }
}

}  // namespace cdom::api
