#include "compute_domain/core/ledger.h"

#include <algorithm>
#include <charconv>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

constexpr char kTurnKey[] = "turn";
// A ledger's numbers stay where nothing that is counted up from them overflows.
constexpr std::int64_t kHighestNumber = 100'000'000'000;
// Of a template, which tenants may edit. So far below that the choices counted up from it never
// reach the end of what a ledger takes.
constexpr std::int64_t kHighestTurnOfTemplate = 1'000'000'000;
// Of the label by which node lists are known, so that one watch brings both.
constexpr char kLedgerGroup[] = "placement";

std::string selector_head() {
  return base::cat("device.attributes['", api::kDriver, "'].?", api::kAttributeClique,
                   ".orValue('') == '");
}

// "" when the selector asks for no clique.
std::string clique_in(const std::string& selector) {
  const std::string head = selector_head();
  if (selector.size() <= head.size() || !selector.starts_with(head)) return {};
  if (!selector.ends_with('\'')) return {};
  std::string clique = selector.substr(head.size(), selector.size() - head.size() - 1);
  return is_clique_name(clique) ? clique : "";
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number < 0 || number > kHighestNumber) return std::nullopt;
  return number;
}

// "16 seats of aaaa.1 turn 7", and during a move "12 seats of aaaa.1 turn 8 leaving 16 of bbbb.2".
std::string text_of(const Promise& promise) {
  std::string text = base::cat(promise.seats, " seats of ", promise.clique, " turn ", promise.turn);
  if (promise.leaving.empty()) return text;
  return base::cat(text, " leaving ", promise.leaving_seats, " of ", promise.leaving);
}

std::optional<Promise> promise_of(const std::string& text) {
  const std::vector<std::string> words = base::split(text, ' ');
  const bool is_moving = words.size() == 10;
  if (words.size() != 6 && !is_moving) return std::nullopt;
  const auto seats = number_in(words[0]), turn = number_in(words[5]);
  const auto leaving_seats = is_moving ? number_in(words[7]) : std::optional<std::int64_t>(0);
  if (!seats || !turn || !leaving_seats) return std::nullopt;
  Promise promise{.clique = words[3],
                  .seats = *seats,
                  .turn = *turn,
                  .leaving = is_moving ? words[9] : "",
                  .leaving_seats = *leaving_seats};
  const bool is_named = is_clique_name(promise.clique) &&
                        (promise.leaving.empty() || is_clique_name(promise.leaving));
  // Whatever else is written there is no promise.
  if (!is_named || text_of(promise) != text) return std::nullopt;
  return promise;
}

}  // namespace

bool is_clique_name(std::string_view clique) {
  return !clique.empty() && base::is_label_value(clique);
}

std::optional<Promise> promise_in(const api::ConfigMap& map, const std::string& uid) {
  const auto it = map.data.find(uid);
  return it == map.data.end() ? std::nullopt : promise_of(it->second);
}

Ledger ledger_in(const api::ConfigMap& map) {
  Ledger ledger;
  for (const auto& [key, text] : map.data) {
    if (key == kTurnKey) {
      ledger.turn = std::max(ledger.turn, number_in(text).value_or(0));
    } else if (auto promise = promise_of(text)) {
      ledger.turn = std::max(ledger.turn, promise->turn);
      ledger.promises.emplace(key, std::move(*promise));
    }
  }
  return ledger;
}

bool is_ledger(const api::ConfigMap& map) {
  return !map.data.empty() && config_map_of(ledger_in(map), map.meta.ns).data == map.data;
}

api::ConfigMap config_map_of(const Ledger& ledger, const std::string& ns) {
  api::ConfigMap map;
  map.meta.name = kLedgerName;
  map.meta.ns = ns;
  map.meta.labels = {{api::kGroupLabel, kLedgerGroup}};
  if (ledger.promises.empty()) return map;
  for (const auto& [uid, promise] : ledger.promises) map.data.emplace(uid, text_of(promise));
  map.data.emplace(kTurnKey, std::to_string(ledger.turn));
  return map;
}

void ask_for(api::ResourceClaimTemplate& object, const Promise& promise) {
  object.meta.annotations[api::kPlacementTurn] = std::to_string(promise.turn);
  for (api::DeviceRequest& request : object.spec.requests) {
    request.selectors.push_back(base::cat(selector_head(), promise.clique, "'"));
  }
}

std::string asked_clique(const api::ResourceClaimSpec& spec) {
  for (const api::DeviceRequest& request : spec.requests) {
    for (const std::string& selector : request.selectors) {
      if (std::string clique = clique_in(selector); !clique.empty()) return clique;
    }
  }
  return {};
}

void keep_asked_clique(api::ResourceClaimSpec& spec) {
  for (api::DeviceRequest& request : spec.requests) {
    std::erase_if(request.selectors,
                  [](const std::string& selector) { return clique_in(selector).empty(); });
    if (request.selectors.size() > 1) request.selectors.resize(1);
  }
}

std::optional<TemplatePlacement> placement_of(const api::ResourceClaimTemplate& object) {
  std::string clique = asked_clique(object.spec);
  if (clique.empty()) return std::nullopt;
  const auto turn = number_in(object.meta.annotation(api::kPlacementTurn));
  const bool is_taken = turn && *turn <= kHighestTurnOfTemplate;
  return TemplatePlacement{std::move(clique), is_taken ? *turn : 0};
}

}  // namespace cdom::core
