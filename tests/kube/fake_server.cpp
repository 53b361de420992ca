#include "kube/fake_server.h"

#include <chrono>
#include <tuple>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"

namespace cdom::kube {

namespace {

base::Error broken() { return {base::ErrorKind::Unavailable, "connection lost"}; }

std::uint64_t number(const std::string& text) { return text.empty() ? 0 : std::stoull(text); }

std::string expired() { return status_json(410, "Expired", "too old resource version"); }

}  // namespace

std::string config_map_json(const std::string& name, const std::string& value,
                            std::uint64_t version, const std::string& uid) {
  return base::cat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"ns","name":")",
                   name, R"(","uid":")", uid.empty() ? "uid-" + name : uid,
                   R"(","resourceVersion":")", version, R"("},"data":{"value":")", value, R"("}})");
}

std::string status_json(int code, const std::string& reason, const std::string& message) {
  // apierrors.NewNotFound names the object in the details.
  return base::cat(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)",
                   R"("message":")", message, R"(","reason":")", reason, R"(","details":{)",
                   reason == "NotFound" ? R"("name":"a")" : "", R"(},"code":)", code, "}");
}

std::string watch_line(const std::string& type, const std::string& object) {
  return base::cat(R"({"type":")", type, R"(","object":)", object, "}");
}

http::Response ok(std::string body) { return {200, {}, std::move(body)}; }

bool is_of_metadata(const http::Request& request) {
  const auto accept = request.headers.find("Accept");
  return accept != request.headers.end() && accept->second == api::kMetadataList;
}

std::string parameter(const std::string& target, const std::string& name) {
  const auto query = target.find('?');
  if (query == std::string::npos) return {};
  for (const std::string& pair : base::split(std::string_view(target).substr(query + 1), '&')) {
    if (pair.starts_with(name + "=")) {
      return http::percent_decoded(std::string_view(pair).substr(name.size() + 1), true);
    }
  }
  return {};
}

class FakeServer::FakeStream : public http::Stream {
 public:
  FakeStream(FakeServer& server, std::uint64_t number_of_stream, std::uint64_t version,
             std::string first_line)
      : server_(server),
        number_(number_of_stream),
        version_(version),
        first_line_(std::move(first_line)) {}

  base::Result<http::StreamRead> next(base::Duration wait) override {
    std::unique_lock lock(server_.mutex_);
    const auto until = std::chrono::steady_clock::now() + wait;
    for (;;) {
      if (auto read = try_next_locked()) return *read;
      if (server_.changed_.wait_until(lock, until) == std::cv_status::timeout) {
        return http::StreamRead{};
      }
    }
  }

  void cancel() override {
    const std::scoped_lock lock(server_.mutex_);
    is_cancelled_ = true;
    server_.changed_.notify_all();
  }

 private:
  using What = http::StreamRead::What;

  std::optional<base::Result<http::StreamRead>> try_next_locked() {
    if (is_cancelled_) return base::Error{base::ErrorKind::Cancelled, "cancelled"};
    if (!first_line_.empty()) return line(std::exchange(first_line_, {}));
    const Fault fault = number_ <= server_.struck_streams_ ? server_.fault_ : Fault::None;
    if (fault == Fault::Ended) return http::StreamRead{What::End, {}};
    if (fault == Fault::Broken || is_cut_) return broken();
    for (const Event& event : server_.history_) {
      if (event.version <= version_) continue;
      version_ = event.version;
      is_cut_ = fault == Fault::Truncated;
      return line(is_cut_ ? event.line.substr(0, event.line.size() / 2) : event.line);
    }
    return std::nullopt;
  }

  http::StreamRead line(std::string text) {
    line_ = std::move(text);
    return {What::Line, line_};
  }

  FakeServer& server_;
  const std::uint64_t number_;
  std::uint64_t version_;
  std::string first_line_, line_;
  bool is_cut_ = false;
  bool is_cancelled_ = false;
};

void FakeServer::put(const std::string& name, const std::string& value) {
  const std::scoped_lock lock(mutex_);
  const auto [it, is_new] = objects_.try_emplace(name);
  if (is_new) {
    const int creation = ++creations_[name];
    it->second.uid = creation == 1 ? "uid-" + name : base::cat("uid-", name, "-", creation);
  }
  it->second.value = value;
  change_locked(is_new ? "ADDED" : "MODIFIED", name, it->second);
}

void FakeServer::remove(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto it = objects_.find(name);
  if (it == objects_.end()) return;
  change_locked("DELETED", name, it->second);
  objects_.erase(it);
}

void FakeServer::change_locked(const char* type, const std::string& name, Object& object) {
  object.version = ++version_;
  history_.push_back(
      {version_, watch_line(type, config_map_json(name, object.value, version_, object.uid))});
  changed_.notify_all();
}

std::map<std::string, std::string> FakeServer::objects() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, std::string> out;
  for (const auto& [name, object] : objects_) out[name] = object.value;
  return out;
}

