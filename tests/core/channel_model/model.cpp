#include "core/channel_model/model.h"

#include <algorithm>
#include <set>

#include "compute_domain/core/channels.h"
#include "compute_domain/core/slots.h"
#include "core/builders.h"

namespace cdom::core::channel_model {

namespace {

using base::cat;
using testing::kNow;

constexpr char kCliqueName[] = "clique-1";

std::string node_name(std::size_t node) { return cat("n", node + 1); }
std::string domain_name(std::size_t domain) { return cat("d", domain + 1); }
std::string claim_name(std::size_t domain, std::size_t node, Count number) {
  return cat("c", domain + 1, "-", node + 1, "-", int{number});
}
std::string group() { return group_id({"", kCliqueName}); }

std::string table_hash_of_group() {
  api::NodeList table;
  table.group = group();
  table.slots = Settings{}.slots_per_group;
  return api::table_hash(table);
}

bool is_there(Count phase) { return phase == kLiving || phase == kDeleting; }

api::ComputeDomain domain_object(const Objects& objects, std::size_t d) {
  api::ComputeDomain object = testing::domain(domain_name(d)).finalized();
  if (objects.domains[d] == kDeleting) object.meta.deletion_time = kNow;
  return object;
}

DomainView view_of(const Objects& objects, std::size_t d) {
  DomainView view;
  view.uid = testing::uid_of(domain_name(d));
  if (is_there(objects.domains[d])) {
    view.domain = domain_object(objects, d);
    const Told& told = objects.statuses[d];
    view.domain->status = api::ComputeDomainStatus{.ready = told.ready != 0};
    for (std::size_t n = 0; n < kNodes; ++n) {
      if (told.channel[n] == 0) continue;
      view.domain->status->nodes.push_back({.name = node_name(n),
                                            .ip_address = {},
                                            .clique = kCliqueName,
                                            .index = static_cast<std::int64_t>(n),
                                            .channel = told.channel[n]});
    }
  }
  for (std::size_t n = 0; n < kNodes; ++n) {
    if (objects.claims[d][n] == 0) continue;
    view.claims.push_back(
        testing::claim(claim_name(d, n, objects.claims[d][n])).of(domain_name(d)).on(node_name(n)));
  }
  return view;
}

NodeViews nodes_of(const Objects& objects) {
  NodeViews nodes;
  for (std::size_t n = 0; n < kNodes; ++n) {
    NodeView& view = nodes[node_name(n)] = testing::idle_node(node_name(n), kCliqueName);
    view.report->status.isolation = api::Isolation::Channel;
    const Report& said = objects.reports[n];
    if (said.exists == 0) continue;
    api::ImexGroupReport report;
    report.group = group();
    report.slot = static_cast<std::int64_t>(n);
    report.state = api::DaemonState::Ready;
    report.table_hash = table_hash_of_group();
    report.connected = "0-17";
    report.releases = said.releases;
    std::set<std::int64_t> channels;
    for (std::size_t d = 0; d < kDomains; ++d) {
      if (said.held.claim[d] == 0) continue;
      report.claims.push_back(testing::uid_of(claim_name(d, n, said.held.claim[d])));
      channels.insert(said.held.channel[d]);
      report.claim_channels.push_back(
          {testing::uid_of(claim_name(d, n, said.held.claim[d])), said.held.channel[d]});
    }
    report.channels = slot_ranges(channels);
    view.report->status.groups = {report};
  }
  return nodes;
}

// The channel that the list admits the claim with; 0: it does not.
Count admitted(const api::NodeList& list, std::size_t n, const std::string& claim_uid) {
  const api::NodeListEntry* entry = find_entry(list, node_name(n));
  if (entry == nullptr) return 0;
  const auto it = std::ranges::find(entry->admits, claim_uid, &api::Admission::claim_uid);
  return it == entry->admits.end() ? 0 : static_cast<Count>(it->channel);
}

}  // namespace

const api::NodeList* Model::list_of(Id content) const {
  return content == 0 ? nullptr : &*lists_.at(content - 1).list;
}

std::vector<StoredList> Model::stored(const List& list) const {
  if (list.exists == 0) return {};
  StoredList object = lists_.at(list.content - 1);
  object.meta.uid = "uid-list";
  object.meta.resource_version = std::to_string(list.version);
  return {object};
}

CliqueWorld Model::clique_world(const Objects& cache) const {
  CliqueWorld world;
  world.now = kNow;
  world.settings.channels = bounds_.channels + 1;
  world.clique = kCliqueName;
  for (StoredList& list : stored(cache.list)) world.list = std::move(list);
  for (std::size_t d = 0; d < kDomains; ++d) {
    DomainView view = view_of(cache, d);
    const bool has_channel = world.list && channel_of(*world.list->list, view.uid);
    if (!view.claims.empty() || has_channel) world.domains.push_back(std::move(view));
  }
  world.nodes = nodes_of(cache);
  return world;
}

World Model::domain_world(const Objects& cache, int domain) const {
  World world;
  world.now = kNow;
  world.settings.channels = bounds_.channels + 1;
  world.view = view_of(cache, static_cast<std::size_t>(domain));
  for (StoredList& list : stored(cache.list)) {
    const bool concerns = !world.view.claims.empty() || channel_of(*list.list, world.view.uid);
    if (concerns) world.lists.push_back(std::move(list));
  }
  world.nodes = nodes_of(cache);
  return world;
}

Id Model::keep(const Plan& plan) {
  if (plan.actions.empty()) return 0;
  std::string text;
  for (const Action& action : plan.actions) {
    text += cat(to_string(action), "\n");
    if (const auto* write = std::get_if<WriteNodeList>(&action)) {
      text += cat(write->current.resource_version, write->desired.data.at(api::kNodeListKey));
    } else if (const auto* gone = std::get_if<EnsureDomainGone>(&action)) {
      text += gone->uid;
    }
  }
  const auto [it, is_new] = plan_ids_.try_emplace(text, static_cast<Id>(plans_.size() + 1));
  if (is_new) plans_.push_back(plan);
  return it->second;
}

Id Model::clique_plan(const Objects& cache) {
  const std::string key =
      cat("c", std::string_view(reinterpret_cast<const char*>(&cache), sizeof cache));
  const auto it = memo_.find(key);
  if (it != memo_.end()) return it->second;
  return memo_[key] = keep(reconcile_clique(clique_world(cache)));
}

// Of all that a domain's key does, its end.
Id Model::domain_plan(const Objects& cache, int domain) {
  if (cache.domains[static_cast<std::size_t>(domain)] != kDeleting) return 0;
  const std::string key =
      cat("d", domain, std::string_view(reinterpret_cast<const char*>(&cache), sizeof cache));
  const auto it = memo_.find(key);
  if (it != memo_.end()) return it->second;
  Plan plan = reconcile(domain_world(cache, domain));
  const bool ends = std::ranges::any_of(plan.actions, [](const Action& action) {
    return std::holds_alternative<RemoveFinalizer>(action);
  });
  std::erase_if(plan.actions, [](const Action& action) {
    return !std::holds_alternative<EnsureClaimsReleased>(action) &&
           !std::holds_alternative<RemoveFinalizer>(action);
  });
  return memo_[key] = ends ? keep(plan) : 0;
}

Told Model::status_of(const Objects& cache, int domain) {
  const std::string key =
      cat(domain, std::string_view(reinterpret_cast<const char*>(&cache), sizeof cache));
  const auto [it, is_new] = told_memo_.try_emplace(key);
  if (!is_new) return it->second;
  const auto d = static_cast<std::size_t>(domain);
  it->second = cache.statuses[d];
  const Plan plan = reconcile(domain_world(cache, domain));
  const SetStatus* set = testing::status_in(plan);
  if (set == nullptr) return it->second;
  it->second = {.channel = {}, .ready = static_cast<Count>(set->status.ready ? 1 : 0)};
  for (std::size_t n = 0; n < kNodes; ++n) {
    for (const api::ComputeDomainNodeStatus& node : set->status.nodes) {
      if (node.name == node_name(n)) it->second.channel[n] = static_cast<Count>(node.channel);
    }
  }
  return it->second;
}

bool Model::apply(State& state, int domain, const Action& action) {
  Objects& server = state.server;
  const auto d = static_cast<std::size_t>(domain);
  if (const auto* write = std::get_if<WriteNodeList>(&action)) {
    List& list = server.list;
    const std::string version = list.exists == 0 ? "" : std::to_string(list.version);
    if (write->current.resource_version != version) return false;
    const std::string& text = write->desired.data.at(api::kNodeListKey);
    const auto [it, is_new] = list_ids_.try_emplace(text, static_cast<Id>(lists_.size() + 1));
    if (is_new) lists_.push_back(stored_list(write->desired));
    list = {.content = it->second, .version = static_cast<Count>(list.version + 1), .exists = 1};
    return true;
  }
  if (const auto* gone = std::get_if<EnsureDomainGone>(&action)) {
    for (std::size_t i = 0; i < kDomains; ++i) {
      if (gone->uid == testing::uid_of(domain_name(i))) return !is_there(server.domains[i]);
    }
    return true;
  }
  if (const auto* released = std::get_if<EnsureClaimsReleased>(&action)) {
    return held_claims(released->domain_uid, stored(server.list), view_of(server, d).claims)
        .empty();
  }
  if (std::holds_alternative<RemoveFinalizer>(action)) {
    if (server.domains[d] == kDeleting) server.domains[d] = kGone;
    return true;
  }
  return std::holds_alternative<RecordEvent>(action);
}

void Model::apply_next(State& state, Flight& flight) {
  const Plan plan = plans_.at(flight.plan - 1);
  const bool is_done = apply(state, flight.domain, plan.actions.at(flight.next));
  if (is_done && ++flight.next < plan.actions.size()) return;
  flight = {};
}

std::vector<Transition> Model::transitions(const State& state) {
  std::vector<Transition> out = fair_transitions(state);
  user_steps(state, out);
  return out;
}

std::vector<Transition> Model::fair_transitions(const State& state) {
  std::vector<Transition> out;
  watch_steps(state, out);
  agent_steps(state, out);
  controller_steps(state, out);
  status_steps(state, out);
  return out;
}

// A status is written under the precondition of the one that was decided upon.
void Model::status_steps(const State& state, std::vector<Transition>& out) {
  if (bounds_.lost == 0) return;
  for (std::size_t k = 0; k < static_cast<std::size_t>(bounds_.controllers); ++k) {
    const Objects& cache = state.controllers[k].cache;
    for (int domain = 0; domain < bounds_.domains; ++domain) {
      const auto d = static_cast<std::size_t>(domain);
      if (cache.domains[d] != kLiving) continue;
      const auto bytes = [](const Told& told) {
        return std::string_view(reinterpret_cast<const char*>(&told), sizeof told);
      };
      if (bytes(cache.statuses[d]) != bytes(state.server.statuses[d])) continue;
      const Told now = status_of(cache, domain);
      if (bytes(now) == bytes(cache.statuses[d])) continue;
      Transition step{cat("controller ", k, " writes the status of ", domain_name(d)), state};
      step.after.server.statuses[d] = now;
      out.push_back(std::move(step));
    }
  }
}

void Model::user_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t d = 0; d < static_cast<std::size_t>(bounds_.domains); ++d) {
    const Count phase = state.server.domains[d];
    if (phase == kNever || phase == kLiving) {
      Transition step{cat("user ", phase == kNever ? "creates " : "deletes ", domain_name(d)),
                      state, phase != kNever};
      step.after.server.domains[d] = phase == kNever ? kLiving : kDeleting;
      out.push_back(std::move(step));
    }
    for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
      const Count number = state.server.claims[d][n];
      const std::string pod = cat("pod of ", domain_name(d), " on ", node_name(n));
      // Also after its domain is gone: the template was there when the pod was made.
      if (number == 0 && phase != kNever && state.made[d][n] < bounds_.claims) {
        Transition step{cat("a ", pod, " comes"), state};
        step.after.server.claims[d][n] = ++step.after.made[d][n];
        out.push_back(std::move(step));
      }
      if (number == 0) continue;
      const Agent& agent = state.agents[n];
      if (agent.held.claim[d] == 0 && agent.read[d] == 0) {
        Transition step{cat("the ", pod, " ends"), state, true};
        step.after.server.claims[d][n] = 0;
        out.push_back(std::move(step));
      } else if (state.forced < bounds_.forced) {
        Transition step{cat("the ", pod, " is deleted by force"), state, true};
        step.after.server.claims[d][n] = 0;
        ++step.after.forced;
        out.push_back(std::move(step));
      }
      if (agent.held.claim[d] == number) {
        Transition step{cat("the ", pod, " ends, unprepared"), state, true};
        step.after.agents[n].held.claim[d] = step.after.agents[n].held.channel[d] = 0;
        step.after.server.claims[d][n] = 0;
        out.push_back(std::move(step));
      }
    }
  }
  if (state.server.list.exists != 0 && state.lost < bounds_.lost) {
    Transition step{"somebody deletes the list", state, true};
    step.after.server.list = {.content = 0, .version = state.server.list.version, .exists = 0};
    ++step.after.lost;
    out.push_back(std::move(step));
  }
  if (state.crashes >= bounds_.crashes) return;
  for (std::size_t k = 0; k < static_cast<std::size_t>(bounds_.controllers); ++k) {
    Transition step{cat("controller ", k, " starts anew"), state, true};
    step.after.controllers[k] = {.cache = state.server, .clique = {}, .domain = {}};
    ++step.after.crashes;
    out.push_back(std::move(step));
  }
}

