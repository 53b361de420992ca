#include "system/request_log.h"

#include <map>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::system_test {

// Passes everything on, and notes the writes.
class RequestLog::Client : public http::Client {
 public:
  Client(RequestLog& log, std::unique_ptr<http::Client> client, std::string user)
      : log_(log), client_(std::move(client)), user_(std::move(user)) {}

  base::Result<http::Response> send(const http::Request& request) override {
    auto answer = client_->send(request);
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    Requests& same = (is_read ? log_.reads_ : log_.writes_)[{
        user_, request.method, resource_of(request.target), answer ? answer->status : 0}];
    ++same.count;
    if (answer) same.bytes += answer->body.size();
    return answer;
  }
  base::Result<http::Opened> open(const http::Request& request) override {
    return client_->open(request);
  }
  void shut_down() override { client_->shut_down(); }

 private:
  RequestLog& log_;
  const std::unique_ptr<http::Client> client_;
  const std::string user_;
};

std::unique_ptr<http::Client> RequestLog::wrapped(std::unique_ptr<http::Client> client,
                                                  std::string user) {
  return std::make_unique<Client>(*this, std::move(client), std::move(user));
}

int RequestLog::count(const Wanted& wanted) const {
  int sum = 0;
  for (const auto& [write, same] : writes_) sum += wanted(write) ? same.count : 0;
  return sum;
}

int RequestLog::reads(const Wanted& wanted) const {
  int sum = 0;
  for (const auto& [read, same] : reads_) sum += wanted(read) ? same.count : 0;
  return sum;
}

std::size_t RequestLog::bytes(const Wanted& wanted) const {
  std::size_t sum = 0;
  for (const auto& [write, same] : writes_) sum += wanted(write) ? same.bytes : 0;
  return sum;
}

std::string RequestLog::summary(const Wanted& wanted) const {
  std::map<std::string, int> counts;
  for (const auto& [write, same] : writes_) {
    if (!wanted(write)) continue;
    counts[base::cat(write.method, " ", write.resource, " ", write.status)] += same.count;
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [what, count] : counts) parts.push_back(base::cat(count, " ", what));
  return base::join(parts, ", ");
}

bool is_ours(const WriteRequest& write) {
  return (write.user.starts_with("system:serviceaccount:compute-domain-operator:") ||
          write.user.starts_with("system:serviceaccount:compute-domain-nodes:")) &&
         write.resource != "events" && write.resource != "leases";
}

std::string resource_of(std::string_view target) {
  std::vector<std::string> parts = base::split(target.substr(0, target.find('?')), '/');
  // "", "api", version or "", "apis", group, version; then the scope, if there is one.
  const std::size_t prefix = parts.size() > 1 && parts[1] == "apis" ? 4 : 3;
  if (parts.size() <= prefix) return "";
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(prefix));
  if (parts[0] == "namespaces" && parts.size() > 2) parts.erase(parts.begin(), parts.begin() + 2);
  return parts.size() > 2 ? base::cat(parts[0], "/", parts[2]) : parts[0];
}

}  // namespace cdom::system_test
