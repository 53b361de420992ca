#include "compute_domain/plugin/bundle.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"
#include "plugin/archive.h"
#include "plugin/text/json_report.h"

namespace cdom::plugin {

namespace {

using base::cat;
using Json = nlohmann::ordered_json;

constexpr char kManifest[] = "manifest.json";
constexpr char kFormatName[] = "compute-domain-bundle";
// Goes up when an older plugin would misread what is written.
constexpr int kFormat = 1;

std::string path_of(const char* plural) { return cat("objects/", plural, ".json"); }

// A name of these objects that cannot be one; "": there is none. Names stand in the commands that
// people are given to run.
template <class T>
std::string odd_name_in(const std::vector<T>& objects) {
  for (const T& object : objects) {
    const api::ObjectMeta& meta = object.meta;
    if (!base::is_dns_subdomain(meta.name)) return meta.name;
    if (!meta.ns.empty() && !base::is_dns_label(meta.ns)) return meta.ns;
    if constexpr (std::is_same_v<T, api::PodState>) {
      if (!object.node.empty() && !base::is_dns_subdomain(object.node)) return object.node;
      for (const auto* containers : {&object.containers, &object.init_containers}) {
        for (const api::ContainerState& container : *containers) {
          if (!base::is_dns_label(container.name)) return container.name;
        }
      }
    }
  }
  return "";
}

std::string manifest_of(const ClusterView& view) {
  Json counts = Json::object();
  for_each_kind(view,
                [&](const char* plural, const auto& objects) { counts[plural] = objects.size(); });
  Json of_others = Json::object();
  for (const auto& [plural, names] : view.of_others) {
    for (const api::ObjectName& name : names) of_others[plural].push_back(api::to_string(name));
  }
  Json unreadable = Json::object();
  for (const auto& [plural, problems] : view.unreadable) {
    for (const auto& [name, problem] : problems) {
      unreadable[plural][api::to_string(name)] = problem;
    }
  }
  return json_report({{"bundle", kFormatName},
                      {"format", kFormat},
                      {"writtenBy", CDOM_VERSION},
                      {"taken", base::to_rfc3339(view.taken)},
                      {"serverVersion", view.server_version},
                      {"namespace", view.namespaces.user},
                      {"operatorNamespace", view.namespaces.operators},
                      {"nodeNamespace", view.namespaces.nodes},
                      {"objects", std::move(counts)},
                      {"ofOthers", std::move(of_others)},
                      {"podsReadIn", view.pods_read_in},
                      {"unreadable", std::move(unreadable)}});
}

const ArchivedFile* find_file(const std::vector<ArchivedFile>& files, const std::string& name) {
  const auto it = std::ranges::find(files, name, &ArchivedFile::name);
  return it == files.end() ? nullptr : &*it;
}

std::string text_in(const Json& json, const char* name) {
  const auto it = json.find(name);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

// How many objects of a kind the manifest lists.
std::size_t count_in(const Json& manifest, const char* plural) {
  const auto counts = manifest.find("objects");
  if (counts == manifest.end() || !counts->is_object()) return 0;
  const auto it = counts->find(plural);
  return it != counts->end() && it->is_number_unsigned() ? it->get<std::size_t>() : 0;
}

// Calls `visit` with what `field` has of each kind that there is, and for nothing of other shapes.
template <class Visit>
void for_each_member(const Json& manifest, const char* field, const Visit& visit) {
  const auto kinds = manifest.find(field);
  if (kinds == manifest.end() || !kinds->is_object()) return;
  const ClusterView names_kinds;
  for_each_kind(names_kinds, [&](const char* plural, const auto& /*objects*/) {
    const auto members = kinds->find(plural);
    if (members == kinds->end() || !members->is_structured()) return;
    for (const auto& [key, value] : members->items()) {
      if (value.is_string()) visit(plural, key, value.template get<std::string>());
    }
  });
}

// "team-a/train"; "n01" is of no namespace.
api::ObjectName name_in(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return {"", text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

// The manifest, when it is one of this format.
base::Result<Json> manifest_in(const std::vector<ArchivedFile>& files) {
  const ArchivedFile* file = find_file(files, kManifest);
  const Json json = file == nullptr ? Json() : Json::parse(file->text, nullptr, false);
  if (!json.is_object() || text_in(json, "bundle") != kFormatName) {
    return base::invalid(
        "it is not a bundle: `kubectl compute-domain bundle FILE` writes such a file");
  }
  const auto format = json.find("format");
  const bool is_number = format != json.end() && format->is_number_integer();
  if (is_number && format->get<std::int64_t>() == kFormat) return json;
  return base::invalid(cat("it is a bundle of format ", is_number ? format->dump() : "unknown",
                           " (written by release ", text_in(json, "writtenBy"),
                           "), and this plugin reads format ", kFormat,
                           ": use the plugin of that release"));
}

base::Result<ClusterView> view_in(const std::vector<ArchivedFile>& files, const Json& manifest) {
  ClusterView view;
  const auto taken = base::parse_rfc3339(text_in(manifest, "taken"));
  if (!taken) return base::invalid("its manifest does not say when it was taken");
  view.taken = *taken;
  view.server_version = text_in(manifest, "serverVersion");
  view.namespaces = {.user = text_in(manifest, "namespace"),
                     .operators = text_in(manifest, "operatorNamespace"),
                     .nodes = text_in(manifest, "nodeNamespace")};
  view.pods_read_in = text_in(manifest, "podsReadIn");
  for_each_member(manifest, "ofOthers", [&](const char* plural, const auto&, const auto& name) {
    view.of_others[plural].insert(name_in(name));
  });
  for_each_member(manifest, "unreadable",
                  [&](const char* plural, const auto& name, const auto& problem) {
                    view.unreadable[plural].emplace(name_in(name), problem);
                  });
  base::Result<void> done;
  for_each_kind(view, [&]<class T>(const char* plural, std::vector<T>& objects) {
    if (!done) return;
    const std::size_t listed = count_in(manifest, plural);
    const ArchivedFile* file = find_file(files, path_of(plural));
    if (file == nullptr && listed > 0) {
      done = base::invalid(cat("it is incomplete: it lacks ", path_of(plural)));
    }
    if (file == nullptr) return;
    auto page = api::decode_page<T>(file->text);
    if (!page) {
      done = base::invalid(cat(path_of(plural), ": ", page.error().message));
    } else if (!page->unreadable.empty()) {
      done = base::invalid(cat(path_of(plural), ": ", page->unreadable.front().problem));
    } else if (const std::string odd = odd_name_in(page->items); !odd.empty()) {
      done =
          base::invalid(cat(path_of(plural), ": \"", odd, "\" is a name that no API server takes"));
    } else if (page->items.size() != listed) {
      done = base::invalid(cat("it is incomplete: ", path_of(plural), " has ", page->items.size(),
                               " objects, and the manifest says ", listed));
    } else {
      objects = std::move(page->items);
    }
  });
  if (!done) return done.error();
  return reduced(std::move(view));
}

}  // namespace

base::Result<std::string> packed_bundle(const ClusterView& view, const std::vector<PodLog>& logs) {
  std::vector<ArchivedFile> files{{kManifest, manifest_of(view)}};
  for_each_kind(view, [&](const char* plural, const auto& objects) {
    files.push_back({path_of(plural), api::encode_list(objects)});
  });
  for (const PodLog& log : logs) {
    files.push_back({cat("logs/", log.ns, "/", log.pod, "/", log.container,
                         log.is_previous ? ".previous.log" : ".log"),
                     log.text});
  }
  return packed(files, view.taken);
}

base::Result<void> write_bundle(const ClusterView& view, const std::string& file,
                                const std::vector<PodLog>& logs) {
  const auto text = packed_bundle(view, logs);
  if (!text) return text.error();
  return base::replace_users_file(file, *text);
}

base::Result<ClusterView> read_bundle(const std::string& file) {
  const auto about = [&](const base::Error& error) {
    return base::invalid(cat("cannot read bundle ", file, ": ", error.message));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    return about(base::invalid("it is a folder: name the .tar.gz in it"));
  }
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const auto files = unpacked(*text);
  if (!files) {
    return about(base::invalid(
        cat("it is not a whole .tar.gz, perhaps it was cut off (", files.error().message, ")")));
  }
  const auto manifest = manifest_in(*files);
  if (!manifest) return about(manifest.error());
  auto view = view_in(*files, *manifest);
  if (!view) return about(view.error());
  return view;
}

std::vector<controller::ObjectFile> object_files_of(const ClusterView& view) {
  std::vector<controller::ObjectFile> files;
  for_each_kind(view, [&](const char* plural, const auto& objects) {
    if (!objects.empty()) files.push_back({path_of(plural), api::encode_list(objects), true});
  });
  return files;
}

}  // namespace cdom::plugin
