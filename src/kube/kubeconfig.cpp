#include "compute_domain/kube/kubeconfig.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "kube/base64.h"

namespace cdom::kube {

namespace {

using Json = nlohmann::json;

using base::invalid;

// One named cluster, user or context, and the file that it stands in.
struct Entry {
  std::string file;
  std::string where;  // "users[alice].user"
  Json fields;
};

struct Entries {
  std::map<std::string, Entry> clusters, users, contexts;
  std::string current_context;
};

// Null is as good as nothing.
bool has_field(const Json& fields, const char* field) {
  const auto it = fields.find(field);
  return it != fields.end() && !it->is_null();
}

// Reads the fields of one Entry. The first thing that is wrong stays in error(); what is read after
// it is empty.
class EntryReader {
 public:
  explicit EntryReader(const Entry& entry) : entry_(entry) {}

  std::string text(const char* field) {
    const auto it = entry_.fields.find(field);
    if (it == entry_.fields.end() || it->is_null()) return {};
    if (it->is_string()) return it->get<std::string>();
    fail(field, "must be a text");
    return {};
  }

  bool flag(const char* field) {
    const auto it = entry_.fields.find(field);
    if (it == entry_.fields.end() || it->is_null()) return false;
    if (it->is_boolean()) return it->get<bool>();
    fail(field, "must be true or false");
    return false;
  }

  // A file name, relative to the kubeconfig's own directory.
  std::string file(const char* field) {
    const std::string name = text(field);
    if (name.empty()) return {};
    const auto path = std::filesystem::path(entry_.file).parent_path() / name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      fail(field, base::cat("names ", path.string(), ", which does not exist"));
    }
    return path.string();
  }

  std::string decoded(const char* field) {
    const std::string encoded = text(field);
    auto plain = base64_decoded(encoded);
    if (!plain) fail(field, "is not base64");
    return std::move(plain).value_or("");
  }

  // The texts of a list.
  std::vector<std::string> texts(const char* field) {
    auto out = texts_in(list(field));
    if (!out) fail(field, "must be a list of texts");
    return std::move(out).value_or(std::vector<std::string>());
  }

  // Lists of texts by their names.
  std::map<std::string, std::vector<std::string>> named_texts(const char* field) {
    const auto it = entry_.fields.find(field);
    if (it == entry_.fields.end() || it->is_null()) return {};
    std::map<std::string, std::vector<std::string>> out;
    bool is_right = it->is_object();
    for (const auto& [name, item] : it->items()) {
      auto texts = item.is_array() ? texts_in(item) : std::nullopt;
      is_right = is_right && texts;
      out[name] = std::move(texts).value_or(std::vector<std::string>());
    }
    if (!is_right) fail(field, "must be lists of texts by their names");
    return out;
  }

  Json list(const char* field) {
    const auto it = entry_.fields.find(field);
    if (it == entry_.fields.end() || it->is_null()) return Json::array();
    if (it->is_array()) return *it;
    fail(field, "must be a list");
    return Json::array();
  }

  void refuse(const char* field, const char* remedy) {
    if (has_field(entry_.fields, field)) fail(field, remedy);
  }

  void fail(const char* field, const std::string& what) {
    if (!error_)
      error_ = invalid(base::cat(entry_.file, ": ", entry_.where, ".", field, " ", what));
  }

  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

 private:
  static std::optional<std::vector<std::string>> texts_in(const Json& list) {
    std::vector<std::string> out;
    for (const Json& item : list) {
      if (!item.is_string()) return std::nullopt;
      out.push_back(item.get<std::string>());
    }
    return out;
  }