void Model::agent_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t n = 0; n < static_cast<std::size_t>(bounds_.nodes); ++n) {
    const Agent& agent = state.agents[n];
    if (state.server.list.exists != 0 && agent.list != state.server.list.content) {
      Transition step{cat(node_name(n), " sees the list"), state};
      step.after.agents[n].list = state.server.list.content;
      out.push_back(std::move(step));
    }
    const api::NodeList* list = list_of(agent.list);
    for (std::size_t d = 0; d < kDomains; ++d) {
      const Count number = state.server.claims[d][n];
      const std::string what = cat(" the claim of ", domain_name(d));
      if (agent.read[d] == 0 && agent.held.claim[d] == 0 && number != 0) {
        Transition step{cat(node_name(n), " reads", what), state};
        step.after.agents[n].read[d] = number;
        out.push_back(std::move(step));
      }
      if (agent.read[d] != 0) {
        const Count channel =
            list == nullptr ? 0
                            : admitted(*list, n, testing::uid_of(claim_name(d, n, agent.read[d])));
        Transition step{cat(node_name(n), " prepares", what), state};
        if (channel != 0) {
          step.after.agents[n].held.claim[d] = agent.read[d];
          step.after.agents[n].held.channel[d] = channel;
        }
        // Else kubelet loses patience once the claim is gone.
        if (channel != 0 || number != agent.read[d]) {
          step.after.agents[n].read[d] = 0;
          out.push_back(std::move(step));
        }
      }
      // Containers of a pod that was deleted by force end at last.
      if (agent.held.claim[d] != 0 && number != agent.held.claim[d]) {
        Transition step{cat(node_name(n), " ends containers of", what), state};
        step.after.agents[n].held.claim[d] = step.after.agents[n].held.channel[d] = 0;
        out.push_back(std::move(step));
      }
    }
    const Report& said = state.server.reports[n];
    Report now{.held = agent.held, .releases = said.releases, .exists = 1};
    if (list != nullptr) now.releases = static_cast<Count>(list->releases);
    const bool has_news = said.exists == 0 || said.held.claim != now.held.claim ||
                          said.held.channel != now.held.channel ||
                          (list != nullptr && list->scarce && said.releases != now.releases);
    if (!has_news) continue;
    Transition step{cat(node_name(n), " reports"), state};
    step.after.server.reports[n] = now;
    out.push_back(std::move(step));
  }
}

