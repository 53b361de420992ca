#include "agent/files/cdi_spec.h"

#include <charconv>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>

#include "agent/whole_number.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_plan.h"

namespace cdom::agent {

namespace {

using base::cat;
using Json = nlohmann::json;

constexpr char kChannelPrefix[] = "nvidia-caps-imex-channels/channel";
constexpr std::int64_t kHighestMinor = (1 << 20) - 1;  // Linux's

// The part after "=" of a qualified device name.
std::string device_of(const std::string& claim_uid) {
  const std::string id = core::cdi_device_id(claim_uid);
  return id.substr(id.find('=') + 1);
}

bool starts_with_digit(const std::string& name) {
  return !name.empty() && name.front() >= '0' && name.front() <= '9';
}

std::optional<std::int64_t> channel_in(const std::string& path) {
  const std::string prefix = cat("/dev/", kChannelPrefix);
  if (!path.starts_with(prefix)) return std::nullopt;
  std::int64_t channel = 0;
  const char* end = path.data() + path.size();
  const auto [stop, error] = std::from_chars(path.data() + prefix.size(), end, channel);
  return error == std::errc() && stop == end ? std::optional(channel) : std::nullopt;
}

// Throws std::exception when a field has another shape.
std::set<std::int64_t> channels_of(const Json& device) {
  std::set<std::int64_t> channels;
  const Json edits = device.value("containerEdits", Json::object());
  for (const Json& node : edits.value("deviceNodes", Json::array())) {
    // The minor number says which it is; the name may be another one's.
    if (const auto channel = channel_in(node.at("path").get<std::string>())) {
      channels.insert(whole_number(node.value("minor", Json(*channel)), 0, kHighestMinor));
    }
  }
  return channels;
}

std::optional<unsigned> major_of(const Json& device) {
  for (const Json& node : device.at("containerEdits").at("deviceNodes")) {
    const auto major = node.find("major");
    if (major != node.end() && major->is_number_unsigned()) return major->get<unsigned>();
  }
  return std::nullopt;
}

base::Error no_spec(const std::string& file_name, const std::string& why) {
  return base::invalid(cat(file_name, " is not the CDI spec of a claim: ", why));
}

}  // namespace

std::string channel_node(std::int64_t channel) { return cat(kChannelPrefix, channel); }

std::string cdi_kind() {
  const std::string id = core::cdi_device_id("");
  return id.substr(0, id.find('='));
}

std::string encode_cdi_spec(const std::string& claim_uid, const core::ChannelRange& channels,
                            unsigned major, bool as_zero) {
  Json nodes = Json::array();
  const auto add = [&](std::int64_t name, std::int64_t channel) {
    nodes.push_back({{"path", cat("/dev/", channel_node(name))},
                     {"type", "c"},
                     {"major", major},
                     {"minor", channel},
                     {"fileMode", 0666}});
  };
  if (as_zero && channels.count == 1 && channels.first != 0) add(0, channels.first);
  for (std::int64_t i = 0; i < channels.count; ++i) add(channels.first + i, channels.first + i);
  const std::string device = device_of(claim_uid);
  const Json spec = {
      {"cdiVersion", starts_with_digit(device) ? "0.5.0" : "0.3.0"},
      {"kind", cdi_kind()},
      {"containerEdits", Json::object()},
      {"devices", {{{"name", device}, {"containerEdits", {{"deviceNodes", nodes}}}}}}};
  return spec.dump();
}

base::Result<CdiSpec> decode_cdi_spec(const std::string& text, const std::string& file_name,
                                      const std::string& claim_uid) {
  const auto as_json = api::json_in_yaml(text, file_name);
  if (!as_json) return as_json.error();
  try {
    const Json json = Json::parse(*as_json);
    CdiSpec spec;
    spec.kind = json.at("kind");
    for (const Json& device : json.at("devices")) {
      if (device.at("name") != device_of(claim_uid)) continue;
      const std::set<std::int64_t> channels = channels_of(device);
      if (channels.empty()) continue;
      spec.major = major_of(device);
      spec.channels = {*channels.begin(), static_cast<std::int64_t>(channels.size())};
      if (*channels.rbegin() != spec.channels->first + spec.channels->count - 1) {
        return no_spec(file_name, "its channels have gaps");
      }
    }
    return spec;
  } catch (const std::exception& e) {
    return no_spec(file_name, e.what());
  }
}

}  // namespace cdom::agent
