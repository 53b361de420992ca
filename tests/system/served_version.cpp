#include "system/served_version.h"

#include <optional>
#include <string_view>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::system_test {

namespace {

constexpr std::string_view kGroup = "resource.k8s.io";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// `"apiVersion":"resource.k8s.io/v1"` and its like: what follows the version ends the word.
std::string in_version(std::string text, std::string_view from, std::string_view to) {
  if (from == to) return text;
  for (const char end : {'"', '\n', '\''}) {
    replace_all(text, base::cat(kGroup, "/", from, std::string(1, end)),
                base::cat(kGroup, "/", to, std::string(1, end)));
  }
  return text;
}

http::Response not_found() {
  return {.status = 404,
          .headers = {},
          .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound",)"
                  R"("message":"the server could not find the requested resource","code":404})"};
}

}  // namespace

class ServedVersion::Watch : public http::Stream {
 public:
  Watch(const ServedVersion& server, std::unique_ptr<http::Stream> stream)
      : server_(server), stream_(std::move(stream)), start_(server.starts_) {}

  base::Result<http::StreamRead> next(base::Duration wait) override {
    if (server_.starts_ != start_) {
      return base::Error{base::ErrorKind::Unavailable, "the API server has started again"};
    }
    auto read = stream_->next(wait);
    if (read && read->what == http::StreamRead::What::Line) {
      line_ = in_version(std::string(read->line), server_.stored_, server_.version_);
      read->line = line_;
    }
    return read;
  }
  void cancel() override { stream_->cancel(); }

 private:
  const ServedVersion& server_;
  const std::unique_ptr<http::Stream> stream_;
  const int start_;
  std::string line_;
};

class ServedVersion::Client : public http::Client {
 public:
  Client(const ServedVersion& server, std::unique_ptr<http::Client> client)
      : server_(server), client_(std::move(client)) {}

  base::Result<http::Response> send(const http::Request& request) override {
    auto stored = as_stored(request);
    if (!stored) return not_found();
    auto answer = client_->send(*stored);
    if (!answer) return answer;
    answer->body = in_version(std::move(answer->body), server_.stored_, server_.version_);
    if (request.target == base::cat("/apis/", kGroup)) {
      replace_all(answer->body, base::cat(R"("version":")", server_.stored_, '"'),
                  base::cat(R"("version":")", server_.version_, '"'));
    }
    return answer;
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    auto stored = as_stored(request);
    if (!stored) return http::Opened{.response = not_found(), .stream = {}};
    auto opened = client_->open(*stored);
    if (opened && opened->stream) {
      opened->stream = std::make_unique<Watch>(server_, std::move(opened->stream));
    }
    return opened;
  }
  void shut_down() override { client_->shut_down(); }

 private:
  // nullopt: of a version that is not served.
  [[nodiscard]] std::optional<http::Request> as_stored(http::Request request) const {
    request.body = in_version(std::move(request.body), server_.version_, server_.stored_);
    const std::string group = base::cat("/apis/", kGroup, "/");
    if (!request.target.starts_with(group)) return request;
    const std::string served = base::cat(group, server_.version_, "/");
    if (!request.target.starts_with(served)) return std::nullopt;
    request.target.replace(0, served.size(), base::cat(group, server_.stored_, "/"));
    return request;
  }

  const ServedVersion& server_;
  const std::unique_ptr<http::Client> client_;
};

ServedVersion::ServedVersion(std::string stored) : stored_(std::move(stored)), version_(stored_) {}

void ServedVersion::upgrade(std::string version) {
  version_ = std::move(version);
  ++starts_;
}

std::unique_ptr<http::Client> ServedVersion::wrapped(std::unique_ptr<http::Client> client) {
  return std::make_unique<Client>(*this, std::move(client));
}

}  // namespace cdom::system_test