void Model::watch_steps(const State& state, std::vector<Transition>& out) const {
  for (std::size_t k = 0; k < static_cast<std::size_t>(bounds_.controllers); ++k) {
    const auto see = [&](const char* kind, auto member) {
      Transition step{cat("controller ", k, " sees ", kind), state};
      step.after.controllers[k].cache.*member = state.server.*member;
      if (bytes_of(step.after) != bytes_of(state)) out.push_back(std::move(step));
    };
    see("the list", &Objects::list);
    see("domains", &Objects::domains);
    see("statuses", &Objects::statuses);
    see("claims", &Objects::claims);
    see("reports", &Objects::reports);
  }
}

void Model::controller_steps(const State& state, std::vector<Transition>& out) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(bounds_.controllers); ++k) {
    const Controller& controller = state.controllers[k];
    const auto go_on = [&](Flight Controller::*flight) {
      const Flight& now = controller.*flight;
      Transition step{
          cat("controller ", k, ": ", to_string(plans_.at(now.plan - 1).actions.at(now.next))),
          state};
      apply_next(step.after, step.after.controllers[k].*flight);
      out.push_back(std::move(step));
    };
    if (controller.clique.plan != 0) {
      go_on(&Controller::clique);
    } else if (const Id plan = clique_plan(controller.cache); plan != 0) {
      Transition step{cat("controller ", k, " decides on the list"), state};
      step.after.controllers[k].clique.plan = plan;
      out.push_back(std::move(step));
    }
    if (controller.domain.plan != 0) {
      go_on(&Controller::domain);
      continue;
    }
    for (int d = 0; d < bounds_.domains; ++d) {
      const Id plan = domain_plan(controller.cache, d);
      if (plan == 0) continue;
      Transition step{cat("controller ", k, " ends ", domain_name(static_cast<std::size_t>(d))),
                      state};
      step.after.controllers[k].domain = {.plan = plan, .next = 0, .domain = static_cast<Count>(d)};
      out.push_back(std::move(step));
    }
  }
}

