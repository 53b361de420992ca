#include "sandbox/apiserver/rest/deletes.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/kinds/definitions.h"
#include "sandbox/apiserver/printing/representation.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/rest/unknown_fields.h"
#include "sandbox/apiserver/rest/writes.h"
#include "sandbox/apiserver/rules/admission_steps.h"
#include "sandbox/apiserver/rules/workload_rules.h"
#include "sandbox/apiserver/serving/body.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/apiserver/storage/selection.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

struct DeleteOptions {
  std::optional<std::int64_t> grace_seconds;
  std::string propagation;  // "", "Background", "Foreground", "Orphan"
  std::string uid, resource_version;
};

DeleteOptions read_options(Call& call) {
  DeleteOptions options;
  json body = read_body(call.request);
  if (body.is_null()) {
    // Without a body the options may stand in the query.
    body = json::object();
    if (const std::string& text = call.info.option("gracePeriodSeconds"); !text.empty()) {
      if (const auto seconds = parse_resource_version(text)) body["gracePeriodSeconds"] = *seconds;
    }
    if (const std::string& text = call.info.option("propagationPolicy"); !text.empty()) {
      body["propagationPolicy"] = text;
    }
  }
  const json& grace = at_path(body, {"gracePeriodSeconds"});
  if (grace.is_number_integer()) options.grace_seconds = grace.get<std::int64_t>();
  options.propagation = text_at(body, {"propagationPolicy"});
  if (at_path(body, {"orphanDependents"}) == true) options.propagation = "Orphan";
  options.uid = text_at(body, {"preconditions", "uid"});
  options.resource_version = text_at(body, {"preconditions", "resourceVersion"});
  call.dry_run |= list_has(at_path(body, {"dryRun"}), "All");
  return options;
}

void check_preconditions(const Call& call, const DeleteOptions& options, const json& object) {
  const std::string& name = name_of(object);
  if (!options.uid.empty() && options.uid != uid_of(object)) {
    throw StatusError(conflict(*call.kind, name,
                               cat("Precondition failed: UID in precondition: ", options.uid,
                                   ", UID in object meta: ", uid_of(object))));
  }
  const std::string& version = text_at(object, {"metadata", "resourceVersion"});
  if (!options.resource_version.empty() && options.resource_version != version) {
    throw StatusError(conflict(
        *call.kind, name,
        cat("Precondition failed: ResourceVersion in precondition: ", options.resource_version,
            ", ResourceVersion in object meta: ", version)));
  }
}

// The finalizers by which the garbage collector is asked to act before the object goes.
void add_propagation(const DeleteOptions& options, json& object) {
  const char* wanted = options.propagation == "Foreground" ? "foregroundDeletion"
                       : options.propagation == "Orphan"   ? "orphan"
                                                           : nullptr;
  if (wanted == nullptr) return;
  json& finalizers = object["metadata"]["finalizers"];
  if (finalizers.is_null()) finalizers = json::array();
  if (!list_has(finalizers, wanted)) finalizers.push_back(wanted);
}

void mark_deleted(const Call& call, json& object, std::int64_t grace_seconds) {
  json& metadata = object["metadata"];
  const base::Time when = call.state.clock.now() + std::chrono::seconds(grace_seconds);
  metadata["deletionTimestamp"] = base::to_rfc3339(when);
  metadata["deletionGracePeriodSeconds"] = grace_seconds;
  if (const std::int64_t generation = metadata.value("generation", std::int64_t{0});
      generation > 0) {
    metadata["generation"] = generation + 1;
  }
  if (call.kind->bucket == "namespaces") object["status"]["phase"] = "Terminating";
}

// A namespace waits for its contents to be deleted: spec.finalizers says so.
bool waits(const Kind& kind, const json& object, std::int64_t grace_seconds) {
  const json& of_namespace = at_path(object, {"spec", "finalizers"});
  return has_finalizers(object) || grace_seconds > 0 ||
         (kind.bucket == "namespaces" && of_namespace.is_array() && !of_namespace.empty());
}

struct Deleted {
  Object object;
  bool is_gone = false;
};

Deleted delete_one(Call& call, const DeleteOptions& options, const std::string& key,
                   const Object& old_object);