  const Entry& entry_;
  std::optional<base::Error> error_;
};

// Adds what `document` defines under `list`, unless an earlier file did. kubectl: the first wins.
std::optional<base::Error> add_entries(const Json& document, const char* list, const char* body,
                                       const std::string& file,
                                       std::map<std::string, Entry>& entries) {
  const auto found = document.find(list);
  if (found == document.end() || found->is_null()) return std::nullopt;
  if (!found->is_array()) return invalid(base::cat(file, ": ", list, " must be a list"));
  for (std::size_t i = 0; i < found->size(); ++i) {
    const Json& item = (*found)[i];
    const auto name = item.is_object() ? item.find("name") : item.end();
    if (!item.is_object() || name == item.end() || !name->is_string()) {
      return invalid(base::cat(file, ": ", list, "[", i, "].name is missing"));
    }
    const std::string name_text = name->get<std::string>();
    Json fields = item.value(body, Json::object());
    const std::string where = base::cat(list, "[", name_text, "].", body);
    if (fields.is_null()) fields = Json::object();
    if (!fields.is_object()) return invalid(base::cat(file, ": ", where, " must hold fields"));
    entries.try_emplace(name_text, Entry{file, where, std::move(fields)});
  }
  return std::nullopt;
}

// False: it is empty.
base::Result<bool> add_file(const std::string& file, Entries& entries) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return invalid(base::cat(file, ": cannot be read: check its permissions"));
  const auto documents = api::objects_in_yaml(text.str(), file);
  if (!documents) return documents.error();
  if (documents->empty()) return false;
  if (documents->size() != 1) {
    return invalid(base::cat(file, ": not a kubeconfig: it has ", documents->size(),
                             " documents instead of one"));
  }
  const Json document = Json::parse(documents->front(), nullptr, false);
  if (!document.is_object()) return invalid(base::cat(file, ": not a kubeconfig"));
  if (auto error = add_entries(document, "clusters", "cluster", file, entries.clusters)) {
    return *error;
  }
  if (auto error = add_entries(document, "users", "user", file, entries.users)) return *error;
  if (auto error = add_entries(document, "contexts", "context", file, entries.contexts)) {
    return *error;
  }
  const auto current = document.find("current-context");
  if (entries.current_context.empty() && current != document.end() && current->is_string()) {
    entries.current_context = current->get<std::string>();
  }
  return true;
}

base::Result<Entries> read_files(const std::string& files) {
  Entries entries;
  std::size_t read = 0;
  std::string empty;
  for (const std::string& file : base::split(files, ':')) {
    std::error_code ignored;
    // kubectl passes over the missing ones in silence.
    if (file.empty() || !std::filesystem::exists(file, ignored)) continue;
    if (std::filesystem::is_directory(file, ignored)) {
      return invalid(base::cat(file, ": not a kubeconfig: it is a folder: name a file in it"));
    }
    const auto added = add_file(file, entries);
    if (!added) return added.error();
    // And over empty ones, as `touch` makes them, and /dev/null.
    if (*added) {
      ++read;
    } else {
      empty = file;
    }
  }
  if (read == 0 && !empty.empty()) {
    return invalid(base::cat(empty, ": not a kubeconfig: it is empty"));
  }
  if (read == 0) {
    return invalid(base::cat("kubeconfig ", files,
                             ": there is no such file: name one with "
                             "--kubeconfig or KUBECONFIG"));
  }
  return entries;
}

std::optional<base::Error> read_cluster(const Entry& entry, http::ClientConfig& config) {
  EntryReader in(entry);
  config.base_url = in.text("server");
  while (config.base_url.ends_with('/')) config.base_url.pop_back();
  if (!config.base_url.starts_with("https://") && !config.base_url.starts_with("http://")) {
    in.fail("server", "must be the URL of an API server, as https://10.0.0.1:6443");
  }
  config.server_name = in.text("tls-server-name");
  config.insecure_skip_tls_verify = in.flag("insecure-skip-tls-verify");
  config.ca_pem = in.decoded("certificate-authority-data");
  if (config.ca_pem.empty()) config.ca_file = in.file("certificate-authority");
  if (config.insecure_skip_tls_verify && !(config.ca_pem.empty() && config.ca_file.empty())) {
    in.fail("insecure-skip-tls-verify", "contradicts certificate-authority: remove one of them");
  }
  in.refuse("proxy-url",
            "is not supported: remove it where the server can be reached without it, or go through "
            "`kubectl proxy` (docs/install.md, Proxies)");
  return in.error();
}

// What the cluster's entry has for a program that gives credentials; JSON, "" for nothing.
std::string exec_extension(const Entry& cluster) {
  EntryReader in(cluster);
  for (const Json& extension : in.list("extensions")) {
    if (!extension.is_object() || !extension.contains("extension")) continue;
    if (extension.value("name", Json()) == "client.authentication.k8s.io/exec") {
      return extension["extension"].dump();
    }
  }
  return {};
}

