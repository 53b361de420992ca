#include "compute_domain/agent/kubelet_state_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/api/names.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

namespace {

using base::cat;
using Json = nlohmann::json;

constexpr char kKubeletFormat[] = "checkpoint.dra.kubelet.k8s.io/v1";

// CRC-32 as of IEEE 802.3, with which kubelet guards the text in its file.
std::uint32_t crc32(const std::string& text) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

base::Error unknown_state(const std::string& why) {
  return base::invalid(cat("kubelet's state ", why));
}

// As kubelet's pkg/kubelet/cm/dra/state/checkpoint.go writes it. Throws Json::exception when a
// field has another shape.
std::vector<KubeletClaim> kubelet_claims_in(const Json& data) {
  std::vector<KubeletClaim> claims;
  const Json& entries = data.at("ClaimInfoStateList");
  if (entries.is_null()) return claims;
  for (const Json& entry : entries) {
    KubeletClaim claim;
    claim.claim = {entry.at("Namespace"), entry.at("ClaimName"), entry.at("ClaimUID")};
    const Json& drivers = entry.at("DriverState");
    for (const auto& [driver, state] : drivers.items()) claim.drivers.push_back(driver);
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace

base::Result<std::vector<KubeletClaim>> decode_kubelet_state(const std::string& text) {
  const Json whole = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) return unknown_state("is torn: it is not a JSON object");
  if (!whole.contains("Data") || !whole["Data"].is_string() || !whole.contains("Checksum")) {
    return unknown_state("has another format than that of Kubernetes 1.32 and later");
  }
  const std::string data = whole["Data"];
  if (whole["Checksum"] != crc32(data)) return unknown_state("does not fit its checksum");
  const Json content = Json::parse(data, nullptr, /*allow_exceptions=*/false);
  if (!content.is_object()) return unknown_state("holds no JSON object");
  const std::string format = content.value("apiVersion", Json()).dump();
  if (format != Json(kKubeletFormat).dump()) {
    return unknown_state(cat("has format ", format, ", this agent reads \"", kKubeletFormat, "\""));
  }
  try {
    return kubelet_claims_in(content);
  } catch (const Json::exception& e) {
    return unknown_state(cat("lacks a field or has one of a wrong type: ", e.what()));
  }
}

KubeletStateFile::KubeletStateFile(std::string path)
    : source_(path), read_([path = std::move(path)] { return base::read_file(path); }) {}

base::Result<std::vector<KubeletClaim>> KubeletStateFile::read() {
  const auto text = read_();
  auto claims =
      text ? decode_kubelet_state(*text) : base::Result<std::vector<KubeletClaim>>(text.error());
  const std::string problem = claims ? "" : claims.error().message;
  if (problem != logged_ && !problem.empty()) {
    base::log_warning("cannot read which claims kubelet uses; is its directory mounted?",
                      {{"from", source_}, {"error", problem}});
  } else if (problem != logged_) {
    base::log_info("kubelet's state can be read again", {{"from", source_}});
  }
  logged_ = problem;
  return claims;
}

bool KubeletStateFile::knows(const std::string& claim_uid) {
  const auto claims = read();
  if (!claims) return true;
  return std::ranges::any_of(
      *claims, [&](const KubeletClaim& known) { return known.claim.uid == claim_uid; });
}

std::vector<core::ClaimRef> KubeletStateFile::claims() {
  std::vector<core::ClaimRef> ours;
  const auto known = read();
  if (!known) return ours;
  for (const KubeletClaim& claim : *known) {
    if (std::ranges::find(claim.drivers, api::kDriver) != claim.drivers.end()) {
      ours.push_back(claim.claim);
    }
  }
  return ours;
}

}  // namespace cdom::agent
