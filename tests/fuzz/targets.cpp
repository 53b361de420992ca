#include "fuzz/targets.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/cdi_spec.h"
#include "api/json_scanner.h"
#include "api/json_text.h"
#include "compute_domain/agent/checkpoint_codec.h"
#include "compute_domain/agent/kubelet_state_file.h"
#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/api/domain_config.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/message.h"
#include "compute_domain/imex/protocol.h"
#include "compute_domain/kube/kubeconfig.h"
#include "http/line_splitter.h"
#include "imex/tool_answer.h"

namespace cdom::fuzz {

namespace {

using base::cat;
using Json = nlohmann::json;

void require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %s\n", law);
  std::abort();
}

// The library takes less than an API server does, and what it takes it reads as we do.
void read_json(std::string_view bytes) {
  const auto ours = api::parse_json(bytes);
  const Json theirs = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!theirs.is_discarded() && bytes.find("managedFields") == std::string_view::npos) {
    require(ours || ours.error().message.find("levels deep") != std::string::npos,
            "what the JSON library reads is JSON");
    require(!ours || *ours == theirs, "the JSON library reads the same");
  }
  const auto members = api::members_in(bytes);
  const auto elements = api::elements_in(bytes);
  require(!members || !elements, "nothing is an object and a list");
  if (ours) {
    const auto again = api::parse_json(api::text_of(*ours));
    require(again && *again == *ours, "JSON that was written is read as the same");
  }
}

std::size_t stored(const std::vector<api::OpaqueConfig>& configs) {
  std::size_t size = 0;
  for (const api::OpaqueConfig& config : configs) size += config.parameters.size();
  return size;
}

std::size_t stored(const api::ResourceClaim& claim) {
  return stored(claim.spec.configs) + (claim.allocation ? stored(claim.allocation->configs) : 0);
}

// The bytes are one object.
template <class T>
void read_object(std::string_view bytes) {
  const api::Kind& kind = api::kind_of<T>();
  const auto object = api::decode<T>(bytes);
  if constexpr (std::is_same_v<T, api::ResourceClaim>) {
    require(!object || stored(*object) <= bytes.size(), "what is kept is no longer than what came");
  }
  if (object) {
    const auto version = kind.versions.back();
    const auto once = api::decode<T>(api::encode(*object, version));
    require(once.has_value(), "an object that was written is read");
    const auto twice = api::decode<T>(api::encode(*once, version));
    require(twice && *twice == *once, "an object that was written is read as the same");
  }
  if (!Json::accept(bytes)) return;
  constexpr std::string_view kGood = R"({"metadata":{"name":"good"}})";
  const auto page = api::decode_page<T>(cat(R"({"kind":")", kind.kind,
                                            R"(List","metadata":{"resourceVersion":"7"},"items":[)",
                                            kGood, ",", bytes, ",", kGood, "]}"));
  require(page.has_value(), "a page survives any object in it");
  require(page->items.size() + page->unreadable.size() == 3 && page->items.size() >= 2,
          "no object harms another of its page");
  for (const char* type : {"ADDED", "DELETED", "BOOKMARK", "ERROR"}) {
    const auto event =
        api::decode_watch_event<T>(cat(R"({"type":")", type, R"(","object":)", bytes, "}"));
    require(event.has_value(), "a watch survives any object in it");
  }
}

