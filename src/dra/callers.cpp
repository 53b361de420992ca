#include "dra/callers.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/system_error.h"

namespace cdom::dra {

namespace {

// What a client of HTTP/2 says first, whatever it wants (RFC 9113, 3.4).
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// A server that is not held up closes what has ended within milliseconds.
constexpr std::size_t kMostEnded = Callers::kMost / 4;
constexpr base::Duration kLongestWait = std::chrono::milliseconds(200);

enum class Speech { NotYet, Http2, NoHttp2 };

// What has come so far; it is left for who serves the connection.
Speech speech_on(int connection) {
  std::array<char, kPreface.size()> text{};
  const ssize_t count = recv(connection, text.data(), text.size(), MSG_PEEK | MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? Speech::NotYet : Speech::NoHttp2;
  const std::string_view said(text.data(), static_cast<std::size_t>(count));
  if (said.empty() || !kPreface.starts_with(said)) return Speech::NoHttp2;
  return said == kPreface ? Speech::Http2 : Speech::NotYet;
}

// The socket's own, of no other one ever (SO_COOKIE, socket(7)); 0: it is no open socket.
std::uint64_t cookie_of(int descriptor) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

}  // namespace

base::Result<Callers> Callers::open(const base::Clock& clock) {
  base::Descriptor news(epoll_create1(EPOLL_CLOEXEC));
  if (!news) return base::system_error("cannot make an epoll for kubelet's connections");
  return Callers(std::move(news), clock);
}

void Callers::add(base::Descriptor connection, const Serve& serve) {
  const Number number = next_++;
  if (!watch(connection.get(), EPOLLIN | EPOLLRDHUP, number)) {
    serve(std::move(connection));
    return;
  }
  silent_.try_emplace(number, Silent{.connection = std::move(connection), .serve = &serve});
  end_the_oldest();
}

void Callers::attend() {
  std::array<epoll_event, 64> events{};
  int count = 0;
  do {
    count = epoll_wait(news_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      hear(event.data.u64, (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0,
           (event.events & (EPOLLHUP | EPOLLERR)) != 0);
    }
  } while (count == static_cast<int>(events.size()) && !is_behind());
  if (silent_.size() + served_.size() < kMost / 2) has_warned_ = false;
}

bool Callers::is_behind() {
  const base::Duration since = clock_->elapsed() - kLongestWait;
  while (!ended_.empty() && ended_.front().at < since) ended_.pop_front();
  if (ended_.size() <= kMostEnded) return false;
  std::erase_if(ended_, [](const Ended& one) { return cookie_of(one.descriptor) != one.cookie; });
  return ended_.size() > kMostEnded;
}

bool Callers::watch(int descriptor, std::uint32_t events, Number number) const {
  // Each piece of news once: a client that stops in the middle of its first words wakes nobody.
  epoll_event wanted{.events = events | EPOLLET, .data = {.u64 = number}};
  return epoll_ctl(news_.get(), EPOLL_CTL_ADD, descriptor, &wanted) == 0;
}

// "at its end": its client says no more; "gone": it cannot hear an answer either.
void Callers::hear(Number number, bool is_at_its_end, bool is_gone) {
  const auto caller = silent_.find(number);
  if (caller == silent_.end()) {
    const auto served = served_.find(number);
    if (is_at_its_end && served != served_.end()) forget(served);
    return;
  }
  const Speech speech = speech_on(caller->second.connection.get());
  if (speech == Speech::NotYet && !is_at_its_end) return;
  Silent one = std::move(caller->second);
  silent_.erase(caller);
  if (speech == Speech::Http2 && !is_gone) serve(std::move(one));
}

// It is the newest now, however long it was silent: it is not to end as the oldest at once.
void Callers::serve(Silent caller) {
  const Number number = next_++;
  epoll_ctl(news_.get(), EPOLL_CTL_DEL, caller.connection.get(), nullptr);
  base::Descriptor second(fcntl(caller.connection.get(), F_DUPFD_CLOEXEC, 0));
  if (second && watch(second.get(), EPOLLRDHUP, number)) {
    served_.try_emplace(number,
                        Served{.second = std::move(second), .first = caller.connection.get()});
  }
  (*caller.serve)(std::move(caller.connection));
  end_the_oldest();
}

void Callers::end_the_oldest() {
  while (silent_.size() > kMost) {
    // It may have spoken since it was looked at.
    const Number oldest = silent_.begin()->first;
    hear(oldest, false, false);
    if (silent_.erase(oldest) > 0) tell_that_there_are_too_many();
  }
  while (served_.size() > kMost) {
    // Who serves it has a descriptor too.
    shutdown(served_.begin()->second.second.get(), SHUT_RDWR);
    forget(served_.begin());
    tell_that_there_are_too_many();
  }
}

void Callers::forget(std::map<Number, Served>::iterator caller) {
  const std::uint64_t cookie = cookie_of(caller->second.second.get());
  if (cookie != 0 && cookie_of(caller->second.first) == cookie) {
    ended_.push_back(
        {.descriptor = caller->second.first, .cookie = cookie, .at = clock_->elapsed()});
  }
  served_.erase(caller);
}

void Callers::tell_that_there_are_too_many() {
  if (std::exchange(has_warned_, true)) return;
  base::log_warning(
      "more connections to kubelet's sockets than kubelet makes: the oldest are ended",
      {{"silent", std::to_string(silent_.size())}, {"served", std::to_string(served_.size())}});
}

}  // namespace cdom::dra
