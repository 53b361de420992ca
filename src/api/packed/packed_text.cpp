#include "api/packed/packed_text.h"

#include <array>
#include <iterator>
#include <type_traits>
#include <vector>

#include "compute_domain/api/names.h"

namespace cdom::api::packed {

namespace {

// The first 32 take one byte each, others two.
constexpr std::string_view kWords[] = {
    "",
    kDriver,
    kNodeCliqueLabel,
    kNodeCliqueMark,
    kAgentNodeLabel,
    kAgentNodeDetected,
    kChannelRequest,
    "channel-0",
    kAttributeType,
    kAttributeId,
    kAttributeClique,
    "pods",
    "Running",
    "default",
    "CanServe",
    "compute-domain-nodes",
    kPodClaimAnnotation,
    "v1",
    "Pod",
    kOutOfServiceTaint,
    kUnschedulableTaint,
    "NoSchedule",
    "NoExecute",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/not-ready",
    "nvidia.com/gpu",
    "true",
    "false",
    "present",
    kSharedType,
    kFencedAnnotation,
    kPauseAnnotation,
    kDriverUpgradeLabel,
    "upgrade-done",
    "nvidia.com/gpu.present",
    "nvidia.com/gpu.count",
    "Pending",
    "Succeeded",
    "Failed",
    "0-17",
    "PreferNoSchedule",
    kSharedClass,
    kChannelClass,
    "channel/channel",
};

// The value of a digit; negative for what is none.
constexpr auto kValues = [] {
  std::array<int, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < 10; ++i) values['0' + i] = static_cast<int>(i);
  for (std::size_t i = 0; i < 6; ++i) values['a' + i] = static_cast<int>(10 + i);
  return values;
}();

// The two digits of each byte.
constexpr auto kDigits = [] {
  constexpr char kOne[] = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> digits{};
  for (std::size_t i = 0; i < digits.size(); ++i) digits[i] = {kOne[i / 16], kOne[i % 16]};
  return digits;
}();

constexpr std::array<std::size_t, 4> kDashes = {8, 13, 18, 23};

// Where the two digits of a byte stand.
template <class Digits>
constexpr auto kPlaces = [] {
  std::array<std::size_t, Digits::kBytes> places{};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t dashes = i < 4 ? 0 : i < 6 ? 1 : i < 8 ? 2 : i < 10 ? 3 : 4;
    places[i] = 2 * i + (std::is_same_v<Digits, Uuid> ? dashes : 0);
  }
  return places;
}();

}  // namespace

int word_of(std::string_view text) {
  // By length, as most texts have one that few words have.
  static const auto kByLength = [] {
    std::vector<std::vector<int>> numbers;
    for (int number = 0; number < std::ssize(kWords); ++number) {
      const std::size_t length = kWords[number].size();
      if (length >= numbers.size()) numbers.resize(length + 1);
      numbers[length].push_back(number);
    }
    return numbers;
  }();
  if (text.size() >= kByLength.size()) return -1;
  for (const int number : kByLength[text.size()]) {
    if (kWords[number] == text) return number;
  }
  return -1;
}

std::string_view word(std::uint64_t number) { return kWords[number]; }

template <class Digits>
bool put_digits(std::string_view text, char* bytes) {
  if (text.size() < Digits::kLength) return false;
  if constexpr (std::is_same_v<Digits, Uuid>) {
    for (const std::size_t dash : kDashes) {
      if (text[dash] != '-') return false;
    }
  }
  int all = 0;
  for (std::size_t i = 0; i < Digits::kBytes; ++i) {
    const std::size_t at = kPlaces<Digits>[i];
    const int high = kValues[static_cast<unsigned char>(text[at])];
    const int low = kValues[static_cast<unsigned char>(text[at + 1])];
    all |= high | low;
    bytes[i] = static_cast<char>(high * 16 + low);
  }
  return all >= 0;
}

template <class Digits>
void get_digits(const char* bytes, char* text) {
  for (std::size_t i = 0; i < Digits::kBytes; ++i) {
    const auto& digits = kDigits[static_cast<unsigned char>(bytes[i])];
    text[kPlaces<Digits>[i]] = digits[0];
    text[kPlaces<Digits>[i] + 1] = digits[1];
  }
  if constexpr (std::is_same_v<Digits, Uuid>) {
    for (const std::size_t dash : kDashes) text[dash] = '-';
  }
}

template bool put_digits<Uuid>(std::string_view, char*);
template bool put_digits<Hash>(std::string_view, char*);
template void get_digits<Uuid>(const char*, char*);
template void get_digits<Hash>(const char*, char*);

}  // namespace cdom::api::packed
