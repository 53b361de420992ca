// InformerRig: an informer of ConfigMaps, its server and its clock, stepped by the test.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/informer.h"
#include "kube/fake_server.h"

namespace cdom::kube {

struct InformerRig {
  using Step = WatchLoop::Step;

  explicit InformerRig(std::uint64_t seed = 1, std::size_t page_size = 2)
      : informer(client, clock, {{}, seed, page_size}, {}, &metrics,
                 [this](api::ConfigMap map) { return read ? read(std::move(map)) : map; }) {
    informer.on_change([this](const api::ConfigMap* before, const api::ConfigMap* after) {
      const auto value = [](const api::ConfigMap* map) { return map ? map->data.at("value") : ""; };
      const std::string& name = (after ? after : before)->meta.name;
      told.push_back(base::cat(name, ":", value(before), ">", value(after)));
      if (after) {
        replayed[name] = value(after);
      } else {
        replayed.erase(name);
      }
    });
  }

  Step step() { return informer.step(base::Duration::zero()); }

  // Steps until there is nothing to do; passes over backoffs when `through_backoffs`.
  void settle(bool through_backoffs = true) {
    for (int i = 0; i < 100000; ++i) {
      if (step() != Step::Idle) continue;
      const auto due = informer.next_due();
      if (!due || !through_backoffs) return;
      clock.advance(*due - clock.elapsed());
    }
    told.push_back("never settled");
  }

  [[nodiscard]] std::map<std::string, std::string> stored() const {
    std::map<std::string, std::string> out;
    for (const auto& map : informer.store().all()) out[map->meta.name] = map->data.at("value");
    return out;
  }

  [[nodiscard]] std::size_t lists() const {
    return server.targets("limit=").size() - server.targets("continue=").size() - questions();
  }
  // For the version of the collection.
  [[nodiscard]] std::size_t questions() const {
    const auto requests = server.requests();
    return static_cast<std::size_t>(std::ranges::count_if(requests, is_of_metadata));
  }
  [[nodiscard]] std::size_t watches() const { return server.targets("watch=true").size(); }

  FakeServer server;
  base::ManualClock clock;
  base::Registry metrics;
  Client client{server, clock, "test"};
  std::vector<std::string> told;                       // "name:before>after"
  std::map<std::string, std::string> replayed;         // what somebody knows who only listens
  std::function<api::ConfigMap(api::ConfigMap)> read;  // none: it stores what comes
  Informer<api::ConfigMap> informer;
};

}  // namespace cdom::kube