std::string Model::violation(const State& state) const {
  // Of a list that is lost nobody may know all that it had given: then only what is said of it has
  // to be true.
  if (state.lost != 0) return {};
  std::map<Count, std::size_t> users;
  for (std::size_t n = 0; n < kNodes; ++n) {
    for (std::size_t d = 0; d < kDomains; ++d) {
      const Count channel = state.agents[n].held.channel[d];
      if (channel == 0) continue;
      const auto [it, is_first] = users.try_emplace(channel, d);
      if (it->second != d) {
        return cat("containers of ", domain_name(it->second), " and ", domain_name(d),
                   " have channel ", int{channel});
      }
    }
  }
  for (std::size_t d = 0; d < kDomains; ++d) {
    std::set<Count> channels;
    for (std::size_t n = 0; n < kNodes; ++n) {
      if (state.agents[n].held.channel[d] != 0) channels.insert(state.agents[n].held.channel[d]);
    }
    if (channels.size() > 1 && state.server.domains[d] == kLiving) {
      return cat("containers of ", domain_name(d), " have two channels");
    }
  }
  const api::NodeList* list = list_of(state.server.list.content);
  if (list == nullptr) return {};
  std::set<std::int64_t> numbers;
  for (const api::Channel& channel : list->channels) {
    if (!numbers.insert(channel.number).second) return cat("channel ", channel.number, " twice");
  }
  return {};
}

