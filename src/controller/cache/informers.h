// Informers: the watches that fill the controller's stores, one of each of WatchedKinds.
//
// has_synced(), next_due() and what is said of trouble are for any thread; the informers themselves
// are stepped by one thread each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "compute_domain/base/metrics.h"
#include "compute_domain/base/text.h"
#include "compute_domain/controller/controller.h"
#include "compute_domain/controller/stores.h"
#include "compute_domain/kube/informer.h"

namespace cdom::controller {

// Which objects of a kind are wanted: all, unless it is said here.
template <class T>
kube::Selection selection_of(const Options& /*options*/) {
  return {};
}
template <>
kube::Selection selection_of<api::ConfigMap>(const Options& options);
template <>
kube::Selection selection_of<api::ResourceSlice>(const Options& options);
template <>
kube::Selection selection_of<api::Pod>(const Options& options);

template <>
kube::Selection selection_of<api::ComputeDomainClique>(const Options& options);

// Whether a kind is watched at all: always, unless it is said here. The store of one that is not
// stays empty.
template <class T>
bool is_watched(const Options& /*options*/) {
  return true;
}
template <>
inline bool is_watched<api::ComputeDomainClique>(const Options& options) {
  return options.settings.fills_cliques;
}

// Whether nothing goes on without its watch: always, unless it is said here. What only one kind of
// key reads holds back that key.
template <class T>
inline constexpr bool kIsNeeded = true;
template <>
inline constexpr bool kIsNeeded<api::ComputeDomainClique> = false;

// Who hears, by an Event on it, of an object that cannot be read: those who wrote one of our own
// kinds of each problem, other people once, and nobody where nothing can be corrected.
enum class Unreadable { TellsNobody, TellsOnce, TellsEachProblem };
template <class T>
inline constexpr Unreadable kUnreadable = Unreadable::TellsNobody;
template <>
inline constexpr Unreadable kUnreadable<api::ComputeDomain> = Unreadable::TellsEachProblem;
template <>
inline constexpr Unreadable kUnreadable<api::ComputeDomainNode> = Unreadable::TellsEachProblem;
template <>
inline constexpr Unreadable kUnreadable<api::ResourceClaim> = Unreadable::TellsOnce;
template <>
inline constexpr Unreadable kUnreadable<api::ResourceClaimTemplate> = Unreadable::TellsOnce;
template <>
inline constexpr Unreadable kUnreadable<api::ResourceSlice> = Unreadable::TellsOnce;
template <>
inline constexpr Unreadable kUnreadable<api::ComputeDomainClique> = Unreadable::TellsOnce;

// Each Node has a new status every five minutes, which says nothing new: of 20,000 nodes one comes
// every 15 ms. They are read some at a time: nothing that is decided by a Node is worse for a
// quarter of a second.
template <class T>
inline constexpr base::Duration kRest{};
template <>
inline constexpr base::Duration kRest<api::Node> = std::chrono::milliseconds(250);

struct InformerContext {
  const kube::Client& client;
  const base::Clock& clock;
  base::Registry& metrics;
  const Options& options;
};

template <class T>
class InformerOf : public kube::Informer<T, Stored<T>, StoreOf<Stored<T>>> {
 public:
  explicit InformerOf(const InformerContext& in)
      : kube::Informer<T, Stored<T>, StoreOf<Stored<T>>>(
            in.client, in.clock,
            {.of = selection_of<T>(in.options),
             .seed = in.options.seed ^ base::fnv1a64(api::kind_of<T>().plural),
             .page_size = kPageSize,
             .rest = kRest<T>},
            indexes_of<Stored<T>>(), &in.metrics,
            [](T object) { return stored(std::move(object)); }) {}

 private:
  // Objects in a page of a list: what is decoded at a time is most of what this process ever needs.
  static constexpr std::size_t kPageSize = 100;
};

// One watch, whatever its kind.
struct Watch {
  std::string name;  // "computedomains"
  bool is_needed = true;
  std::function<void(std::stop_token, std::function<void()> before_step)> run;
  std::function<bool()> step;  // whether it did anything
  std::function<void()> stop;
  std::function<bool()> has_synced;
  std::function<std::optional<kube::WatchTrouble>()> trouble;
  std::function<std::optional<base::Duration>()> next_due;
};

template <class Kinds>
class InformersOf;

// What is said of the watches, which is the same for all kinds.
class Watches {
 public:
  explicit Watches(const base::Clock& clock) : clock_(clock) {}

  [[nodiscard]] const std::vector<Watch>& all() const { return watches_; }
  [[nodiscard]] bool have_synced() const;  // those that are needed
  [[nodiscard]] bool are_broken() const;   // one of them
  [[nodiscard]] std::optional<base::Duration> next_due() const;
  // What Controller says of the same name, for the watches that are needed.
  [[nodiscard]] std::string not_ready() const;
  [[nodiscard]] std::optional<base::Error> lost_kind() const;
  // What a person has to correct before the first list of a kind can succeed; nullopt: nothing that
  // is known, as an API server that does not answer is waited for.
  [[nodiscard]] std::optional<base::Error> missing_at_start() const;
  // The same two of a watch that is not needed.
  [[nodiscard]] std::optional<base::Error> lacking() const;

  template <class T>
  void add(InformerOf<T>& informer);

 private:
  [[nodiscard]] std::optional<base::Error> lost(const Watch& watch) const;

  const base::Clock& clock_;
  std::vector<Watch> watches_;
};

template <class... T>
class InformersOf<KindList<T...>> {
 public:
  explicit InformersOf(const InformerContext& in)
      : watches_(in.clock), informers_(same_for<T>(in)...) {
    ((is_watched<T>(in.options) ? watches_.add(of<T>()) : void()), ...);
  }

  template <class Kind>
  InformerOf<Kind>& of() {
    return std::get<InformerOf<Kind>>(informers_);
  }
  [[nodiscard]] Stores stores() const { return {std::get<InformerOf<T>>(informers_).store()...}; }
  // Up to which change each store has followed the API server.
  [[nodiscard]] std::vector<std::uint64_t> seen_versions() const {
    return {std::get<InformerOf<T>>(informers_).store().seen_version()...};
  }
  [[nodiscard]] const Watches& watches() const { return watches_; }

  // Calls `with` for each informer: before the first step.
  template <class With>
  void connect(const With& with) {
    (with(of<T>()), ...);
  }

 private:
  template <class>
  static const InformerContext& same_for(const InformerContext& in) {
    return in;
  }

  Watches watches_;
  std::tuple<InformerOf<T>...> informers_;
};
using Informers = InformersOf<WatchedKinds>;

template <class T>
void Watches::add(InformerOf<T>& informer) {
  watches_.push_back(
      {.name = std::string(api::kind_of<T>().plural),
       .is_needed = kIsNeeded<T>,
       .run = [&informer](const std::stop_token& token,
                          const auto& before_step) { informer.run(token, before_step); },
       .step =
           [&informer] {
             using Step = kube::WatchLoop::Step;
             const Step step = informer.step(base::Duration::zero());
             return step != Step::Idle && step != Step::Stopped;
           },
       .stop = [&informer] { informer.stop(); },
       .has_synced = [&informer] { return informer.store().has_synced(); },
       .trouble = [&informer] { return informer.trouble(); },
       .next_due = [&informer] { return informer.next_due(); }});
}

}  // namespace cdom::controller
