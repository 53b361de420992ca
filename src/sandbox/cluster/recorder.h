// Recorder: tells people what happened to an object, as core/v1 Events.
//
// The same word about the same object raises the count of its Event instead of making another.
// Best effort: an Event that cannot be written is lost. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/http/client.h"
#include "sandbox/cluster/objects.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

class Recorder {
 public:
  // `component` and `host` are the source that the Events name.
  Recorder(http::Client& client, const base::Clock& clock, base::Random random,
           std::string component, std::string host = {});

  void normal(const Resource& resource, const json& object, std::string_view reason,
              const std::string& message);
  void warning(const Resource& resource, const json& object, std::string_view reason,
               const std::string& message);

 private:
  struct Known {
    ObjectKey event;
    int count = 1;
  };
  using Word = std::tuple<std::string, std::string, std::string>;  // uid, reason, message

  void record(const Resource& resource, const json& object, std::string_view type,
              std::string_view reason, const std::string& message);

  Objects objects_;
  const base::Clock& clock_;
  base::Random random_;
  const std::string component_, host_;
  std::map<Word, Known> known_;
};

}  // namespace cdom::sandbox
