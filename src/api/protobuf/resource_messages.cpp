#include <string>
#include <utility>

#include "api/protobuf/messages.h"

namespace cdom::api {

namespace {

// A DeviceSelector: its CEL expression.
void read_selector(MessageReader in, std::string& out) {
  while (in.next()) {
    if (in.number() == 1) read_plain(in.message(), PlainField{1, out});
  }
}

void read_exact_request(MessageReader in, DeviceRequest& out) {
  while (in.next()) {
    switch (in.number()) {
      case 1:
        in.read(out.device_class);
        break;
      case 2:
        read_selector(in.message(), out.selectors.emplace_back());
        break;
      case 5:
        in.read(out.admin_access);
        break;
      default:
        break;
    }
  }
}

void read_message(MessageReader in, DeviceRequest& out) {
  while (in.next()) {
    if (in.number() == 1) in.read(out.name);
    if (in.number() == 2) read_exact_request(in.message(), out);
  }
}

// An OpaqueDeviceConfiguration; its parameters are JSON, byte for byte as they were written.
void read_opaque(MessageReader in, OpaqueConfig& out) {
  while (in.next()) {
    if (in.number() == 1) in.read(out.driver);
    if (in.number() == 2) read_plain(in.message(), PlainField{1, out.parameters});
  }
}

void read_device_config(MessageReader in, OpaqueConfig& out) {
  while (in.next()) {
    if (in.number() == 1) read_opaque(in.message(), out);
  }
}

// A configuration of a claim.
void read_message(MessageReader in, OpaqueConfig& out) {
  while (in.next()) {
    if (in.number() == 1) in.read(out.requests);
    if (in.number() == 2) read_device_config(in.message(), out);
  }
}

void read_allocated_config(MessageReader in, OpaqueConfig& out) {
  while (in.next()) {
    switch (in.number()) {
      case 1: {
        std::string source;
        in.read(source);
        out.from_class = source == "FromClass";
        break;
      }
      case 2:
        in.read(out.requests);
        break;
      case 3:
        read_device_config(in.message(), out);
        break;
      default:
        break;
    }
  }
}

void read_message(MessageReader in, ResourceClaimSpec& out) {
  while (in.next()) {
    if (in.number() != 1) continue;
    MessageReader devices = in.message();
    while (devices.next()) {
      if (devices.number() == 1) read_message(devices.message(), out.requests.emplace_back());
      if (devices.number() == 3) read_message(devices.message(), out.configs.emplace_back());
    }
  }
}

void read_message(MessageReader in, AllocatedDevice& out) {
  read_plain(in, PlainField{1, out.request}, PlainField{2, out.driver}, PlainField{3, out.pool},
             PlainField{4, out.device}, PlainField{5, out.admin_access});
}

void read_message(MessageReader in, Allocation& out) {
  while (in.next()) {
    if (in.number() == 1) {
      MessageReader devices = in.message();
      while (devices.next()) {
        if (devices.number() == 1) read_message(devices.message(), out.devices.emplace_back());
        if (devices.number() == 2) {
          read_allocated_config(devices.message(), out.configs.emplace_back());
        }
      }
    } else if (in.number() == 3) {
      NodeSelector selector;
      read_message(in.message(), selector);
      out.node = one_node(selector);
    }
  }
}

void read_message(MessageReader in, ClaimConsumer& out) {
  read_plain(in, PlainField{3, out.resource}, PlainField{4, out.name}, PlainField{5, out.uid});
}

void read_status(MessageReader in, ResourceClaim& out) {
  while (in.next()) {
    if (in.number() == 1) read_message(in.message(), out.allocation.emplace());
    if (in.number() == 2) read_message(in.message(), out.reserved_for.emplace_back());
  }
}

void read_pool(MessageReader in, ResourceSlice& out) {
  read_plain(in, PlainField{1, out.pool}, PlainField{2, out.pool_generation},
             PlainField{3, out.pool_slices});
}

// A DeviceAttribute. One that has another type, as lists are, stays what it is by default.
void read_message(MessageReader in, AttributeValue& out) {
  while (in.next()) {
    switch (in.number()) {
      case 2:
        in.read(out.emplace<std::int64_t>());
        break;
      case 3:
        in.read(out.emplace<bool>());
        break;
      case 4:  // a string
      case 5:  // a version
        in.read(out.emplace<std::string>());
        break;
      default:
        break;
    }
  }
}

void read_message(MessageReader in, Device& out) {
  while (in.next()) {
    if (in.number() == 1) in.read(out.name);
    if (in.number() != 2) continue;
    std::string key;
    AttributeValue value;
    read_entry(in.message(), key,
               [&](const MessageReader& field) { read_message(field.message(), value); });
    out.attributes.insert_or_assign(std::move(key), std::move(value));
  }
}

void read_spec(MessageReader in, ResourceSlice& out) {
  while (in.next()) {
    switch (in.number()) {
      case 1:
        in.read(out.driver);
        break;
      case 2:
        read_pool(in.message(), out);
        break;
      case 3:
        in.read(out.node);
        break;
      case 4: {
        NodeSelector selector;
        read_message(in.message(), selector);
        out.clique = one_clique(selector);
        break;
      }
      case 6:
        read_message(in.message(), out.devices.emplace_back());
        break;
      default:
        break;
    }
  }
}

void read_spec(MessageReader in, ResourceClaimTemplate& out) {
  while (in.next()) {
    if (in.number() == 1) {
      ObjectMeta meta;
      read_message(in.message(), meta);
      out.claim_labels = std::move(meta.labels);
    } else if (in.number() == 2) {
      read_message(in.message(), out.spec);
    }
  }
}

}  // namespace

void read_message(MessageReader in, ResourceClaim& out) {
  while (in.next()) {
    switch (in.number()) {
      case 1:
        read_message(in.message(), out.meta);
        break;
      case 2:
        read_message(in.message(), out.spec);
        break;
      case 3:
        read_status(in.message(), out);
        break;
      default:
        break;
    }
  }
}

void read_message(MessageReader in, ResourceClaimTemplate& out) {
  while (in.next()) {
    if (in.number() == 1) read_message(in.message(), out.meta);
    if (in.number() == 2) read_spec(in.message(), out);
  }
}

void read_message(MessageReader in, ResourceSlice& out) {
  while (in.next()) {
    if (in.number() == 1) read_message(in.message(), out.meta);
    if (in.number() == 2) read_spec(in.message(), out);
  }
}

}  // namespace cdom::api
