// Streams of lines, client against server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <semaphore>
#include <thread>

#include "http/local.h"
#include "http/raw_peer.h"

namespace cdom::http {
namespace {

using namespace std::string_literals;
using ::testing::StartsWith;

TEST(Stream, GivesLinesHoweverTheyWereCutIntoChunks) {
  const auto server = serve(streaming([](const auto& writer) {
    for (const char* piece : {"on", "e\ntwo\nth", "ree\n", "", "four\n\nlast"}) {
      writer->write(shared(piece));
    }
    writer->finish();
  }));
  const auto client = connect_to(*server);
  auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->response.headers.at("content-type"), "application/json");
  for (const char* line : {"one", "two", "three", "four", "", "last", "END", "END"}) {
    EXPECT_EQ(next_of(*opened->stream), line);
  }
}

TEST(Stream, GivesFramesWhereItsMediaTypeSaysSo) {
  const auto start = [](const auto& writer) {
    for (const std::string& piece : {"\0\0\0"s, "\3a\nb\0\0"s, "\0\0\0\0\0\2cd\0\0\0\7ef"s}) {
      writer->write(shared(piece));
    }
    writer->finish();
  };
  for (const char* type : {"application/vnd.kubernetes.protobuf;stream=watch",
                           "application/vnd.kubernetes.protobuf; stream=watch"}) {
    const auto server = serve([&](const Request&, const Peer&) -> Reply {
      return StreamReply{Response{200, {{"Content-Type", type}}, {}}, start};
    });
    const auto client = connect_to(*server);
    auto opened = client->open({"GET", "/", {}, {}});
    ASSERT_TRUE(opened) << opened.error().message;
    // What is left of a frame is told, as of a line.
    for (const std::string& frame : {"a\nb"s, ""s, "cd"s, "\0\0\0\7ef"s, "END"s, "END"s}) {
      EXPECT_EQ(next_of(*opened->stream), frame) << type;
    }
  }
}

TEST(Stream, GivesEachLineAsSoonAsItComes) {
  Gift<std::shared_ptr<StreamWriter>> gift;
  const auto server = serve(streaming([&](auto writer) { gift.give(std::move(writer)); }));
  const auto client = connect_to(*server);
  auto opened = client->open({"GET", "/", {}, {}});
  const auto writer = gift.wait();
  ASSERT_TRUE(opened && writer);
  EXPECT_EQ(opened->stream->next(base::Duration{0})->what, StreamRead::What::Nothing);
  for (const std::string line : {"1", "2", "3"}) {
    EXPECT_TRUE((*writer)->write(shared(line + "\n")));
    EXPECT_EQ(next_of(*opened->stream), line);
  }
}

TEST(Stream, ATruncatedStreamIsUnavailableAfterItsLastLine) {
  Gift<std::shared_ptr<StreamWriter>> gift;
  const auto server = serve(streaming([&](auto writer) { gift.give(std::move(writer)); }));
  const auto client = connect_to(*server);
  auto opened = client->open({"GET", "/", {}, {}});
  const auto writer = gift.wait();
  ASSERT_TRUE(opened && writer);
  (*writer)->write(shared("whole\nhalf"));
  EXPECT_EQ(next_of(*opened->stream), "whole");
  (*writer)->abort();
  EXPECT_THAT(next_of(*opened->stream), StartsWith("Unavailable: GET http://"));
}

TEST(Stream, OpenGivesTheAnswerThatIsNoStream) {
  const auto server = serve([](const Request&, const Peer&) -> Reply {
    return Response{410, {{"Retry-After", "3"}}, std::string(100'000, 'x')};
  });
  const auto client = connect_to(*server);
  const auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->stream, nullptr);
  EXPECT_EQ(opened->response.status, 410);
  EXPECT_EQ(opened->response.headers.at("Retry-After"), "3");
  EXPECT_EQ(opened->response.body.size(), 100'000u);
}

TEST(Stream, CanBeCancelledFromAnotherThread) {
  Gift<std::shared_ptr<StreamWriter>> gift;
  const auto server = serve(streaming([&](auto writer) { gift.give(std::move(writer)); }));
  const auto client = connect_to(*server);
  auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened);
  std::jthread other([&] { opened->stream->cancel(); });
  EXPECT_THAT(next_of(*opened->stream), StartsWith("Cancelled: "));
  EXPECT_THAT(next_of(*opened->stream), StartsWith("Cancelled: "));
}

TEST(Stream, AnIdleStreamIsUnavailable) {
  Gift<std::shared_ptr<StreamWriter>> gift;
  const auto server = serve(streaming([&](auto writer) { gift.give(std::move(writer)); }));
  ClientConfig config = config_for("http://" + server->address());
  config.stream_idle_timeout = std::chrono::milliseconds(200);
  const auto client = connect(config);
  auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(next_of(*opened->stream),
            "Unavailable: GET http://" + server->address() + "/: nothing was heard for 200ms");
}

TEST(Stream, IsNotWaitedForLongerThanForAnAnswer) {
  Gift<bool> over;
  const RawServer server([&](RawConnection& connection) {
    connection.read_request();
    EXPECT_TRUE(over.wait());
  });
  ClientConfig config = config_for(server.url());
  config.request_timeout = std::chrono::milliseconds(200);
  const auto client = connect(config);
  const auto opened = client->open({"GET", "/watch", {}, {}});
  over.give(true);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "GET " + server.url() + "/watch: no answer for 200ms");
}

TEST(Stream, ARefusalIsNotWaitedForLongerEither) {
  Gift<bool> over;
  const RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 410 Gone\r\nContent-Length: 100\r\n\r\n{\"kind\":");
    EXPECT_TRUE(over.wait());
  });
  ClientConfig config = config_for(server.url());
  config.request_timeout = std::chrono::milliseconds(200);
  const auto client = connect(config);
  const auto opened = client->open({"GET", "/watch", {}, {}});
  over.give(true);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message,
            "GET " + server.url() + "/watch: status 410, and not the whole answer for 200ms");
}

