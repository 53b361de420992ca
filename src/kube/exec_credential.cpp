#include "compute_domain/kube/exec_credential.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "compute_domain/base/text.h"
#include "kube/base64.h"

namespace cdom::kube {

namespace {

using Json = nlohmann::json;
using base::cat;
using base::invalid;

std::optional<std::string> file_text(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return std::nullopt;
  return text.str();
}

base::Result<Json> cluster_info(const ExecPlugin& plugin, const http::ClientConfig& cluster) {
  Json info{{"server", cluster.base_url}};
  if (!cluster.server_name.empty()) info["tls-server-name"] = cluster.server_name;
  if (cluster.insecure_skip_tls_verify) info["insecure-skip-tls-verify"] = true;
  std::string ca = cluster.ca_pem;
  if (ca.empty() && !cluster.ca_file.empty()) {
    auto text = file_text(cluster.ca_file);
    if (!text) return invalid(cat(cluster.ca_file, ": cannot be read: check its permissions"));
    ca = *std::move(text);
  }
  if (!ca.empty()) info["certificate-authority-data"] = base64_encoded(ca);
  // Null when there is none, as client-go does.
  info["config"] =
      plugin.cluster_config.empty() ? Json() : Json::parse(plugin.cluster_config, nullptr, false);
  return info;
}

std::string text_in(const Json& object, const char* field) {
  const auto it = object.find(field);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

base::Result<std::string> exec_info(const ExecPlugin& plugin, const http::ClientConfig& cluster,
                                    bool is_interactive) {
  Json info{{"apiVersion", plugin.api_version},
            {"kind", "ExecCredential"},
            {"spec", {{"interactive", is_interactive}}}};
  if (plugin.wants_cluster) {
    auto known = cluster_info(plugin, cluster);
    if (!known) return known.error();
    info["spec"]["cluster"] = *std::move(known);
  }
  return info.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<void> take_exec_credential(const ExecPlugin& plugin, const std::string& printed,
                                        http::ClientConfig& access) {
  // Never with what it printed: that may be half of a credential.
  const auto wrong = [&](const std::string& what) {
    return invalid(cat(plugin.where, ": ", plugin.command, " ", what));
  };
  const Json document = Json::parse(printed, nullptr, false);
  if (!document.is_object()) return wrong("did not print an ExecCredential as JSON");
  if (const std::string kind = text_in(document, "kind"); kind != "ExecCredential") {
    return wrong(cat("printed kind \"", kind, "\" instead of \"ExecCredential\""));
  }
  if (const std::string version = text_in(document, "apiVersion"); version != plugin.api_version) {
    return wrong(cat("printed apiVersion \"", version, "\", and the kubeconfig says \"",
                     plugin.api_version, "\": make them the same"));
  }
  const auto status = document.find("status");
  if (status == document.end() || !status->is_object()) return wrong("printed no status");
  std::string token = text_in(*status, "token");
  std::string certificate = text_in(*status, "clientCertificateData");
  std::string key = text_in(*status, "clientKeyData");
  if (certificate.empty() != key.empty()) {
    return wrong(cat("printed a client ", certificate.empty() ? "key" : "certificate",
                     " without its ", certificate.empty() ? "certificate" : "key"));
  }
  if (token.empty() && key.empty())
    return wrong("printed neither a token nor a client certificate");
  access.token = std::move(token);
  // Those of the kubeconfig stay where the program gives none.
  if (key.empty()) return {};
  access.certificate_pem = std::move(certificate);
  access.key_pem = std::move(key);
  access.certificate_file.clear();
  access.key_file.clear();
  return {};
}

}  // namespace cdom::kube
