#include "sandbox/apiserver/printing/builtin_tables.h"

#include <map>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/printing/table_cell.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

std::string or_none(const std::string& text) { return text.empty() ? "<none>" : text; }

std::int64_t number_at(const json& object, std::initializer_list<std::string_view> path) {
  const json& value = at_path(object, path);
  return value.is_number() ? value.get<std::int64_t>() : 0;
}

bool has_true_condition(const json& object, std::string_view type) {
  const json& conditions = at_path(object, {"status", "conditions"});
  if (!conditions.is_array()) return false;
  for (const json& condition : conditions) {
    if (text_at(condition, {"type"}) == type) return text_at(condition, {"status"}) == "True";
  }
  return false;
}

// "c1,c2" of the containers' `field`.
std::string of_containers(const json& containers, const char* field) {
  std::vector<std::string> out;
  if (containers.is_array()) {
    for (const json& container : containers) out.push_back(text_at(container, {field}));
  }
  return base::join(out, ",");
}

std::string label_pairs(const json& labels) {
  std::vector<std::string> out;
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      out.push_back(cat(key, "=", value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  return or_none(base::join(out, ","));
}

json name_and_age(const json& object, base::Time now) {
  return {name_of(object), age_cell(object, now)};
}

json name_and_creation(const json& object, base::Time /*now*/) {
  return {name_of(object), text_at(object, {"metadata", "creationTimestamp"})};
}

json node_cells(const json& node, base::Time now) {
  std::string status = "Unknown";
  const json& conditions = at_path(node, {"status", "conditions"});
  if (conditions.is_array()) {
    for (const json& condition : conditions) {
      if (text_at(condition, {"type"}) != "Ready") continue;
      status = text_at(condition, {"status"}) == "True" ? "Ready" : "NotReady";
    }
  }
  if (at_path(node, {"spec", "unschedulable"}) == true) status += ",SchedulingDisabled";

  constexpr std::string_view kRole = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  const json& labels = at_path(node, {"metadata", "labels"});
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (key.starts_with(kRole)) roles.push_back(key.substr(kRole.size()));
    }
  }
  const auto address = [&](std::string_view type) -> std::string {
    const json& addresses = at_path(node, {"status", "addresses"});
    if (addresses.is_array()) {
      for (const json& entry : addresses) {
        if (text_at(entry, {"type"}) == type) return text_at(entry, {"address"});
      }
    }
    return "<none>";
  };
  const auto fact = [&](const char* field) -> std::string {
    const std::string& text = text_at(node, {"status", "nodeInfo", field});
    return text.empty() ? "<unknown>" : text;
  };
  std::string kernel = fact("kernelVersion");
  if (const std::string& machine = text_at(node, {"status", "nodeInfo", "architecture"});
      !machine.empty()) {
    kernel += cat(" (", machine, ")");
  }
  return {name_of(node),
          status,
          or_none(base::join(roles, ",")),
          age_cell(node, now),
          text_at(node, {"status", "nodeInfo", "kubeletVersion"}),
          address("InternalIP"),
          address("ExternalIP"),
          fact("osImage"),
          kernel,
          fact("containerRuntimeVersion")};
}

std::string job_status(const json& job) {
  if (has_true_condition(job, "Complete")) return "Complete";
  if (has_true_condition(job, "Failed")) return "Failed";
  if (is_being_deleted(job)) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (has_true_condition(job, type)) return type;
  }
  return "Running";
}

std::string job_duration(const json& job, base::Time now) {
  const auto started = base::parse_rfc3339(text_at(job, {"status", "startTime"}));
  if (!started) return "";
  const auto ended = base::parse_rfc3339(text_at(job, {"status", "completionTime"}));
  return human_duration(ended.value_or(now) - *started);
}

json job_cells(const json& job, base::Time now) {
  const json& wanted = at_path(job, {"spec", "completions"});
  const std::int64_t parallelism = number_at(job, {"spec", "parallelism"});
  std::string completions = cat(number_at(job, {"status", "succeeded"}), "/");
  completions += wanted.is_number() ? wanted.dump() : "1";
  if (!wanted.is_number() && parallelism > 1) completions += cat(" of ", parallelism);
  const json& containers = at_path(job, {"spec", "template", "spec", "containers"});
  return {name_of(job),
          job_status(job),
          completions,
          job_duration(job, now),
          age_cell(job, now),
          of_containers(containers, "name"),
          of_containers(containers, "image"),
          label_pairs(at_path(job, {"spec", "selector", "matchLabels"}))};
}

