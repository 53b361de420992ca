// An informer whose server answers with the bytes: the first line to its first LIST, the others as
// the lines of its first watch. A listener knows what the store has.
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "compute_domain/base/clock.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/informer.h"
#include "fuzz/laws.h"
#include "http/client/stream/line_splitter.h"

namespace cdom::fuzz {

namespace {

class Lines : public http::Stream {
 public:
  explicit Lines(std::string_view bytes) : bytes_(bytes) {}

  base::Result<http::StreamRead> next(base::Duration /*wait*/) override {
    while (true) {
      if (const auto line = splitter_.next()) return read_of(*line);
      if (bytes_.empty()) break;
      splitter_.add(bytes_.substr(0, kPiece));
      bytes_.remove_prefix(std::min(kPiece, bytes_.size()));
    }
    last_ = splitter_.rest();
    if (last_.empty()) return http::StreamRead{http::StreamRead::What::End, {}};
    return read_of(last_);
  }
  void cancel() override {}

 private:
  static constexpr std::size_t kPiece = 61;
  static http::StreamRead read_of(std::string_view line) {
    return {http::StreamRead::What::Line, line};
  }

  std::string_view bytes_;
  http::LineSplitter splitter_;
  std::string last_;
};

class Server : public http::Client {
 public:
  explicit Server(std::string_view bytes) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    page_ = bytes.substr(0, end);
    lines_ = bytes.substr(std::min(end + 1, bytes.size()));
  }

  base::Result<http::Response> send(const http::Request& request) override {
    if (request.target.find("/resourceclaims") == std::string::npos) {
      return http::Response{404, {}, ""};
    }
    if (!std::exchange(has_listed_, true)) return http::Response{200, {}, page_};
    return http::Response{200, {}, kEmptyPage};
  }
  base::Result<http::Opened> open(const http::Request& /*request*/) override {
    if (std::exchange(has_watched_, true)) return http::Opened{http::Response{503, {}, ""}, {}};
    return http::Opened{http::Response{}, std::make_unique<Lines>(lines_)};
  }
  void shut_down() override {}
  [[nodiscard]] bool has_watched() const { return has_watched_; }

 private:
  static constexpr char kEmptyPage[] =
      R"({"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","metadata":{"resourceVersion":"5"},"items":[]})";

  std::string page_;
  std::string_view lines_;
  bool has_listed_ = false, has_watched_ = false;
};

}  // namespace

void follow_server(std::string_view bytes) {
  Server server(bytes);
  base::ManualClock clock;
  const kube::Client client(server, clock, "fuzz");
  kube::Informer<api::ResourceClaim> informer(client, clock, {});
  std::map<api::ObjectName, std::string> heard;
  informer.on_change([&](const api::ResourceClaim* before, const api::ResourceClaim* after) {
    require(before != nullptr || after != nullptr, "a change changes something");
    if (before != nullptr) {
      const auto it = heard.find(api::name_of(before->meta));
      require(it != heard.end() && it->second == before->meta.uid, "only what was there changes");
      heard.erase(it);
    }
    if (after != nullptr) heard[api::name_of(after->meta)] = after->meta.uid;
  });
  // Each line is a step, and some are a watch's or a list's beginning and end.
  for (std::size_t steps = bytes.size() + 50; steps > 0; --steps) {
    const auto step = informer.step(base::Duration::zero());
    if (step == kube::WatchLoop::Step::Failed && server.has_watched()) {
      if (steps > 20) steps = 20;
    }
    if (step != kube::WatchLoop::Step::Idle) continue;
    if (const auto due = informer.next_due()) clock.advance(*due - clock.elapsed());
  }
  std::map<api::ObjectName, std::string> stored;
  for (const auto& claim : informer.store().all()) {
    stored[api::name_of(claim->meta)] = claim->meta.uid;
  }
  require(stored == heard, "a listener knows what the store has");
}

}  // namespace cdom::fuzz