std::uint64_t FakeServer::version() const {
  const std::scoped_lock lock(mutex_);
  return version_;
}

void FakeServer::script(std::optional<http::Response> answer) {
  const std::scoped_lock lock(mutex_);
  script_.push_back(std::move(answer));
}

void FakeServer::script_status(int code, const std::string& reason, http::Headers headers) {
  script(http::Response{code, std::move(headers), status_json(code, reason, reason)});
}

void FakeServer::strike(Fault fault) {
  const std::scoped_lock lock(mutex_);
  fault_ = fault;
  struck_streams_ = streams_;
  changed_.notify_all();
}

void FakeServer::break_watches() { strike(Fault::Broken); }
void FakeServer::end_watches() { strike(Fault::Ended); }
void FakeServer::truncate_watches() { strike(Fault::Truncated); }

void FakeServer::compact() {
  const std::scoped_lock lock(mutex_);
  history_.clear();
  compacted_ = version_;
}

void FakeServer::back_up() {
  const std::scoped_lock lock(mutex_);
  backup_ = {version_, objects_};
}

void FakeServer::restore() {
  {
    const std::scoped_lock lock(mutex_);
    std::tie(version_, objects_) = backup_;
    std::erase_if(history_, [&](const Event& event) { return event.version > version_; });
    snapshots_.clear();
  }
  break_watches();
}

void FakeServer::report_expired_as_event() {
  const std::scoped_lock lock(mutex_);
  expired_as_event_ = true;
}

void FakeServer::say(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  history_.push_back({++version_, line});
  changed_.notify_all();
}

void FakeServer::begin_watches_with(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  first_line_ = line;
}

std::vector<http::Request> FakeServer::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

std::vector<std::string> FakeServer::targets(const std::string& part) const {
  std::vector<std::string> out;
  for (const http::Request& request : requests()) {
    const std::string line = base::cat(request.method, " ", request.target);
    if (line.find(part) != std::string::npos) out.push_back(line);
  }
  return out;
}

std::optional<base::Result<http::Response>> FakeServer::scripted_locked(
    const http::Request& request) {
  requests_.push_back(request);
  if (script_.empty()) return std::nullopt;
  const auto answer = std::move(script_.front());
  script_.pop_front();
  if (!answer) return broken();
  return *answer;
}

// A continue token is "<version>.<how many objects came before>".
http::Response FakeServer::list_locked(const http::Request& request) {
  const std::string& target = request.target;
  std::uint64_t version = version_;
  std::size_t first = 0;
  if (const std::string token = parameter(target, "continue"); !token.empty()) {
    version = number(token.substr(0, token.find('.')));
    first = number(token.substr(token.find('.') + 1));
    if (version < compacted_) return {410, {}, expired()};
  }
  const Objects& objects = snapshots_.try_emplace(version, objects_).first->second;
  const std::string limit = parameter(target, "limit");
  const std::size_t end = limit.empty() ? objects.size() : first + number(limit);
  std::string items;
  std::size_t at = 0;
  for (const auto& [name, object] : objects) {
    if (at >= first && at < end) {
      items += (items.empty() ? "" : ",") +
               config_map_json(name, object.value, object.version, object.uid);
    }
    ++at;
  }
  const std::string next = end < at ? base::cat(version, ".", end) : "";
  // Of metadata alone nobody looks at the items.
  if (is_of_metadata(request)) {
    return ok(base::cat(R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",)",
                        R"("metadata":{"resourceVersion":")", version, R"("},"items":[]})"));
  }
  return ok(base::cat(R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":)",
                      R"({"resourceVersion":")", version, R"(","continue":")", next,
                      R"("},"items":[)", items, "]}"));
}

base::Result<http::Response> FakeServer::send(const http::Request& request) {
  const std::scoped_lock lock(mutex_);
  if (auto answer = scripted_locked(request)) return *answer;
  if (request.method == "GET" && request.target.starts_with("/api/v1/configmaps")) {
    http::Response page = list_locked(request);
    page.is_too_long = page.body.size() > request.most_bytes;
    if (page.is_too_long) page.body.clear();
    return page;
  }
  return http::Response{404, {}, status_json(404, "NotFound", "nothing is here")};
}

base::Result<http::Opened> FakeServer::open(const http::Request& request) {
  const std::scoped_lock lock(mutex_);
  if (auto answer = scripted_locked(request)) {
    if (!*answer) return answer->error();
    return http::Opened{**answer, nullptr};
  }
  const std::uint64_t from = number(parameter(request.target, "resourceVersion"));
  const bool is_expired = from < compacted_;
  if (is_expired && !expired_as_event_) return http::Opened{{410, {}, expired()}, nullptr};
  return http::Opened{
      {200, {}, ""},
      std::make_unique<FakeStream>(*this, ++streams_, from,
                                   is_expired ? watch_line("ERROR", expired()) : first_line_)};
}

}  // namespace cdom::kube