base::Result<ExecPlugin> read_exec(const Entry& user, const Entry& cluster) {
  constexpr char kV1[] = "client.authentication.k8s.io/v1";
  const Entry entry{user.file, user.where + ".exec", user.fields.at("exec")};
  ExecPlugin plugin;
  plugin.where = base::cat(entry.file, ": ", entry.where);
  if (!entry.fields.is_object()) return invalid(plugin.where + " must hold fields");
  EntryReader in(entry);
  plugin.api_version = in.text("apiVersion");
  if (plugin.api_version != kV1 && plugin.api_version != base::cat(kV1, "beta1")) {
    in.fail("apiVersion", base::cat("must be ", kV1, " or ", kV1, "beta1"));
  }
  plugin.command = in.text("command");
  if (plugin.command.empty()) in.fail("command", "is missing");
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = std::filesystem::path(entry.file).parent_path() / plugin.command;
  }
  plugin.arguments = in.texts("args");
  for (const Json& variable : in.list("env")) {
    const Entry one{entry.file, entry.where + ".env[]", variable};
    EntryReader of(one);
    if (!variable.is_object()) {
      in.fail("env", "must be a list of names and values");
      break;
    }
    plugin.environment.push_back(base::cat(of.text("name"), "=", of.text("value")));
    if (of.error()) return *of.error();
  }
  plugin.install_hint = in.text("installHint");
  plugin.wants_cluster = in.flag("provideClusterInfo");
  plugin.cluster_config = exec_extension(cluster);
  const std::string mode = in.text("interactiveMode");
  if (mode == "Never") {
    plugin.interaction = Interaction::Never;
  } else if (mode == "Always") {
    plugin.interaction = Interaction::Always;
  } else if (mode != "IfAvailable" && !(mode.empty() && plugin.api_version != kV1)) {
    in.fail("interactiveMode", "must be Never, IfAvailable or Always");
  }
  if (in.error()) return *in.error();
  return plugin;
}

// For whom the user acts, as header fields of each request: without a name for nobody, as in
// client-go.
void read_impersonation(const Entry& entry, EntryReader& in, http::ClientConfig& config) {
  const auto add = [&](const char* field, const std::string& name, const std::string& value) {
    if (std::ranges::any_of(value, [](unsigned char c) { return c < ' ' || c == 0x7f; })) {
      in.fail(field, "must not have control characters");
    }
    config.fields.emplace_back(name, value);
  };
  const std::string user = in.text("as");
  if (!user.empty()) add("as", "Impersonate-User", user);
  const std::string uid = in.text("as-uid");
  if (!uid.empty()) add("as-uid", "Impersonate-Uid", uid);
  for (const std::string& group : in.texts("as-groups")) {
    add("as-groups", "Impersonate-Group", group);
  }
  for (const auto& [key, values] : in.named_texts("as-user-extra")) {
    for (const std::string& value : values) {
      add("as-user-extra", base::cat("Impersonate-Extra-", http::percent_encoded(key)), value);
    }
  }
  if (!user.empty()) return;
  for (const char* field : {"as-uid", "as-groups", "as-user-extra"}) {
    if (has_field(entry.fields, field)) {
      in.fail("as", base::cat("is missing: ", field, " is for a user that it names"));
    }
  }
}

std::optional<base::Error> read_user(const Entry& entry, http::ClientConfig& config, ExecUse use) {
  constexpr char kOtherUser[] =
      "is not supported: use a client certificate, a token or a tokenFile, for example from "
      "`kubectl create token`";
  EntryReader in(entry);
  if (use == ExecUse::Refused) in.refuse("exec", kOtherUser);
  for (const char* field : {"auth-provider", "username", "password"}) in.refuse(field, kOtherUser);
  read_impersonation(entry, in, config);
  config.certificate_pem = in.decoded("client-certificate-data");
  if (config.certificate_pem.empty()) config.certificate_file = in.file("client-certificate");
  config.key_pem = in.decoded("client-key-data");
  if (config.key_pem.empty()) config.key_file = in.file("client-key");
  const bool has_certificate = !(config.certificate_pem.empty() && config.certificate_file.empty());
  const bool has_key = !(config.key_pem.empty() && config.key_file.empty());
  if (has_certificate && !has_key) in.fail("client-key", "is missing for the client certificate");
  if (has_key && !has_certificate) in.fail("client-certificate", "is missing for the client key");
  config.token = in.text("token");
  config.token_file = in.file("tokenFile");
  return in.error();
}

