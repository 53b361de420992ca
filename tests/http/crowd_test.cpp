// Many watchers, and watchers that do not keep up.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/text.h"
#include "http/local.h"
#include "http/raw_peer.h"

namespace cdom::http {
namespace {

// All writers that a streaming route was given.
class Watchers {
 public:
  Route route() {
    return streaming([this](auto writer) {
      const std::lock_guard lock(mutex_);
      writers_.push_back(std::move(writer));
    });
  }
  void publish(const std::shared_ptr<const std::string>& text) {
    const std::lock_guard lock(mutex_);
    for (const auto& writer : writers_) writer->write(text);
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    for (const auto& writer : writers_) writer->finish();
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<StreamWriter>> writers_;
};

TEST(Crowd, AThousandWatchersGetAllEvents) {
  constexpr int kWatchers = 1000, kEvents = 20;
  Watchers watchers;
  const auto server = serve(watchers.route());
  const auto client = connect_to(*server);
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < kWatchers; ++i) {
    auto opened = client->open({"GET", "/", {}, {}});
    ASSERT_TRUE(opened) << opened.error().message;
    streams.push_back(std::move(opened->stream));
  }
  for (int event = 0; event < kEvents; ++event) {
    watchers.publish(
        shared("event " + std::to_string(event) + " " + std::string(2000, 'x') + "\n"));
  }
  watchers.finish();
  for (const auto& stream : streams) {
    for (int event = 0; event < kEvents; ++event) {
      ASSERT_EQ(next_of(*stream).substr(0, 8),
                ("event " + std::to_string(event) + " ").substr(0, 8));
    }
    ASSERT_EQ(next_of(*stream), "END");
  }
}

// What the writer could hand over before the server gave the watcher up.
std::size_t bytes_taken_for(StreamWriter& writer) {
  std::string line(64u << 10, 'x');
  line.push_back('\n');
  const auto piece = shared(std::move(line));
  std::size_t bytes = 0;
  constexpr std::size_t kEnough = 256u << 20;
  while (bytes < kEnough && writer.write(piece)) bytes += piece->size();
  return bytes;
}

TEST(Crowd, AWatcherThatDoesNotReadIsGivenUpBeforeItFillsMemory) {
  Gift<std::shared_ptr<StreamWriter>> gift;
  Gift<bool> closed;
  const auto server = serve(streaming([&](auto writer) {
    writer->on_closed([&] { closed.give(true); });
    gift.give(std::move(writer));
  }));
  auto watcher = RawConnection::to(server->address());
  watcher.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto writer = gift.wait();
  ASSERT_TRUE(writer);
  EXPECT_LT(bytes_taken_for(**writer), 64u << 20);
  EXPECT_TRUE(closed.wait());
}

// Writes lines whenever there is room, as often as asked, on the I/O thread of the server.
class Feeder : public std::enable_shared_from_this<Feeder> {
 public:
  Feeder(std::shared_ptr<StreamWriter> writer, int lines)
      : writer_(std::move(writer)), lines_(lines) {}

  void feed() {
    while (written_ < lines_ && writer_->has_room()) {
      std::string line = std::to_string(written_) + " ";
      line.append(kLine - line.size() - 1, 'x').push_back('\n');
      if (!writer_->write(shared(std::move(line)))) return;
      ++written_;
    }
    if (written_ == lines_) return writer_->finish();
    writer_->when_room([self = shared_from_this()] { self->feed(); });
  }
  [[nodiscard]] int written() const { return written_; }

  static constexpr std::size_t kLine = 4096;

