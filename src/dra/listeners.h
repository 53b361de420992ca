// Listeners: the thread that accepts on the plugin's sockets and keeps their files where they are.
//
// A file that vanishes is noticed at once (inotify) and put back; when that fails, it is tried
// again every second. A file that another process has put in its place stays while it is there. At
// the end the files are removed, the last one first.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"
#include "dra/callers.h"
#include "dra/socket_file.h"

namespace cdom::dra {

// What the thread calls.
struct Listener {
  std::string path;
  Callers::Serve serve;
};
struct Beat {
  base::Duration every;
  std::function<void()> call;
};

class Listeners {
 public:
  // Listens when it returns. The folders of the paths exist.
  static base::Result<std::unique_ptr<Listeners>> start(std::vector<Listener> listeners, Beat beat,
                                                        std::function<void(bool)> on_listening,
                                                        const base::Clock& clock);
  ~Listeners();
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  [[nodiscard]] bool is_listening() const { return is_listening_; }

 private:
  struct Door {
    SocketFile socket;
    Callers::Serve serve;
    std::string problem;  // logged last
  };

  Listeners(Beat beat, std::function<void(bool)> on_listening, const base::Clock& clock)
      : beat_(std::move(beat)), on_listening_(std::move(on_listening)), clock_(clock) {}

  void run(const std::stop_token& stop);
  void take_connections(Door& door);
  void look_after_files();
  // What is wrong with the file, after it was put back where that was possible.
  static std::string look_after(Door& door);

  const Beat beat_;
  const std::function<void(bool)> on_listening_;
  const base::Clock& clock_;
  std::vector<Door> doors_;
  std::optional<Callers> callers_;   // after the doors, whose `serve` it uses
  base::Descriptor wake_, changes_;  // without `changes_`: the files are looked at every second
  bool is_tired_ = false;            // accepting has failed: not again before the next look
  std::atomic<bool> is_listening_ = true;
  std::jthread thread_;
};

}  // namespace cdom::dra
