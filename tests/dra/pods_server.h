// PodsServer: kubelet's side of the PodsAPI (kubelet/pkg/apis/pods/v1alpha1), as far as a test says
// it: each watch gets what was said, before it begins or while it lasts. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cdom::dra {

enum class PodEvent { Unspecified, Added, Modified, Deleted, InitialSyncComplete };

// A Pod of core/v1.
struct PodText {
  std::string uid;
  std::string ns = "team-a", name = "train-0";
  std::int64_t grace_seconds = 30;
  std::vector<std::string> claims = {};  // resourceClaimName; "": from a template
  std::string phase = "Running";
  bool container_runs = true;
  bool sidecar_runs = false;  // an init container
  bool has_containers = true;
  bool is_deleted = false;
};
// In Kubernetes' protobuf encoding.
std::string bytes_of(const PodText& pod);

class PodsServer {
 public:
  // `ends`: kubelet cuts each watch off when it has said all.
  explicit PodsServer(const std::string& socket, bool ends = false);
  ~PodsServer();
  PodsServer(const PodsServer&) = delete;
  PodsServer& operator=(const PodsServer&) = delete;

  void says(PodEvent event, const std::string& pod = "");
  // To each watch but the first: instead of what the first one gets.
  void says_later(PodEvent event, const std::string& pod = "");
  // Each watch but the first is cut off when it has had all that was said.
  void cuts_off_later();

  // The watches that there have been, and those that there are.
  [[nodiscard]] int begun() const;
  [[nodiscard]] int open() const;

 private:
  class Service;
  const std::unique_ptr<Service> service_;
};

}  // namespace cdom::dra