TEST(Stream, TellsOfItsNews) {
  Gift<std::shared_ptr<StreamWriter>> gift;
  const auto server = serve(streaming([&](auto writer) { gift.give(std::move(writer)); }));
  ClientConfig config = config_for("http://" + server->address());
  std::counting_semaphore news{0};
  config.on_stream_news = [&] { news.release(); };
  const auto client = connect(config);
  auto opened = client->open({"GET", "/", {}, {}});
  const auto writer = gift.wait();
  ASSERT_TRUE(opened && writer);
  (*writer)->write(shared("line\n"));
  EXPECT_TRUE(news.try_acquire_for(kPatience));
  EXPECT_EQ(opened->stream->next(base::Duration{0})->line, "line");
  (*writer)->finish();
  EXPECT_TRUE(news.try_acquire_for(kPatience));
  EXPECT_EQ(opened->stream->next(base::Duration{0})->what, StreamRead::What::End);
}

TEST(Stream, OutlivesItsClientOnlyAsCancelled) {
  Gift<std::shared_ptr<StreamWriter>> gift;
  const auto server = serve(streaming([&](auto writer) { gift.give(std::move(writer)); }));
  auto client = connect_to(*server);
  auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened);
  client.reset();
  EXPECT_THAT(next_of(*opened->stream), StartsWith("Cancelled: "));
}

TEST(Stream, TheServerNoticesThatAWatcherIsGone) {
  Gift<bool> closed;
  std::shared_ptr<StreamWriter> writer;
  const auto server = serve(streaming([&](auto given) {
    given->on_closed([&] { closed.give(true); });
    writer = std::move(given);
  }));
  const auto client = connect_to(*server);
  {
    auto opened = client->open({"GET", "/", {}, {}});
    ASSERT_TRUE(opened);
  }
  EXPECT_TRUE(closed.wait());
  EXPECT_FALSE(writer->write(shared("too late")));
}

TEST(Stream, AServerCanEndWithOpenStreams) {
  Gift<bool> closed;
  std::shared_ptr<StreamWriter> writer;
  auto server = serve(streaming([&](auto given) {
    given->on_closed([&] { closed.give(true); });
    writer = std::move(given);
  }));
  const auto client = connect_to(*server);
  auto opened = client->open({"GET", "/", {}, {}});
  ASSERT_TRUE(opened);
  server.reset();
  EXPECT_TRUE(closed.wait());
  EXPECT_FALSE(writer->write(shared("too late")));
  EXPECT_THAT(next_of(*opened->stream), StartsWith("Unavailable: "));
}

}  // namespace
}  // namespace cdom::http
