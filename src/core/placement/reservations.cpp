#include "compute_domain/core/reservations.h"

#include <algorithm>
#include <charconv>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::core {

namespace {

constexpr char kGenerationKey[] = "generation";
// Numbers of the ConfigMap stay below this, so that counting up from them never overflows.
constexpr std::int64_t kHighestNumber = 100'000'000'000;
// A value of the label by which node lists are known, so that one watch brings both.
constexpr char kReservationsGroup[] = "placement";

// What a selector has before the clique's name, and after it.
struct Selector {
  std::string head;
  std::string tail;
};

std::string clique_of_device() {
  return base::cat("device.attributes['", api::kDriver, "'].?", api::kAttributeClique,
                   ".orValue('')");
}

// The name comes first: to CEL a string equals nothing of another type, but a version that is
// compared with a string is an error.
Selector selector() { return {"'", base::cat("' == ", clique_of_device())}; }
// As a controller of 0.1.0 writes it.
Selector former_selector() { return {base::cat(clique_of_device(), " == '"), "'"}; }

// "" when the text asks for no clique.
std::string clique_in(std::string_view text) {
  for (const auto& [head, tail] : {selector(), former_selector()}) {
    if (!text.starts_with(head) || !text.ends_with(tail)) continue;
    if (text.size() <= head.size() + tail.size()) continue;
    const auto clique = text.substr(head.size(), text.size() - head.size() - tail.size());
    if (is_clique_name(clique)) return std::string(clique);
  }
  return {};
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number < 0 || number > kHighestNumber) return std::nullopt;
  return number;
}

// "16 seats of aaaa.1 generation 7", and during a move "12 seats of aaaa.1 generation 8 leaving 16
// of bbbb.2".
std::string text_of(const Reservation& reservation) {
  std::string text = base::cat(reservation.seats, " seats of ", reservation.clique, " generation ",
                               reservation.generation);
  if (reservation.leaving.empty()) return text;
  return base::cat(text, " leaving ", reservation.leaving_seats, " of ", reservation.leaving);
}

// Words behind those are a later release's, and passed over: a clique whose reservation an older
// controller did not read would look free to it.
std::optional<Reservation> reservation_of(const std::string& text) {
  const std::vector<std::string> words = base::split(text, ' ');
  if (words.size() < 6) return std::nullopt;
  const bool is_moving = words.size() > 6 && words[6] == "leaving";
  if (is_moving && words.size() < 10) return std::nullopt;
  const auto seats = number_in(words[0]), generation = number_in(words[5]);
  const auto leaving_seats = is_moving ? number_in(words[7]) : std::optional<std::int64_t>(0);
  if (!seats || !generation || !leaving_seats) return std::nullopt;
  Reservation reservation{.clique = words[3],
                          .seats = *seats,
                          .generation = *generation,
                          .leaving = is_moving ? words[9] : "",
                          .leaving_seats = *leaving_seats};
  if (!is_clique_name(reservation.clique)) return std::nullopt;
  if (is_moving && !is_clique_name(reservation.leaving)) return std::nullopt;
  // Any other text there is not a reservation.
  const std::string known = text_of(reservation);
  if (text != known && !text.starts_with(known + " ")) return std::nullopt;
  return reservation;
}

}  // namespace

bool is_clique_name(std::string_view clique) {
  return !clique.empty() && base::is_label_value(clique);
}

std::optional<Reservation> reservation_in(const api::ConfigMap& map, const std::string& uid) {
  const auto it = map.data.find(uid);
  return it == map.data.end() ? std::nullopt : reservation_of(it->second);
}

Reservations reservations_in(const api::ConfigMap& map) {
  Reservations reservations;
  for (const auto& [key, text] : map.data) {
    if (key == kGenerationKey) {
      reservations.generation = std::max(reservations.generation, number_in(text).value_or(0));
    } else if (auto reservation = reservation_of(text)) {
      reservations.generation = std::max(reservations.generation, reservation->generation);
      reservations.by_domain.emplace(key, std::move(*reservation));
    }
  }
  return reservations;
}

bool is_reservations(const api::ConfigMap& map) {
  return !map.data.empty() && std::ranges::all_of(map.data, [](const auto& entry) {
    const auto& [key, text] = entry;
    return key == kGenerationKey ? number_in(text).has_value() : reservation_of(text).has_value();
  });
}

api::ConfigMap config_map_of(const Reservations& reservations, const std::string& ns) {
  api::ConfigMap map;
  map.meta.name = kReservationsName;
  map.meta.ns = ns;
  map.meta.labels = {{api::kGroupLabel, kReservationsGroup}};
  if (reservations.by_domain.empty()) return map;
  for (const auto& [uid, reservation] : reservations.by_domain)
    map.data.emplace(uid, text_of(reservation));
  map.data.emplace(kGenerationKey, std::to_string(reservations.generation));
  return map;
}

void ask_for(api::ResourceClaimTemplate& object, const Reservation& reservation) {
  object.meta.annotations[api::kPlacementGeneration] = std::to_string(reservation.generation);
  for (api::DeviceRequest& request : object.spec.requests) {
    const auto [head, tail] = selector();
    request.selectors.push_back(base::cat(head, reservation.clique, tail));
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
  const auto generation = number_in(object.meta.annotation(api::kPlacementGeneration));
  return TemplatePlacement{std::move(clique), generation.value_or(0)};
}

}  // namespace cdom::core
