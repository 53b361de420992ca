// Kubelet: a client of the plugin's sockets as kubelet is one, in plain values.
//
// Every call ends within ten seconds. Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/dra/plugin.h"
#include "dra/claim_request.h"

namespace cdom::dra {

// The version that a call is made in.
enum class Api { V1, V1beta1 };
// And a watch of health: from Kubernetes 1.37 on V1.
enum class HealthApi { V1, V1alpha1 };

// Numbers of gRPC's status codes.
constexpr int kOk = 0, kCancelled = 1, kDeadlineExceeded = 4, kUnimplemented = 12,
              kUnavailable = 14;

struct Answer {
  int code = kOk;
  std::string message;
  ClaimAnswers claims;
};

struct Info {
  int code = kOk;
  std::string type, name, endpoint;
  std::vector<std::string> versions;
};

struct StreamedHealth {
  DeviceHealth device;
  std::int64_t updated = 0, good_for_seconds = 0;
};

struct CallOptions {
  Api api = Api::V1;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  std::stop_token cancel{};
};

class HealthWatch {
 public:
  virtual ~HealthWatch() = default;
  // The next message; nullopt once the stream has ended.
  virtual std::optional<std::vector<StreamedHealth>> next() = 0;
  // After the end: the status code.
  virtual int code() = 0;
};

class Kubelet {
 public:
  // As Go's clients do, `authority` may be the path with its slashes encoded.
  explicit Kubelet(const std::string& socket, const std::string& authority = "localhost");
  ~Kubelet();
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;

  Info get_info();
  int notify(bool is_registered, const std::string& error = "");
  Answer prepare(const std::vector<Claim>& claims, const CallOptions& options = {});
  Answer unprepare(const std::vector<Claim>& claims, const CallOptions& options = {});
  std::unique_ptr<HealthWatch> watch_health(HealthApi api = HealthApi::V1);
  // grpc.health.v1: whether the service is SERVING.
  bool is_serving(const std::string& service = "");
  // As when its process is killed.
  void lose_connection();

 private:
  struct Stubs;
  const std::unique_ptr<Stubs> stubs_;
};

// As kubelet's gRPC probe asks: over TCP.
bool is_serving_at(const std::string& address, const std::string& service = "");

}  // namespace cdom::dra
