// ApiServer: an in-memory Kubernetes API server, without sockets.
//
// handle() answers one request as kube-apiserver would, for a user that the caller vouches for;
// open() starts a watch or follows a log. What it stores is deterministic: equal seeds, clocks and
// requests give equal objects, uids and resource versions. It has no controllers and no garbage
// collector: the simulated cluster brings those. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"
#include "compute_domain/http/message.h"

namespace cdom::sandbox {

class Faults;

namespace server {
class HttpFront;
class InProcessClient;
struct ApiState;
struct Outcome;
}  // namespace server

// Who asks. Members of system:masters may do everything (as in Kubernetes); the rights of others
// come from the roles and bindings stored in the server.
struct User {
  std::string name;
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
  std::string uid = {};

  [[nodiscard]] bool is_master() const;
};

// The administrator: system:masters.
User admin_user();
// A ServiceAccount, as its token says; `node` when the token is bound to a pod there.
User service_account_user(std::string_view namespace_, std::string_view name,
                          std::string_view node = {});

struct ApiServerOptions {
  std::uint64_t seed = 1;
  // Watch events remembered per resource; a watch from an older resource version is Expired.
  std::size_t history = 50'000;
  base::Duration event_ttl = std::chrono::hours(1);  // kube-apiserver's --event-ttl
  // Whether watches may ask for sendInitialEvents (feature gate WatchList).
  bool watch_list = true;
  // "resource.k8s.io/v1": group versions that this server does not serve.
  std::vector<std::string> disabled_versions = {};
  // Whether requests of others than system:masters are checked against RBAC.
  bool rbac = true;
  // The administrator's bearer token; drawn from the seed when empty.
  std::string admin_token = {};
};

class ApiServer {
 public:
  explicit ApiServer(const base::Clock& clock, const ApiServerOptions& options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  http::Response handle(const http::Request& request, const User& user);
  // For requests with watch=true or follow=true; others are answered as by handle(), with the body
  // as a stream of lines. The stream may outlive the server's other users, not the clock.
  http::Opened open(const http::Request& request, const User& user);

  // A client in this process. send() and open() call this server directly; streams give what has
  // happened without blocking when asked to wait zero.
  std::unique_ptr<http::Client> client(User user);

  // The user of a bearer token; nullopt when it is unknown, expired, or its object is gone.
  [[nodiscard]] std::optional<User> authenticate(std::string_view token) const;
  // A token of the administrator, for kubeconfig files. The same for the life of the server.
  [[nodiscard]] const std::string& admin_token() const;

  // Creates or replaces the objects of a YAML (or JSON) text of one or more documents, as the
  // administrator. Invalid names the document and the server's answer.
  base::Result<void> load(std::string_view yaml);
  // The same by server-side apply as kubectl's: whoever applies these objects with kubectl later,
  // with other values, meets no conflict.
  base::Result<void> apply(std::string_view yaml);

  // What containers of simulated pods print, for GET …/pods/<name>/log.
  void append_log(std::string_view namespace_, std::string_view pod, std::string_view container,
                  std::string_view text);

  // Forgets all watch events so far: watches and continue tokens from before become Expired.
  void compact();
  // Successful writes so far that reached storage: the resource version.
  [[nodiscard]] std::uint64_t resource_version() const;

  // Called after each request that changed something, without any lock of the server held, until
  // what this gives back is destroyed (which waits for a call that is under way). The callback must
  // not ask the server.
  [[nodiscard]] std::shared_ptr<void> on_change(std::function<void()> callback);

  // The faults that requests meet; see faults.h.
  Faults& faults();

 private:
  friend class server::HttpFront;
  friend class server::InProcessClient;
  // handle() and open() in one.
  server::Outcome answer(const http::Request& request, const User& user);
  // The same for clients, which meet faults.
  server::Outcome serve(const http::Request& request, const User& user);

  std::shared_ptr<server::ApiState> state_;
};

}  // namespace cdom::sandbox
