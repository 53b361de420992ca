// liblast-write.so, for LD_PRELOAD: SIGKILL of the process before or after its n-th write.
//
// Writes are: a file made, written, synced, renamed or removed, a folder made, and what goes to the
// API server (but for GET) or to the IMEX supervisor. LAST_WRITE names a file that its tester maps,
// too: a Plan.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

struct Plan {
  std::atomic<std::int64_t> left;  // the write with which it gets 0 is the last; below: none is
  std::int64_t is_after;           // or before
  char what[240];                  // the last write
};

Plan* plan() {
  static Plan* const mapped = [] {
    const char* path = std::getenv("LAST_WRITE");  // NOLINT(concurrency-mt-unsafe)
    const int fd =
        path == nullptr ? -1 : static_cast<int>(openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC));
    void* at = fd < 0 ? MAP_FAILED
                      : mmap(nullptr, sizeof(Plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    return at == MAP_FAILED ? nullptr : static_cast<Plan*>(at);
  }();
  return mapped;
}

[[noreturn]] void end(const char* verb, std::string_view object) {
  std::snprintf(plan()->what, sizeof plan()->what, "%s %.*s", verb, static_cast<int>(object.size()),
                object.data());
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

template <class Call>
auto count(const char* verb, std::string_view object, const Call& call) {
  Plan* const p = plan();
  if (p == nullptr || p->left.load() <= 0 || p->left.fetch_sub(1) != 1) return call();
  if (p->is_after == 0) end(verb, object);
  call();
  end(verb, object);
}

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Opened again and again, and never written.
bool is_lock(std::string_view path) { return path.ends_with(".lock"); }

bool is_file(int fd) {
  struct stat found {};
  return fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

// "": not of interest.
std::string_view peer(int fd) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  if (address.sun_family == AF_INET || address.sun_family == AF_INET6) return "the API server";
  const bool is_named = address.sun_family == AF_UNIX && size > offsetof(sockaddr_un, sun_path);
  return is_named && address.sun_path[0] != '\0' ? "the IMEX supervisor" : "";
}

bool is_question(const void* data, std::size_t size) {
  return size >= 4 && std::memcmp(data, "GET ", 4) == 0;
}

int open_with(const char* name, int at, const char* path, int flags, mode_t mode) {
  const auto call = [&] { return real(&openat, name)(at, path, flags, mode); };
  return (flags & O_CREAT) != 0 && !is_lock(path) ? count("make", path, call) : call();
}

}  // namespace

#define INTERPOSED extern "C" __attribute__((visibility("default")))

INTERPOSED int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_with("openat", AT_FDCWD, path, flags, mode);
}
INTERPOSED int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_with("openat64", AT_FDCWD, path, flags, mode);
}
INTERPOSED ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return count("write", "a file", [&] { return real(&pwrite, "pwrite")(fd, data, size, at); });
}
INTERPOSED ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  return count("write", "a file", [&] { return real(&pwrite64, "pwrite64")(fd, data, size, at); });
}
INTERPOSED int ftruncate(int fd, off_t size) noexcept {
  return count("cut", "a file", [&] { return real(&ftruncate, "ftruncate")(fd, size); });
}
INTERPOSED int fsync(int fd) {
  return count("sync", is_file(fd) ? "a file" : "a folder",
               [&] { return real(&fsync, "fsync")(fd); });
}
INTERPOSED int rename(const char* from, const char* to) noexcept {
  return count("rename to", to, [&] { return real(&rename, "rename")(from, to); });
}
INTERPOSED int unlink(const char* path) noexcept {
  return count("unlink", path, [&] { return real(&unlink, "unlink")(path); });
}
INTERPOSED int remove(const char* path) noexcept {
  return count("remove", path, [&] { return real(&remove, "remove")(path); });
}
INTERPOSED int mkdir(const char* path, mode_t mode) noexcept {
  return count("make folder", path, [&] { return real(&mkdir, "mkdir")(path, mode); });
}
INTERPOSED int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  return count("bind", "a socket", [&] { return real(&bind, "bind")(fd, address, size); });
}
INTERPOSED int renameat(int from_at, const char* from, int to_at, const char* to) noexcept {
  return count("rename to", to,
               [&] { return real(&renameat, "renameat")(from_at, from, to_at, to); });
}
INTERPOSED int unlinkat(int at, const char* path, int flags) noexcept {
  return count("unlink", path, [&] { return real(&unlinkat, "unlinkat")(at, path, flags); });
}
INTERPOSED ssize_t send(int fd, const void* data, size_t size, int flags) {
  const auto call = [&] { return real(&send, "send")(fd, data, size, flags); };
  const std::string_view to = peer(fd);
  return to.empty() || is_question(data, size) ? call() : count("send to", to, call);
}
INTERPOSED ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  const auto call = [&] { return real(&sendmsg, "sendmsg")(fd, message, flags); };
  const std::string_view to = peer(fd);
  const bool asks = message->msg_iovlen > 0 &&
                    is_question(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
  return to.empty() || asks ? call() : count("send to", to, call);
}
