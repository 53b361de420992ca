#include "compute_domain/plugin/read_cluster.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "plugin/reduce.h"

namespace cdom::plugin {

namespace {

using base::cat;
using base::Error;
using base::ErrorKind;

std::string right_text(const api::Kind& kind, const char* verb, const std::string& ns) {
  return cat("\"", verb, "\" on ", kind.plural, kind.group.empty() ? "" : ".", kind.group,
             !kind.namespaced ? ""
             : ns.empty()     ? " in all namespaces"
                              : cat(" in namespace ", ns));
}

// With the remedy, where the server's word is "Unauthorized".
Error explained(Error error) {
  if (error.is_unauthenticated) {
    error.message +=
        ": the API server does not take the credentials, which are wrong or have expired: log in "
        "again, or name other ones with --kubeconfig or --context";
  }
  return error;
}

// Fills one view after the other, until something is wrong.
class Reading {
 public:
  Reading(const kube::Client& client, ClusterView& view) : client_(client), view_(view) {}

  // One that is not there is left out.
  void read_definition(const char* plural) {
    if (error_) return;
    auto found = client_.get<api::Definition>({"", cat(plural, ".", api::kGroup)});
    if (found) {
      view_.definitions.push_back(*std::move(found));
    } else if (found.error().kind != ErrorKind::NotFound) {
      fail<api::Definition>(found.error(), "get", "");
    }
  }

  template <class T>
  void read(std::vector<T>& objects, const kube::Selection& of = {}) {
    read_kept(objects, of, [](const T&) { return true; });
  }

  // Reads the objects that `is_kept` takes; none when the server does not have the kind.
  template <class T, class Keep>
  void read_kept(std::vector<T>& objects, const kube::Selection& of, const Keep& is_kept) {
    if (error_) return;
    std::vector<api::Unreadable> unreadable;
    auto found = client_.list_kept<T>(
        of,
        [&](T& object) {
          const bool stays = is_kept(object) && reduce_for(view_, object);
          return stays ? std::optional<T>(std::move(object)) : std::nullopt;
        },
        &unreadable);
    for (api::Unreadable& one : unreadable) {
      view_.unreadable[std::string(api::kind_of<T>().plural)].emplace(std::move(one.name),
                                                                      std::move(one.problem));
    }
    if (found) {
      std::ranges::move(*found, std::back_inserter(objects));
    } else if (found.error().kind != ErrorKind::NotFound) {
      fail<T>(found.error(), "list", of.ns);
    }
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  template <class T>
  void fail(const Error& error, const char* verb, const std::string& ns) {
    error_ = explained(error);
    if (error.kind != ErrorKind::Forbidden || error.is_unauthenticated) return;
    error_->message =
        cat("you lack the right ", right_text(api::kind_of<T>(), verb, ns),
            ": ask a platform administrator for it (docs/kubectl-plugin.md, Install); until then "
            "`kubectl describe computedomain NAME -n ",
            view_.namespaces.user, "` has the cause (the API server says: ", error.message, ")");
  }

  const kube::Client& client_;
  ClusterView& view_;
  std::optional<Error> error_;
};

std::string version_in(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return "";
  const auto version = json.find("gitVersion");
  return version != json.end() && version->is_string() ? version->get<std::string>() : "";
}

}  // namespace

base::Result<ClusterView> read_cluster(kube::Client& client, const Namespaces& namespaces,
                                       const base::Clock& clock) {
  ClusterView view;
  view.namespaces = namespaces;
  if (auto discovered = client.discover(); !discovered) return explained(discovered.error());
  if (const auto version = client.read("/version")) view.server_version = version_in(*version);

  Reading reading(client, view);
  for (const char* plural : {"computedomains", "computedomainnodes", "computedomaincliques"}) {
    reading.read_definition(plural);
  }
  reading.read(view.domains);
  reading.read(view.reports);
  reading.read(view.classes);
  reading.read(view.leases, {.ns = namespaces.operators});
  reading.read(view.deployments, {.ns = namespaces.operators});
  reading.read(view.daemon_sets, {.ns = namespaces.nodes});
  reading.read(view.nodes);
  reading.read(view.slices);
  // Before their claims, as a claim that a pod has is made before the pod says so.
  reading.read_kept(view.pods, {}, [&](const api::PodState& pod) {
    const bool is_kept = !pod.claims.empty() || !pod.extended_claim.empty() ||
                         pod.meta.ns == namespaces.operators || pod.meta.ns == namespaces.nodes;
    if (!is_kept && pod.meta.ns == namespaces.user) {
      view.of_others["pods"].insert(api::name_of(pod.meta));
    }
    return is_kept;
  });
  view.pods_read_in = namespaces.user;
  reading.read(view.claims);
  reading.read(view.templates);
  reading.read(view.lists, {.ns = namespaces.operators});
  const std::set<std::string> involved = involved_uids(view);
  const std::set<std::string> operators{namespaces.operators, namespaces.nodes};
  for (const char* kind : {"ComputeDomain", "ComputeDomainNode", "ResourceClaim", "Pod"}) {
    reading.read_kept(view.events, {.field_selector = cat("involvedObject.kind=", kind)},
                      [&](const api::Occurrence& event) {
                        return involved.contains(event.involved.uid) &&
                               !operators.contains(event.meta.ns);
                      });
  }
  for (const std::string& ns : operators) reading.read(view.events, {.ns = ns});
  if (reading.error()) return *reading.error();
  // Last, as nothing that was read is younger.
  view.taken = clock.now();
  return reduced(std::move(view));
}

}  // namespace cdom::plugin
