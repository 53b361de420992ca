// What a node agent and the supervisor of IMEX read on their node.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/files/cdi_spec.h"
#include "compute_domain/agent/checkpoint_codec.h"
#include "compute_domain/agent/file_fabric.h"
#include "compute_domain/agent/kubelet_state_file.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/protocol.h"
#include "compute_domain/nvidia/device_nodes.h"
#include "fuzz/laws.h"
#include "imex/daemon/hosts_file.h"
#include "imex/daemon/last_words.h"
#include "imex/daemon/state_file.h"
#include "imex/host/elf.h"
#include "imex/process/tool_answer.h"
#include "node_check/runtime_config.h"

namespace cdom::fuzz {

namespace {

using base::cat;
using Json = nlohmann::json;

constexpr char kClaim[] = "c0ffee00-0000-4000-8000-000000000001";

void read_request(const std::string& line) {
  const auto request = imex::decode_request(line);
  if (!request.request) return;
  const std::string text = imex::encode(request.id, *request.request);
  const auto again = imex::decode_request(base::trim(text));
  require(again.id == request.id && again.request && *again.request == *request.request,
          "a request is read as it was written");
}

void read_notice(const std::string& line) {
  const auto notice = imex::decode_notice(line);
  if (!notice) return;
  const std::string text = imex::encode(*notice);
  const auto again = imex::decode_notice(base::trim(text));
  require(again && imex::encode(*again) == text, "a notice is read as it was written");
}

// CRC-32 as of IEEE 802.3.
std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

void read_checkpoint(const std::string& text) {
  const auto checkpoint = agent::decode_checkpoint(text);
  if (!checkpoint) return;
  const auto again = agent::decode_checkpoint(agent::encode_checkpoint(*checkpoint));
  require(again && *again == *checkpoint, "a checkpoint is read as it was written");
}

void read_kubelet_state(const std::string& text) {
  const auto claims = agent::decode_kubelet_state(text);
  if (!claims) return;
  std::size_t size = 0;
  for (const agent::KubeletClaim& claim : *claims) size += claim.claim.uid.size();
  require(size <= text.size(), "what is kept is no longer than what came");
}

void read_fabric(const std::string& text) {
  const auto facts = agent::parse_fabric_facts(text, "f");
  require(facts || !facts.error().message.empty(), "an error has a message");
  if (!facts) return;
  for (const auto mode : {agent::FabricMode::Strict, agent::FabricMode::Legacy}) {
    const auto reading = agent::reading_of(*facts, mode);
    require(reading.clique || !reading.error.empty(), "a node without an answer has a reason");
    require(!nvidia::describe_fabric(*facts, mode).empty(), "a fabric can be described");
  }
}

void read_cdi_spec(const std::string& text) {
  const auto spec = agent::decode_cdi_spec(text, "f", kClaim);
  if (!spec || !spec->channels || spec->channels->count > 2048) return;
  const auto again =
      agent::decode_cdi_spec(agent::encode_cdi_spec(kClaim, *spec->channels, 1), "f", kClaim);
  require(again && again->channels == spec->channels, "channels are read as they were written");
}

}  // namespace

// What goes over the socket between agent and supervisor, the supervisor's own files, which hold
// such lines, and what the daemon prints.
void read_imex_lines(std::string_view bytes) {
  imex::LineBuffer lines;
  lines.add(bytes);
  while (const auto line = lines.next()) {
    read_request(*line);
    read_notice(*line);
  }
  imex::LastWords words;
  words.hear(bytes, {});
  require(words.text({}).size() <= 300, "last words are bounded");
  const MemoryFile file(bytes);
  (void)imex::StateFile(file.path(), "b").load();
  require(imex::HostsFile(file.path()).revision().size() <= bytes.size(),
          "a revision is a part of its file");
}

void read_imex_tool(std::string_view bytes) {
  const std::string text(bytes);
  (void)imex::reported_state(text);
  for (const std::int64_t own : {0, 3}) {
    const auto view = imex::node_view(text, own);
    require(!view || !view->letters.contains(own), "a node has no connection to itself");
    require(!view || view->letters.size() <= bytes.size(), "each connection is in the text");
  }
}

// The agent's checkpoint and kubelet's state: as whole files, and with a checksum that fits.
void read_state(std::string_view bytes) {
  const std::string text(bytes);
  read_checkpoint(text);
  read_kubelet_state(text);
  if (!is_json(text)) return;
  const Json content = Json::parse(text);
  read_checkpoint(Json{
      {"format", 1},
      {"checksum", base::hex64(base::fnv1a64(content.dump()))},
      {"checkpoint",
       content}}.dump());
  read_kubelet_state(Json{{"Data", text}, {"Checksum", crc32(text)}}.dump());
}

// Files of others: CDI specs, the fabric of a machine without GPUs, the kernel's tables, programs,
// a container runtime's configuration.
void read_node_files(std::string_view bytes) {
  const std::string text(bytes);
  read_cdi_spec(text);
  read_fabric(text);
  (void)nvidia::character_major(bytes, "nvidia-caps-imex-channels");
  (void)nvidia::numeric_field(bytes, "ImexChannelCount");
  node_check::ContainerRuntime runtime;
  node_check::read_runtime_config(text, runtime);
  if (bytes.starts_with("\x7f"
                        "ELF")) {
    const MemoryFile file(bytes);
    (void)imex::needed_libraries(file.path());
  }
}

}  // namespace cdom::fuzz