 private:
  const std::shared_ptr<StreamWriter> writer_;
  const int lines_;
  std::atomic<int> written_ = 0;
};

TEST(Crowd, WhoAsksForRoomWritesAtThePaceOfTheReader) {
  constexpr int kLines = 10'000;  // some 40 MB, more than sockets hold
  Gift<std::shared_ptr<Feeder>> gift;
  const auto server = serve(streaming([&](auto writer) {
    const auto feeder = std::make_shared<Feeder>(std::move(writer), kLines);
    feeder->feed();
    gift.give(feeder);
  }));
  const auto client = connect_to(*server);
  auto opened = client->open({"GET", "/", {}, {}});
  const auto feeder = gift.wait();
  ASSERT_TRUE(opened && feeder);
  for (int line = 0; line < kLines; ++line) {
    ASSERT_EQ(std::stoi(next_of(*opened->stream)), line);
  }
  EXPECT_EQ(next_of(*opened->stream), "END");
}

TEST(Crowd, AWatcherThatTakesNothingIsCutOff) {
  ServerConfig config;
  config.stall_timeout = std::chrono::milliseconds(100);
  Gift<std::shared_ptr<Feeder>> gift;
  Gift<bool> closed;
  const auto server = serve(streaming([&](auto writer) {
                              writer->on_closed([&] { closed.give(true); });
                              const auto feeder =
                                  std::make_shared<Feeder>(std::move(writer), 1'000'000);
                              feeder->feed();
                              gift.give(feeder);
                            }),
                            config);
  auto watcher = RawConnection::to(server->address());
  watcher.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto feeder = gift.wait();
  ASSERT_TRUE(feeder);
  EXPECT_TRUE(closed.wait());
  EXPECT_LT((*feeder)->written() * Feeder::kLine, 64u << 20) << "the rest was never made";
}

TEST(Crowd, AWatcherThatIsSlowIsWaitedFor) {
  ServerConfig config;
  config.stall_timeout = std::chrono::milliseconds(500);
  // One write, which takes longer than that: what is taken of it tells that the watcher goes on.
  const std::string text(32u << 20, 'x');
  const auto server = serve(streaming([&](const auto& writer) {
                              writer->write(shared(text));
                              writer->finish();
                            }),
                            config);
  auto watcher = RawConnection::to(server->address());
  watcher.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_GT(watcher.read_all_slowly().size(), text.size());
}

TEST(Crowd, AReaderThatDoesNotReadStopsTheServerNotItself) {
  Gift<std::shared_ptr<StreamWriter>> gift;
  const auto server = serve(streaming([&](auto writer) { gift.give(std::move(writer)); }));
  const auto client = connect_to(*server);
  auto opened = client->open({"GET", "/", {}, {}});
  const auto writer = gift.wait();
  ASSERT_TRUE(opened && writer);
  // All that was sent is in the server, the sockets and the pipe: the reader holds no more than
  // its bound, else the server would not have had to give it up.
  const std::size_t sent = bytes_taken_for(**writer);
  EXPECT_LT(sent, 64u << 20);
  std::size_t received = 0;
  while (true) {
    auto read = opened->stream->next(kPatience);
    if (!read) break;
    ASSERT_EQ(read->what, StreamRead::What::Line);
    received += read->line.size() + 1;
  }
  EXPECT_LE(received, sent);
}

// While it lives this process may open so many files and no more.
class FileLimit {
 public:
  explicit FileLimit(rlim_t files) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{.rlim_cur = files, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

std::string answer_to_get(const Server& server) {
  auto peer = RawConnection::to(server.address());
  peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  return peer.read_all();
}

TEST(Crowd, SilentPeersTakeNeitherTheServerNorTheFilesOfItsProcess) {
  constexpr std::size_t kSilent = 1400;
  // Room for the peers, which are in this process too, and for little else.
  const FileLimit limit(kSilent + 160);
  ServerConfig config;
  config.session_limit = 64;
  const auto server = serve(
      [](const Request&, const Peer&) -> Reply {
        return Response{200, {}, "here"};
      },
      config);
  std::vector<RawConnection> silent;
  silent.reserve(kSilent);
  for (std::size_t i = 0; i < kSilent; ++i) silent.push_back(RawConnection::to(server->address()));
  EXPECT_THAT(answer_to_get(*server), ::testing::EndsWith("here"));
  std::vector<base::Descriptor> files;
  for (int i = 0; i < 64; ++i) {
    files.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(files.back()) << "file " << i;
  }
}

TEST(Crowd, ANewPeerTakesThePlaceOfTheOneThatIsSilentTheLongest) {
  ServerConfig config;
  config.session_limit = 2;
  const auto server = serve(
      [](const Request&, const Peer&) -> Reply {
        return Response{200, {}, "here"};
      },
      config);
  auto first = RawConnection::to(server->address());
  const auto asks = [](RawConnection& peer) {
    peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    return !peer.read_until("here").empty();
  };
  ASSERT_TRUE(asks(first));
  auto second = RawConnection::to(server->address());
  ASSERT_TRUE(asks(second));
  ASSERT_TRUE(asks(first));  // the second is silent for longer now
  auto third = RawConnection::to(server->address());
  EXPECT_TRUE(asks(third));
  EXPECT_EQ(second.read_all(), "");
  EXPECT_TRUE(asks(first));
}

TEST(Crowd, AFloodOfPeersIsToldOnceAMinute) {
  ServerConfig config;
  config.session_limit = 2;
  testing::internal::CaptureStderr();
  {
    const auto server = serve(
        [](const Request&, const Peer&) -> Reply {
          return Response{200, {}, "here"};
        },
        config);
    std::vector<RawConnection> flood;
    flood.reserve(20);
    for (int i = 0; i < 20; ++i) flood.push_back(RawConnection::to(server->address()));
    EXPECT_THAT(answer_to_get(*server), ::testing::EndsWith("here")) << "all others came before";
  }
  const std::vector<std::string> log = base::split(testing::internal::GetCapturedStderr(), '\n');
  EXPECT_EQ(std::ranges::count_if(log,
                                  [](const std::string& line) {
                                    return line.find("too many connections") != std::string::npos;
                                  }),
            1);
}

TEST(Crowd, AServerWithoutFilesEndsTheLongestSilentPeerAndGoesOn) {
  const auto server = serve([](const Request&, const Peer&) -> Reply {
    return Response{200, {}, "here"};
  });
  auto silent = RawConnection::to(server->address());
  auto asking = RawConnection::to(server->address());
  asking.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_FALSE(asking.read_until("here").empty());
  // The peer's end is the last file that this process may open: none is left for the server's.
  const base::Descriptor next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const FileLimit limit(static_cast<rlim_t>(next.get()) + 2);
  auto late = RawConnection::to(server->address());
  late.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(silent.read_all(), "") << "its file is the one that is needed";
  EXPECT_THAT(late.read_all(), ::testing::EndsWith("here"));
}

}  // namespace
}  // namespace cdom::http
