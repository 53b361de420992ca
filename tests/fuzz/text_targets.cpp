// Texts that are read as a whole: JSON, YAML, and documents of our own.
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "api/json/json_scanner.h"
#include "api/json/json_text.h"
#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/api/domain_config.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/base/ranges.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/kube/exec_credential.h"
#include "compute_domain/kube/kubeconfig.h"
#include "fuzz/laws.h"
#include "http/pem.h"
#include "kube/base64.h"

namespace cdom::fuzz {

using base::cat;

namespace {
using Json = nlohmann::json;
}  // namespace

// The library takes less than an API server does, and what it takes it reads as we do.
void read_json(std::string_view bytes) {
  const auto ours = api::parse_json(bytes);
  if (is_json(bytes) && bytes.find("managedFields") == std::string_view::npos) {
    require(ours || ours.error().message.find("levels deep") != std::string::npos,
            "what the JSON library reads is JSON");
    require(!ours || *ours == Json::parse(bytes), "the JSON library reads the same");
  }
  const auto members = api::members_in(bytes);
  const auto elements = api::elements_in(bytes);
  require(!members || !elements, "nothing is an object and a list");
  std::size_t size = 0;
  if (members) {
    for (const api::JsonMember& member : *members) size += member.value.size();
  }
  if (elements) {
    for (const std::string_view element : *elements) size += element.size();
  }
  require(size <= bytes.size(), "parts are no longer than the whole");
  if (ours) {
    const auto again = api::parse_json(api::text_of(*ours));
    require(again && *again == *ours, "JSON that was written is read as the same");
  }
}

// The bytes are what a server answers.
void read_answers(std::string_view bytes) {
  (void)api::decode_page<api::ResourceClaim>(bytes);
  (void)api::decode_page<api::ResourceSlice>(bytes);
  (void)api::decode_metadata_page(bytes);
  (void)api::decode_watch_event<api::ComputeDomain>(bytes);
  if (const auto versions = api::decode_group_versions(bytes)) {
    require(!versions->empty(), "an API group has a version");
  }
  if (const auto type = api::type_meta_in(bytes)) {
    require(!type->kind.empty() && !type->api_version.empty(), "a type has a kind and a version");
  }
  for (const int code : {404, 409, 410, 429, 500}) {
    require(!api::error_of(api::decode_status(code, bytes)).message.empty(),
            "an error has a message");
  }
}

void read_config(std::string_view bytes) {
  const std::string text(bytes);
  (void)api::config_words_in(text);
  if (const auto config = api::decode_channel_config(text)) {
    const auto again = api::decode_channel_config(api::encode_channel_config(*config));
    require(again && *again == *config, "a channel configuration is read as it was written");
  }
  if (const auto config = api::decode_domain_config(text)) {
    const auto again = api::decode_domain_config(api::encode_domain_config(*config));
    require(again && *again == *config, "a domain configuration is read as it was written");
  }
}

namespace {

// The lines of the reservations: "UID=reservation", as the data of its ConfigMap.
void read_reservations(std::string_view bytes) {
  api::ConfigMap map;
  for (const std::string& line : base::split(bytes, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) map.data[line.substr(0, equals)] = line.substr(equals + 1);
  }
  const core::Reservations reservations = core::reservations_in(map);
  const core::Reservations again = core::reservations_in(core::config_map_of(reservations, "ns"));
  require(reservations.by_domain.empty() || again == reservations,
          "reservations are read as they were written");
}

}  // namespace

void read_node_list(std::string_view bytes) {
  read_reservations(bytes);
  const auto numbers = base::parse_ranges(bytes);
  require(base::parse_ranges(base::ranges_text(numbers)) == numbers,
          "ranges are read as they were written");
  const auto map = [](std::string text) {
    return api::ConfigMap{.meta = {}, .data = {{api::kNodeListKey, std::move(text)}}};
  };
  const auto list = api::decode_node_list(map(std::string(bytes)));
  if (!list) return;
  const std::string text = api::encode_node_list(*list);
  const auto again = api::decode_node_list(map(text));
  require(again && api::encode_node_list(*again) == text, "a node list is read as it was written");
  // Not too long to make of each text.
  if (list->slots < 100) (void)api::table_hash(*list);
}

void read_yaml(std::string_view bytes) {
  (void)api::json_in_yaml(bytes, "f");
  const auto objects = api::objects_in_yaml(bytes, "f");
  if (!objects) return;
  std::size_t size = 0;
  for (const std::string& object : *objects) {
    require(api::parse_json(object).has_value(), "what YAML means is JSON");
    size += object.size();
  }
  // Six for each byte: a control character is an escape in JSON.
  require(size <= 6 * (100'000 + 16 * bytes.size()), "what YAML means is bounded by its length");
}

namespace {

// A certificate authority's certificates as they stand in a kubeconfig.
void trust_authorities(std::string_view bytes) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free);
  try {
    http::trust_only(context.get(), std::string(bytes), "f");
  } catch (const std::runtime_error& refused) {
    require(std::string_view(refused.what()).find('f') != std::string_view::npos,
            "a refused certificate authority is named");
  }
}

}  // namespace

void read_kubeconfig(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto access = kube::load_kubeconfig(file.path(), {}, kube::ExecUse::Allowed);
  require(access || !access.error().message.empty(), "an error has a message");
  require(!access || !access->http.base_url.empty(), "a cluster has a server");
  const kube::ExecPlugin plugin{
      .where = "f", .api_version = "client.authentication.k8s.io/v1", .command = "c"};
  http::ClientConfig given;
  const auto taken = kube::take_exec_credential(plugin, std::string(bytes), given);
  require(taken.has_value() == !(given.token + given.certificate_pem).empty(),
          "what a credential program prints is a credential or an error");
  trust_authorities(bytes);
  if (const auto plain = kube::base64_decoded(bytes)) {
    require(plain->size() <= bytes.size(), "what is decoded is no longer than it was");
  }
}

}  // namespace cdom::fuzz
