#include <atomic>
#include <list>
#include <optional>
#include <utility>

#include "compute_domain/base/text.h"
#include "compute_domain/http/server.h"
#include "compute_domain/sandbox/api_front.h"
#include "sandbox/apiserver/serving/live_stream.h"
#include "sandbox/apiserver/serving/outcome.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/apiserver/storage/api_state.h"

namespace cdom::sandbox {

namespace server {

// HttpFront: the socket side. Everything but on_change() happens on the HTTP server's I/O thread.
class HttpFront : public ApiFront {
 public:
  explicit HttpFront(ApiServer& api) : api_(api) {}

  base::Result<void> start(const std::string& listen) {
    auto made = http::make_server(
        {.listen = listen},
        [this](const http::Request& request, const http::Peer&) { return route(request); });
    if (!made) return made.error();
    http_ = std::move(made).value();
    is_started_ = true;
    // Who has no streams open need not hear of every write.
    listening_ = api_.on_change([this] {
      if (has_streams_) schedule_pump();
    });
    tick();
    return {};
  }

  [[nodiscard]] std::string address() const override { return http_->address(); }

 private:
  struct Open {
    std::shared_ptr<LiveStream> stream;
    std::shared_ptr<http::StreamWriter> writer;
    std::shared_ptr<std::atomic<bool>> is_closed;
    bool waits_for_room = false;
  };

  http::Reply route(const http::Request& request) {
    const auto user = user_of(request);
    if (!user) return to_response(unauthorized());
    Outcome outcome = api_.serve(request, *user);
    if (outcome.is_broken) {
      return http::StreamReply{
          .head = {}, .start = [](const std::shared_ptr<http::StreamWriter>& to) { to->abort(); }};
    }
    if (outcome.stream == nullptr && outcome.delay > base::Duration::zero()) {
      return later(std::move(outcome.response), outcome.delay);
    }
    if (outcome.stream == nullptr) return std::move(outcome.response);
    auto stream = std::shared_ptr<LiveStream>(std::move(outcome.stream));
    return http::StreamReply{.head = std::move(outcome.response),
                             .start = [this, stream](std::shared_ptr<http::StreamWriter> writer) {
                               auto is_closed = std::make_shared<std::atomic<bool>>(false);
                               writer->on_closed([is_closed] { *is_closed = true; });
                               streams_.push_back(std::make_shared<Open>(
                                   Open{stream, std::move(writer), std::move(is_closed)}));
                               has_streams_ = true;
                               schedule_pump();
                             }};
  }

  http::Reply later(http::Response response, base::Duration delay) {
    auto body = std::make_shared<const std::string>(std::exchange(response.body, ""));
    return http::StreamReply{
        .head = std::move(response),
        .start = [this, body, delay](const std::shared_ptr<http::StreamWriter>& writer) {
          http_->run_after(delay, [body, writer] {
            if (writer->write(body)) writer->finish();
          });
        }};
  }

  std::optional<User> user_of(const http::Request& request) {
    const auto header = request.headers.find("Authorization");
    // kubectl sends no credentials over plain HTTP (client-go, clientcmd): whoever can connect to
    // the loopback address and names nobody is the administrator.
    if (header == request.headers.end()) return admin_user();
    constexpr std::string_view kBearer = "Bearer ";
    if (!header->second.starts_with(kBearer)) return std::nullopt;
    return api_.authenticate(base::trim(std::string_view(header->second).substr(kBearer.size())));
  }

  void schedule_pump() {
    if (!is_started_ || is_pump_scheduled_.exchange(true)) return;
    http_->run_after(std::chrono::nanoseconds::zero(), [this] { pump(); });
  }

  // Timeouts and bookmarks come with time, not with a write.
  void tick() {
    schedule_pump();
    http_->run_after(kTick, [this] { tick(); });
  }

  void pump() {
    is_pump_scheduled_ = false;
    std::erase_if(streams_, [this](const auto& open) { return feed(open) == Turn::Over; });
    has_streams_ = !streams_.empty();
  }

  enum class Turn { Waits, Over };

  // As much as there is room for: a watch is a place in the history, so what a client does not take
  // yet stays there, and goes on at the pace of its socket.
  Turn feed(const std::shared_ptr<Open>& open) {
    if (*open->is_closed) return Turn::Over;
    if (open->waits_for_room) return Turn::Waits;
    while (open->writer->has_room()) {
      Piece piece;
      {
        const std::lock_guard lock(open->stream->state().mutex);
        piece = open->stream->take();
      }
      if (piece.text != nullptr && !open->writer->write(piece.text)) return Turn::Over;
      switch (piece.what) {
        case Piece::What::Text:
          break;
        case Piece::What::Nothing:
          return Turn::Waits;
        case Piece::What::End:
          open->writer->finish();
          return Turn::Over;
        case Piece::What::Broken:
          open->writer->abort();
          return Turn::Over;
      }
    }
    open->waits_for_room = true;
    open->writer->when_room([this, weak = std::weak_ptr(open)] {
      const auto waiting = weak.lock();
      if (!waiting) return;
      waiting->waits_for_room = false;
      if (feed(waiting) == Turn::Over) streams_.remove(waiting);
    });
    return Turn::Waits;
  }

  static constexpr std::chrono::milliseconds kTick{250};

  ApiServer& api_;
  std::list<std::shared_ptr<Open>> streams_;
  std::atomic<bool> is_started_ = false;
  std::atomic<bool> is_pump_scheduled_ = false;
  std::atomic<bool> has_streams_ = false;
  // Its thread uses all that is above and the pointer itself until it has ended: hence no reset(),
  // which would take the pointer away before.
  std::unique_ptr<http::Server> http_;
  std::shared_ptr<void> listening_;
};

}  // namespace server

base::Result<std::unique_ptr<ApiFront>> serve(ApiServer& server, const std::string& listen) {
  auto front = std::make_unique<server::HttpFront>(server);
  if (const auto started = front->start(listen); !started) return started.error();
  return std::unique_ptr<ApiFront>(std::move(front));
}

}  // namespace cdom::sandbox
