// FakeServer: an API server with nothing but ConfigMaps, in memory, that fails as it is told.
//
// Lists in pages, watches with resume, versions that count up; an object that is made again has
// another UID, and an answer is no longer than the request wants. Every other request, and the next
// ones of any kind after script(), get the answers that the test wrote. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/http/client.h"

namespace cdom::kube {

class FakeServer : public http::Client {
 public:
  // What the world does to the objects, in namespace "ns".
  void put(const std::string& name, const std::string& value);
  void remove(const std::string& name);
  [[nodiscard]] std::map<std::string, std::string> objects() const;
  [[nodiscard]] std::uint64_t version() const;

  // The next request gets this answer, or, without one, a broken connection.
  void script(std::optional<http::Response> answer);
  void script_status(int code, const std::string& reason, http::Headers headers = {});

  // Faults of the watches that are open.
  void break_watches();     // the connection is lost
  void end_watches();       // the server's own timeout
  void truncate_watches();  // half of the next event, then the connection is lost
  // Keeps what there is; goes back to it, as an etcd that is restored from a backup, with versions
  // that count up from there once more. The watches that are open break.
  void back_up();
  void restore();
  // The history up to now is gone: older watches and continue tokens get 410, watches as an answer
  // or as an event.
  void compact();
  void report_expired_as_event();
  // In the watches that are open.
  void say(const std::string& line);
  // Every watch opened from now on begins with this line; "" for none.
  void begin_watches_with(const std::string& line);

  [[nodiscard]] std::vector<http::Request> requests() const;
  // Those whose method and target contain `part`: "GET /api/v1/configmaps?limit=2".
  [[nodiscard]] std::vector<std::string> targets(const std::string& part = "") const;

  base::Result<http::Response> send(const http::Request& request) override;
  base::Result<http::Opened> open(const http::Request& request) override;
  void shut_down() override {}

 private:
  class FakeStream;
  enum class Fault { None, Broken, Ended, Truncated };
  struct Object {
    std::string value;
    std::uint64_t version = 0;
    std::string uid;
  };
  struct Event {
    std::uint64_t version;
    std::string line;
  };

  std::optional<base::Result<http::Response>> scripted_locked(const http::Request& request);
  [[nodiscard]] http::Response list_locked(const http::Request& request);
  void change_locked(const char* type, const std::string& name, Object& object);
  void strike(Fault fault);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t version_ = 100;
  std::uint64_t compacted_ = 0;
  using Objects = std::map<std::string, Object>;
  Objects objects_;
  std::pair<std::uint64_t, Objects> backup_;
  std::map<std::string, int> creations_;        // of each name
  std::map<std::uint64_t, Objects> snapshots_;  // that continue tokens refer to
  std::vector<Event> history_;
  std::deque<std::optional<http::Response>> script_;
  std::vector<http::Request> requests_;
  std::string first_line_;
  bool expired_as_event_ = false;
  // The latest fault, and the streams that it struck: those up to this number.
  Fault fault_ = Fault::None;
  std::uint64_t streams_ = 0;
  std::uint64_t struck_streams_ = 0;
};

// A value that makes its ConfigMap one that cannot be read: data.odd is a number.
inline constexpr char kOddValue[] = R"(x","odd":7,"b":")";

// Bodies as an API server writes them. `uid`: "" for that of the first object of this name.
std::string config_map_json(const std::string& name, const std::string& value,
                            std::uint64_t version, const std::string& uid = {});
std::string status_json(int code, const std::string& reason, const std::string& message);
std::string watch_line(const std::string& type, const std::string& object);
http::Response ok(std::string body);
// Whether it asks for a list of metadata alone.
bool is_of_metadata(const http::Request& request);
// The value of a query parameter, or "".
std::string parameter(const std::string& target, const std::string& name);

}  // namespace cdom::kube
