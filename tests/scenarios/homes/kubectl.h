// Kubectl: what a person does with kubectl in one namespace, over the API and no program.
//
// An answer that is not success throws std::runtime_error with the server's words, but for the
// reads, to which absence is an answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/client.h"

namespace cdom::scenarios {

// A line of `kubectl get computedomains -o wide`, as the server prints it.
struct DomainRow {
  std::string name, status, ready, cliques, reason, message;
};

// A line of `kubectl get computedomainnodes -o wide`.
struct NodeRow {
  std::string name, state, domains, unreachable, message;
};

class Kubectl {
 public:
  Kubectl(http::Client& transport, const base::Clock& clock, std::string ns);

  [[nodiscard]] const std::string& ns() const { return ns_; }
  // Typed reads.
  [[nodiscard]] const kube::Client& client() const { return client_; }
  // Of resource.k8s.io, as the server serves it: "v1".
  [[nodiscard]] std::string resource_version() const;

  // `get -o json`; "" when there is none.
  [[nodiscard]] std::string get(const std::string& kind, const std::string& name) const;
  // `apply --server-side -f`; an object without a namespace gets this one.
  void apply(const std::string& yaml);
  void apply_file(const std::string& path_in_source);
  // `patch --type merge`.
  void patch(const std::string& kind, const std::string& name, const std::string& merge_patch,
             const std::string& subresource = {});
  void annotate(const std::string& kind, const std::string& name, const std::string& annotation,
                const std::optional<std::string>& value);
  // `delete --ignore-not-found --wait=false`; the namespace is this one unless named.
  void remove(const std::string& kind, const std::string& name);
  // `delete --cascade=orphan`.
  void orphan(const std::string& kind, const std::string& name);
  void remove_by_force(const std::string& kind, const std::string& name);
  void remove_in(const std::string& other_ns, const std::string& kind, const std::string& name);
  // `delete --all`.
  void remove_all(const std::string& kind);

  // The server's answer when it refuses the object; "" when it does not (and has it now).
  [[nodiscard]] std::string refusal_of(const std::string& yaml);
  [[nodiscard]] std::vector<DomainRow> computedomains() const;
  [[nodiscard]] std::vector<NodeRow> computedomainnodes() const;

 private:
  // The named columns of each line of the table.
  [[nodiscard]] std::vector<std::vector<std::string>> table(
      const std::string& target, const std::vector<std::string>& columns) const;
  void apply_object(const std::string& json);
  [[nodiscard]] std::string path(const std::string& kind, const std::string& ns,
                                 const std::string& name,
                                 const std::string& subresource = {}) const;
  void remove_at(const std::string& path, bool by_force, const char* propagation = "Background");
  http::Response send(http::Request request) const;
  // As send(), for answers that have to be success.
  void change(http::Request request) const;

  http::Client& transport_;
  kube::Client client_;
  const std::string ns_;
};

}  // namespace cdom::scenarios