// The bytes are what a server answers.
void read_answers(std::string_view bytes) {
  const std::string text(bytes);
  (void)api::decode_page<api::ResourceClaim>(bytes);
  (void)api::decode_page<api::ResourceSlice>(bytes);
  (void)api::decode_metadata_page(bytes);
  (void)api::decode_watch_event<api::ComputeDomain>(bytes);
  (void)api::decode_group_versions(bytes);
  (void)api::type_meta_in(bytes);
  (void)api::uid_in(bytes);
  (void)api::resource_version_in(bytes);
  require(!api::error_of(api::decode_status(500, bytes)).message.empty(), "an error has a message");
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

void read_node_list(std::string_view bytes) {
  const auto map = [](std::string text) {
    return api::ConfigMap{.meta = {}, .data = {{api::kNodeListKey, std::move(text)}}};
  };
  const auto list = api::decode_node_list(map(std::string(bytes)));
  if (!list) return;
  const std::string text = api::encode_node_list(*list);
  const auto again = api::decode_node_list(map(text));
  require(again && api::encode_node_list(*again) == text, "a node list is read as it was written");
}

void read_yaml(std::string_view bytes) {
  (void)api::json_in_yaml(bytes, "f");
  const auto objects = api::objects_in_yaml(bytes, "f");
  if (!objects) return;
  std::size_t size = 0;
  for (const std::string& object : *objects) size += object.size();
  // Six for each byte: a control character is an escape in JSON.
  require(size <= 6 * (100'000 + 16 * bytes.size()), "what YAML means is bounded by its length");
}

void read_kubeconfig(std::string_view bytes) {
  const int file = memfd_create("kubeconfig", 0);
  if (write(file, bytes.data(), bytes.size()) >= 0) {
    const auto access = kube::load_kubeconfig(cat("/proc/self/fd/", file));
    require(access || !access.error().message.empty(), "an error has a message");
  }
  close(file);
}

void read_imex_lines(std::string_view bytes) {
  imex::LineBuffer lines;
  lines.add(bytes);
  while (const auto line = lines.next()) {
    const auto request = imex::decode_request(*line);
    if (request.request) {
      const std::string text = imex::encode(request.id, *request.request);
      const auto again = imex::decode_request(base::trim(text));
      require(again.request && *again.request == *request.request,
              "a request is read as it was written");
    }
    if (const auto notice = imex::decode_notice(*line)) {
      const std::string text = imex::encode(*notice);
      const auto again = imex::decode_notice(base::trim(text));
      require(again && imex::encode(*again) == text, "a notice is read as it was written");
    }
  }
}

void read_tool_answer(std::string_view bytes) {
  const std::string text(bytes);
  (void)imex::daemon_word(text);
  const auto letters = imex::connection_letters(text, 0);
  require(!letters || !letters->contains(0), "a node has no connection to itself");
}

void read_node_files(std::string_view bytes) {
  const std::string text(bytes);
  if (const auto checkpoint = agent::decode_checkpoint(text)) {
    const auto again = agent::decode_checkpoint(agent::encode_checkpoint(*checkpoint));
    require(again && *again == *checkpoint, "a checkpoint is read as it was written");
  }
  (void)agent::decode_kubelet_state(text);
  (void)agent::decode_cdi_spec(text, "f.yaml", "c0ffee00-0000-4000-8000-000000000001");
}

void split_lines(std::string_view bytes) {
  http::LineSplitter splitter;
  std::string together;
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    splitter.add(bytes.substr(at, 7));
    while (const auto line = splitter.next()) together += cat(*line, "\n");
  }
  require(together.size() + splitter.rest().size() <= bytes.size(),
          "lines are no longer than text");
  const std::string encoded = http::percent_encoded(bytes);
  require(http::percent_decoded(encoded, false) == bytes, "what is encoded is decoded");
  (void)http::percent_decoded(bytes, true);
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"json", read_json},
      {"answers", read_answers},
      {"computedomain", read_object<api::ComputeDomain>},
      {"computedomainnode", read_object<api::ComputeDomainNode>},
      {"resourceclaim", read_object<api::ResourceClaim>},
      {"resourceclaimtemplate", read_object<api::ResourceClaimTemplate>},
      {"resourceslice", read_object<api::ResourceSlice>},
      {"node", read_object<api::Node>},
      {"pod", read_object<api::Pod>},
      {"configmap", read_object<api::ConfigMap>},
      {"lease", read_object<api::Lease>},
      {"config", read_config},
      {"nodelist", read_node_list},
      {"yaml", read_yaml},
      {"kubeconfig", read_kubeconfig},
      {"imexlines", read_imex_lines},
      {"imextool", read_tool_answer},
      {"nodefiles", read_node_files},
      {"lines", split_lines},
  };
  return all;
}

}  // namespace cdom::fuzz