// Deletes the objects of a definition; some may stay, with finalizers.
void delete_instances(Call& call, const json& definition, json& next) {
  const KindRef kind = call.state.kinds.stored(text_at(definition, {"spec", "group"}),
                                               text_at(definition, {"spec", "names", "plural"}));
  if (!kind || call.dry_run) return;
  for (const Object& instance : call.state.storage.range(kind->bucket, "")) {
    const http::Request request{.method = "DELETE"};
    RequestInfo info;
    info.verb = "delete";
    info.namespace_ = namespace_of(instance->value());
    info.name = name_of(instance->value());
    Call deletion{call.state, request, info, call.user, kind};
    delete_one(deletion, {}, deletion.key(), instance);
  }
  if (call.state.storage.snapshot(kind->bucket).size() == 0) return;
  json& finalizers = next["metadata"]["finalizers"];
  if (finalizers.is_null()) finalizers = json::array();
  if (!list_has(finalizers, kDefinitionFinalizer)) finalizers.push_back(kDefinitionFinalizer);
}

Deleted delete_one(Call& call, const DeleteOptions& options, const std::string& key,
                   const Object& old_object) {
  const json& before = old_object->value();
  check_preconditions(call, options, before);
  admit(call, "DELETE", nullptr, &before);
  json next = before;
  add_propagation(options, next);
  if (is_definition(*call.kind)) delete_instances(call, before, next);
  const bool is_pod = call.kind->bucket == "pods";
  const std::int64_t grace = is_pod ? grace_period_of(before, options.grace_seconds) : 0;

  if (!waits(*call.kind, next, grace)) {
    if (call.dry_run) return {.object = old_object, .is_gone = true};
    return {.object = remove_last_state(call, key, std::move(next)), .is_gone = true};
  }
  const bool was_deleted = is_being_deleted(before);
  const std::int64_t grace_before =
      before.at("metadata").value("deletionGracePeriodSeconds", std::int64_t{0});
  if (!was_deleted || (is_pod && grace < grace_before)) {
    mark_deleted(call, next, grace);
  } else if (next == before) {
    return {.object = old_object};
  }
  if (call.dry_run) {
    return {.object = std::make_shared<const StoredObject>(std::move(next),
                                                           old_object->resource_version())};
  }
  Object stored = call.state.storage.put(call.kind->bucket, key, std::move(next));
  call.state.stored(*call.kind, *stored);
  return {.object = std::move(stored)};
}

// Kinds whose deletion is answered with the object (ReturnDeletedObject in Kubernetes' registry).
bool returns_object(const Kind& kind) {
  return kind.bucket == "pods" || kind.bucket == "serviceaccounts" ||
         kind.group == "resource.k8s.io";
}

http::Response success(const Call& call, const json& object) {
  json details = {
      {"name", name_of(object)}, {"kind", call.kind->resource}, {"uid", uid_of(object)}};
  if (!call.kind->group.empty()) details["group"] = call.kind->group;
  http::Response response{
      .status = 200,
      .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}},
      .body = json{{"kind", "Status"},
                   {"apiVersion", "v1"},
                   {"metadata", json::object()},
                   {"status", "Success"},
                   {"details", std::move(details)}}
                  .dump()};
  add_warnings(call, response);
  return response;
}

}  // namespace

bool is_ready_to_go(const json& object) {
  if (!is_being_deleted(object) || has_finalizers(object)) return false;
  const json& of_namespace = at_path(object, {"spec", "finalizers"});
  if (object.value("kind", "") == "Namespace" && of_namespace.is_array() && !of_namespace.empty()) {
    return false;
  }
  return object.at("metadata").value("deletionGracePeriodSeconds", std::int64_t{0}) == 0;
}

Object remove_last_state(Call& call, const std::string& key, json last) {
  Object removed = call.state.storage.remove(call.kind->bucket, key, std::move(last));
  call.state.removed(*call.kind, *removed);
  return removed;
}

http::Response delete_object(Call& call) {
  const DeleteOptions options = read_options(call);
  const Object old_object = call.state.storage.get(call.kind->bucket, call.key());
  if (!old_object) throw StatusError(not_found(*call.kind, call.info.name));
  const Deleted deleted = delete_one(call, options, call.key(), old_object);
  if (deleted.is_gone && !returns_object(*call.kind)) {
    return success(call, deleted.object->value());
  }
  return answer(call, 200, *deleted.object);
}

http::Response delete_collection(Call& call) {
  const DeleteOptions options = read_options(call);
  const Selection selection(*call.kind, call.info);
  std::vector<Object> chosen;
  for (const Object& object : call.state.storage.range(call.kind->bucket, call.prefix())) {
    if (!selection.matches(object->value())) continue;
    const std::string& name = name_of(object->value());
    const std::string key =
        call.kind->namespaced ? cat(namespace_of(object->value()), "/", name) : name;
    chosen.push_back(delete_one(call, options, key, object).object);
  }
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = Representation(call.kind, call.request, call.info, call.state.clock)
                      .list(chosen, {.resource_version = call.state.storage.resource_version()})};
}

}  // namespace cdom::sandbox::server