json event_cells(const json& event, base::Time now) {
  const auto since = [&](std::initializer_list<std::string_view> path) {
    return age_of(at_path(event, path), now);
  };
  std::string first = since({"firstTimestamp"});
  if (at_path(event, {"firstTimestamp"}).is_null()) first = since({"eventTime"});
  std::string last = at_path(event, {"lastTimestamp"}).is_null() ? first : since({"lastTimestamp"});
  std::int64_t count = std::max<std::int64_t>(number_at(event, {"count"}), 1);
  if (at_path(event, {"series"}).is_object()) {
    last = since({"series", "lastObservedTime"});
    count = number_at(event, {"series", "count"});
  }
  std::string target = base::to_lower(text_at(event, {"involvedObject", "kind"}));
  if (const std::string& name = text_at(event, {"involvedObject", "name"}); !name.empty()) {
    target += cat("/", name);
  }
  std::string source = text_at(event, {"source", "component"});
  std::string host = text_at(event, {"source", "host"});
  if (source.empty()) {
    source = text_at(event, {"reportingComponent"});
    host = text_at(event, {"reportingInstance"});
  }
  if (!host.empty()) source += cat(", ", host);
  return {last,
          text_at(event, {"type"}),
          text_at(event, {"reason"}),
          target,
          text_at(event, {"involvedObject", "fieldPath"}),
          source,
          base::trim(text_at(event, {"message"})),
          first,
          count,
          name_of(event)};
}

json claim_cells(const json& claim, base::Time now) {
  std::vector<std::string> states;
  const bool is_deleted = is_being_deleted(claim);
  const json& consumers = at_path(claim, {"status", "reservedFor"});
  if (is_deleted) states.push_back("deleted");
  if (at_path(claim, {"status", "allocation"}).is_object()) {
    states.push_back("allocated");
    if (consumers.is_array() && !consumers.empty()) states.push_back("reserved");
  } else if (!is_deleted) {
    states.push_back("pending");
  }
  return {name_of(claim), base::join(states, ","), age_cell(claim, now)};
}

json slice_cells(const json& slice, base::Time now) {
  return {name_of(slice), text_at(slice, {"spec", "nodeName"}), text_at(slice, {"spec", "driver"}),
          text_at(slice, {"spec", "pool", "name"}), age_cell(slice, now)};
}

json binding_cells(const json& binding, base::Time now) {
  const auto subjects = [&](std::string_view kind) {
    std::vector<std::string> out;
    const json& all = at_path(binding, {"subjects"});
    if (!all.is_array()) return std::string();
    for (const json& subject : all) {
      if (text_at(subject, {"kind"}) != kind) continue;
      const std::string& ns = text_at(subject, {"namespace"});
      out.push_back(ns.empty() ? text_at(subject, {"name"})
                               : cat(ns, "/", text_at(subject, {"name"})));
    }
    return base::join(out, ", ");
  };
  return {name_of(binding),
          cat(text_at(binding, {"roleRef", "kind"}), "/", text_at(binding, {"roleRef", "name"})),
          age_cell(binding, now),
          subjects("User"),
          subjects("Group"),
          subjects("ServiceAccount")};
}

json workload_cells(const json& workload, base::Time now) {
  const std::int64_t wanted = number_at(workload, {"spec", "replicas"});
  return {name_of(workload), cat(number_at(workload, {"status", "readyReplicas"}), "/", wanted),
          number_at(workload, {"status", "updatedReplicas"}),
          number_at(workload, {"status", "availableReplicas"}), age_cell(workload, now)};
}

json daemon_set_cells(const json& set, base::Time now) {
  const auto status = [&](const char* field) { return number_at(set, {"status", field}); };
  return {name_of(set),
          status("desiredNumberScheduled"),
          status("currentNumberScheduled"),
          status("numberReady"),
          status("updatedNumberScheduled"),
          status("numberAvailable"),
          label_pairs(at_path(set, {"spec", "template", "spec", "nodeSelector"})),
          age_cell(set, now)};
}

json policy_cells(const json& policy, base::Time now) {
  const std::string& param = text_at(policy, {"spec", "paramKind", "kind"});
  return {name_of(policy), at_path(policy, {"spec", "validations"}).size(),
          param.empty() ? "<unset>"
                        : cat(text_at(policy, {"spec", "paramKind", "apiVersion"}), "/", param),
          age_cell(policy, now)};
}

json policy_binding_cells(const json& binding, base::Time now) {
  const std::string& param = text_at(binding, {"spec", "paramRef", "name"});
  return {name_of(binding), text_at(binding, {"spec", "policyName"}),
          param.empty() ? "<unset>" : cat("*/", param), age_cell(binding, now)};
}