// The entry that `field` of the context refers to; null when it refers to none.
base::Result<const Entry*> referred(const std::map<std::string, Entry>& entries,
                                    const Entry& context, const char* field, const char* list) {
  EntryReader in(context);
  const std::string name = in.text(field);
  const auto it = entries.find(name);
  if (it == entries.end() && name.empty() && !in.error()) return nullptr;
  if (it == entries.end())
    in.fail(field, base::cat("names \"", name, "\", which is not in ", list));
  if (in.error()) return *in.error();
  return &it->second;
}

bool is_readable(const std::string& file) { return std::ifstream(file).good(); }

std::string content_of(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return std::string(base::trim(text.str()));
}

}  // namespace

base::Result<ClusterAccess> load_kubeconfig(const std::string& files, const std::string& context,
                                            ExecUse use) {
  const auto entries = read_files(files);
  if (!entries) return entries.error();
  const std::string name = context.empty() ? entries->current_context : context;
  const auto chosen = entries->contexts.find(name);
  if (chosen == entries->contexts.end()) {
    return invalid(base::cat("kubeconfig ", files,
                             context.empty() ? ": current-context \"" : ": context \"", name,
                             "\" is not in contexts: ",
                             context.empty() ? "choose one with kubectl config use-context"
                                             : "kubectl config get-contexts lists them"));
  }
  const auto cluster = referred(entries->clusters, chosen->second, "cluster", "clusters");
  if (!cluster) return cluster.error();
  const auto user = referred(entries->users, chosen->second, "user", "users");
  if (!user) return user.error();

  EntryReader in(chosen->second);
  if (*cluster == nullptr) in.fail("cluster", "is missing");
  if (in.error()) return *in.error();
  ClusterAccess access;
  if (const auto error = read_cluster(**cluster, access.http)) return *error;
  // Without a user: anonymous.
  if (*user != nullptr) {
    if (const auto error = read_user(**user, access.http, use)) return *error;
    // The user's own token goes before the program, a certificate beside it, as in client-go.
    const bool has_token = !(access.http.token.empty() && access.http.token_file.empty());
    if (!has_token && has_field((*user)->fields, "exec")) {
      auto plugin = read_exec(**user, **cluster);
      if (!plugin) return plugin.error();
      access.exec = *std::move(plugin);
    }
  }
  access.ns = in.text("namespace");
  if (in.error()) return *in.error();
  if (access.ns.empty()) access.ns = "default";
  access.context = name;
  access.source = base::cat(chosen->second.file, ", context ", name);
  return access;
}

base::Result<ClusterAccess> in_cluster(const std::string& host, const std::string& port,
                                       const std::string& directory) {
  ClusterAccess access;
  access.http.token_file = directory + "/token";
  access.http.ca_file = directory + "/ca.crt";
  for (const std::string& file : {access.http.token_file, access.http.ca_file}) {
    if (!is_readable(file)) {
      return invalid(base::cat(file,
                               ": cannot be read: the pod needs a service account with "
                               "automountServiceAccountToken"));
    }
  }
  const bool is_ipv6 = host.find(':') != std::string::npos;
  access.http.base_url =
      base::cat("https://", is_ipv6 ? base::cat('[', host, ']') : host, ":", port);
  access.ns = content_of(directory + "/namespace");
  if (access.ns.empty()) access.ns = "default";
  access.source = "in-cluster";
  return access;
}

base::Result<ClusterAccess> find_cluster(const std::string& flag, const Environment& environment,
                                         const std::string& context, ExecUse use) {
  if (!flag.empty()) return load_kubeconfig(flag, context, use);
  if (const std::string files = environment("KUBECONFIG"); !files.empty()) {
    return load_kubeconfig(files, context, use);
  }
  if (const std::string host = environment("KUBERNETES_SERVICE_HOST");
      !host.empty() && context.empty()) {
    return in_cluster(host, environment("KUBERNETES_SERVICE_PORT"));
  }
  return load_kubeconfig(environment("HOME") + "/.kube/config", context, use);
}

base::Error with_credentials_remedy(base::Error error) {
  if (error.is_unauthenticated) {
    error.message +=
        ": the API server does not take the credentials, which are of another cluster or have "
        "expired: see that the program's ServiceAccount exists, or correct the file of "
        "--kubeconfig";
  }
  return error;
}

}  // namespace cdom::kube
