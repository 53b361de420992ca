#include "dra/listeners.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "compute_domain/base/log.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::dra {

namespace {

// Between two looks at what inotify does not tell: folders that were replaced.
constexpr base::Duration kLookEvery = std::chrono::seconds(10);
constexpr base::Duration kLookAgain = std::chrono::seconds(1);
// While who serves the connections is behind.
constexpr base::Duration kMoment = std::chrono::milliseconds(1);
constexpr std::uint32_t kFolderChanges = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                         IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

int milliseconds_until(base::Duration due, base::Duration now) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void drain(int descriptor) {
  std::array<char, 4096> block;
  while (read(descriptor, block.data(), block.size()) > 0) {
  }
}

}  // namespace

base::Result<std::unique_ptr<Listeners>> Listeners::start(std::vector<Listener> listeners,
                                                          Beat beat,
                                                          std::function<void(bool)> on_listening,
                                                          const base::Clock& clock) {
  std::unique_ptr<Listeners> all(new Listeners(std::move(beat), std::move(on_listening), clock));
  all->wake_ = base::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!all->wake_) return base::system_error("cannot make an eventfd for the sockets' thread");
  all->changes_ = base::Descriptor(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!all->changes_) {
    base::log_warning(
        "no inotify: sockets are looked at every second; raise the sysctl "
        "fs.inotify.max_user_instances");
  }
  auto callers = Callers::open(clock);
  if (!callers) return callers.error();
  all->callers_ = std::move(*callers);
  all->doors_.reserve(listeners.size());
  for (Listener& listener : listeners) {
    auto socket = SocketFile::listen(listener.path);
    if (!socket) return socket.error();
    all->doors_.push_back(
        {.socket = std::move(*socket), .serve = std::move(listener.serve), .problem = {}});
  }
  all->thread_ = std::jthread([self = all.get()](const std::stop_token& stop) { self->run(stop); });
  return all;
}

Listeners::~Listeners() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  while (!doors_.empty()) doors_.pop_back();
}

void Listeners::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { eventfd_write(wake_.get(), 1); });
  base::Duration beat_due = clock_.elapsed() + beat_.every;
  base::Duration look_due = clock_.elapsed();
  std::vector<pollfd> polled;
  while (!stop.stop_requested()) {
    if (clock_.elapsed() >= look_due) {
      is_tired_ = false;
      look_after_files();
      const bool is_sure = changes_ && is_listening_;
      look_due = clock_.elapsed() + (is_sure ? kLookEvery : kLookAgain);
    }
    if (clock_.elapsed() >= beat_due) {
      beat_.call();
      beat_due = clock_.elapsed() + beat_.every;
    }
    const bool is_behind = callers_->is_behind();
    const int news_of_callers = is_behind ? -1 : callers_->descriptor();
    polled = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
              {.fd = changes_.get(), .events = POLLIN, .revents = 0},
              {.fd = news_of_callers, .events = POLLIN, .revents = 0}};
    const std::size_t first_door = polled.size();
    for (const Door& door : doors_) {
      const int news = is_tired_ || is_behind ? -1 : door.socket.descriptor();
      polled.push_back({.fd = news, .events = POLLIN, .revents = 0});
    }
    const base::Duration now = clock_.elapsed();
    base::Duration due = std::min(beat_due, look_due);
    if (is_behind) due = std::min(due, now + kMoment);
    if (poll(polled.data(), polled.size(), milliseconds_until(due, now)) <= 0) {
      continue;
    }
    if (polled[1].revents != 0) {
      drain(changes_.get());
      // An attempt that failed may have caused these changes itself.
      if (is_listening_) look_due = clock_.elapsed();
    }
    if (polled[2].revents != 0) callers_->attend();
    for (std::size_t i = 0; i < doors_.size(); ++i) {
      if (polled[first_door + i].revents != 0) take_connections(doors_[i]);
    }
    if (is_tired_) look_due = std::min(look_due, clock_.elapsed() + kLookAgain);
  }
}

// Not all that come: other sockets, the beat and the end have their turn in a flood too.
void Listeners::take_connections(Door& door) {
  for (std::size_t i = 0; i < Callers::kMost; ++i) {
    auto connection = door.socket.accept();
    if (!connection) {
      base::log_error(connection.error().message + "; tried again in a second");
      is_tired_ = true;
      return;
    }
    if (!*connection) return;
    callers_->add(std::move(**connection), door.serve);
    if (callers_->is_behind()) return;
  }
}

void Listeners::look_after_files() {
  // A watch is added before each look, so that it reports what changes after the look. Adding one
  // again is harmless.
  for (const Door& door : doors_) {
    const std::string folder = door.socket.path().substr(0, door.socket.path().rfind('/'));
    if (changes_) inotify_add_watch(changes_.get(), folder.c_str(), kFolderChanges);
  }
  bool are_all_there = true;
  for (Door& door : doors_) {
    std::string problem = look_after(door);
    if (!problem.empty() && problem != door.problem) base::log_error(problem);
    are_all_there = are_all_there && problem.empty();
    door.problem = std::move(problem);
  }
  if (is_listening_.exchange(are_all_there) != are_all_there) on_listening_(are_all_there);
}

std::string Listeners::look_after(Door& door) {
  const std::string& path = door.socket.path();
  switch (door.socket.state()) {
    case SocketFile::State::Ours:
      return {};
    case SocketFile::State::Anothers:
      return base::cat(
          path,
          " was replaced by another process: run one plugin of this name only, or give "
          "each its pod's UID");
    case SocketFile::State::Missing:
      break;
  }
  if (auto back = door.socket.put_back(); !back) return back.error().message;
  base::log_info("a socket file had vanished and was put back", {{"path", path}});
  return {};
}

}  // namespace cdom::dra