std::string Model::unsettled(const State& state) {
  if (!reconcile_clique(clique_world(state.server)).actions.empty()) {
    return "there is something left to write";
  }
  const api::NodeList* list = list_of(state.server.list.content);
  if (list == nullptr) return "there is no list";
  for (std::size_t d = 0; d < kDomains; ++d) {
    std::set<Count> channels;
    for (std::size_t n = 0; n < kNodes; ++n) {
      if (state.agents[n].held.channel[d] != 0) channels.insert(state.agents[n].held.channel[d]);
    }
    const bool is_ready = state.server.domains[d] == kLiving && state.server.statuses[d].ready != 0;
    if (is_ready && channels.size() > 1) {
      return cat(domain_name(d), " is Ready, and its containers have two channels");
    }
  }
  if (state.lost != 0) return {};
  // A list that was decided on before the deletion was known has admitted pods of a domain after
  // the proof that none used it: until they end, nobody else may have their channel.
  const auto is_held = [&](std::size_t d) {
    return std::ranges::any_of(state.agents,
                               [d](const Agent& agent) { return agent.held.channel[d] != 0; });
  };
  std::int64_t live = 0;
  for (std::size_t d = 0; d < kDomains; ++d) {
    if (!channel_of(*list, testing::uid_of(domain_name(d)))) {
      if (state.server.domains[d] == kGone && is_held(d)) ++live;
      continue;
    }
    ++live;
    const DomainView view = view_of(state.server, d);
    if (!view.domain && view.claims.empty())
      return cat(domain_name(d), " is gone, its channel not");
  }
  for (std::size_t d = 0; d < kDomains; ++d) {
    if (state.server.domains[d] == kDeleting && view_of(state.server, d).claims.empty()) {
      return cat(domain_name(d), " is never gone");
    }
    if (state.server.domains[d] != kLiving) continue;
    for (std::size_t n = 0; n < kNodes; ++n) {
      const Count number = state.server.claims[d][n];
      if (number == 0 || state.agents[n].held.claim[d] == number) continue;
      if (live < bounds_.channels) {
        return cat(domain_name(d), " waits on ", node_name(n), " although a channel is free");
      }
    }
  }
  return {};
}

std::string Model::describe(const State& state) const {
  const api::NodeList* list = list_of(state.server.list.content);
  std::string text = "server: list";
  if (list != nullptr) {
    for (const api::Channel& channel : list->channels) {
      text += cat(" [", channel.number, " ", channel.domain_uid, " release ", channel.release, " ",
                  slot_ranges(channel.slots), "]");
    }
    text += cat(" releases ", list->releases, list->scarce ? " scarce" : "");
  }
  for (std::size_t d = 0; d < kDomains; ++d) {
    text += cat("; ", domain_name(d), " phase ", int{state.server.domains[d]});
    for (std::size_t n = 0; n < kNodes; ++n) {
      text += cat(" ", node_name(n), " claim ", int{state.server.claims[d][n]}, " holds ",
                  int{state.agents[n].held.claim[d]}, " channel ",
                  int{state.agents[n].held.channel[d]});
    }
  }
  return text + "\n";
}

}  // namespace cdom::core::channel_model