const std::map<std::string, BuiltinTable>& tables() {
  static const std::map<std::string, BuiltinTable> kTables = {
      {"configmaps",
       {{{"Name"}, {"Data"}, {"Age"}},
        [](const json& o, base::Time now) -> json {
          const std::size_t entries =
              at_path(o, {"data"}).size() + at_path(o, {"binaryData"}).size();
          return {name_of(o), std::to_string(entries), age_cell(o, now)};
        }}},
      {"secrets",
       {{{"Name"}, {"Type"}, {"Data"}, {"Age"}},
        [](const json& o, base::Time now) -> json {
          return {name_of(o), text_at(o, {"type"}), std::to_string(at_path(o, {"data"}).size()),
                  age_cell(o, now)};
        }}},
      {"namespaces",
       {{{"Name"}, {"Status"}, {"Age"}},
        [](const json& o, base::Time now) -> json {
          return {name_of(o), text_at(o, {"status", "phase"}), age_cell(o, now)};
        }}},
      {"leases.coordination.k8s.io",
       {{{"Name"}, {"Holder"}, {"Age"}},
        [](const json& o, base::Time now) -> json {
          return {name_of(o), text_at(o, {"spec", "holderIdentity"}), age_cell(o, now)};
        }}},
      {"pods",
       {{{"Name"},
         {"Ready"},
         {"Status"},
         {"Restarts"},
         {"Age"},
         {"IP", "string", 1},
         {"Node", "string", 1},
         {"Nominated Node", "string", 1},
         {"Readiness Gates", "string", 1}},
        pod_cells}},
      {"nodes",
       {{{"Name"},
         {"Status"},
         {"Roles"},
         {"Age"},
         {"Version"},
         {"Internal-IP", "string", 1},
         {"External-IP", "string", 1},
         {"OS-Image", "string", 1},
         {"Kernel-Version", "string", 1},
         {"Container-Runtime", "string", 1}},
        node_cells}},
      {"jobs.batch",
       {{{"Name"},
         {"Status"},
         {"Completions"},
         {"Duration"},
         {"Age"},
         {"Containers", "string", 1},
         {"Images", "string", 1},
         {"Selector", "string", 1}},
        job_cells}},
      {"events",
       {{{"Last Seen"},
         {"Type"},
         {"Reason"},
         {"Object"},
         {"Subobject", "string", 1},
         {"Source", "string", 1},
         {"Message"},
         {"First Seen", "string", 1},
         {"Count", "string", 1},
         {"Name", "string", 1}},
        event_cells}},
      {"resourceclaims.resource.k8s.io", {{{"Name"}, {"State"}, {"Age"}}, claim_cells}},
      {"resourceslices.resource.k8s.io",
       {{{"Name"}, {"Node"}, {"Driver"}, {"Pool"}, {"Age"}}, slice_cells}},
      {"deployments.apps",
       {{{"Name"}, {"Ready"}, {"Up-to-date"}, {"Available"}, {"Age"}}, workload_cells}},
      {"daemonsets.apps",
       {{{"Name"},
         {"Desired", "integer"},
         {"Current", "integer"},
         {"Ready", "integer"},
         {"Up-to-date", "integer"},
         {"Available", "integer"},
         {"Node Selector"},
         {"Age"}},
        daemon_set_cells}},
      {"rolebindings.rbac.authorization.k8s.io",
       {{{"Name"},
         {"Role"},
         {"Age"},
         {"Users", "string", 1},
         {"Groups", "string", 1},
         {"ServiceAccounts", "string", 1}},
        binding_cells}},
      {"clusterrolebindings.rbac.authorization.k8s.io",
       {{{"Name"},
         {"Role"},
         {"Age"},
         {"Users", "string", 1},
         {"Groups", "string", 1},
         {"ServiceAccounts", "string", 1}},
        binding_cells}},
      {"roles.rbac.authorization.k8s.io", {{{"Name"}, {"Created At"}}, name_and_creation}},
      {"clusterroles.rbac.authorization.k8s.io", {{{"Name"}, {"Created At"}}, name_and_creation}},
      {"customresourcedefinitions.apiextensions.k8s.io",
       {{{"Name"}, {"Created At"}}, name_and_creation}},
      {"validatingadmissionpolicies.admissionregistration.k8s.io",
       {{{"Name"}, {"Validations", "integer"}, {"ParamKind"}, {"Age"}}, policy_cells}},
      {"validatingadmissionpolicybindings.admissionregistration.k8s.io",
       {{{"Name"}, {"PolicyName"}, {"ParamRef"}, {"Age"}}, policy_binding_cells}},
  };
  return kTables;
}

}  // namespace

std::string age_cell(const json& object, base::Time now) {
  return age_of(at_path(object, {"metadata", "creationTimestamp"}), now);
}

const BuiltinTable& builtin_table(const Kind& kind) {
  static const BuiltinTable kPlain = {{{"Name"}, {"Age"}}, name_and_age};
  const auto found = tables().find(kind.bucket);
  return found == tables().end() ? kPlain : found->second;
}

}  // namespace cdom::sandbox::server
