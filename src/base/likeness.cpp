#include "likeness.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace cdom::base::likeness {

namespace {

// What is found is at least so long: shorter, it would take more to say where.
constexpr std::size_t kShortest = 3;     // in the place where it is looked for first
constexpr std::size_t kShortestKey = 4;  // elsewhere

// Both counts are in one byte; what does not fit follows.
constexpr std::size_t kFull = 15;

void append_number(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
  out.push_back(static_cast<char>(number));
}

std::uint64_t number_at(const char*& at) {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
}

std::uint64_t zigzag(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t unzigzag(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

// Where in a text its bytes were last, four at a time.
class Seen {
 public:
  explicit Seen(std::string_view text) : text_(text) {}

  // A place before `at` where the same four bytes are; `at` itself when there is none.
  std::size_t take(std::size_t at) {
    std::uint16_t& last = last_[slot_of(at)];
    const std::size_t place = last;
    last = static_cast<std::uint16_t>(at + 1);
    const bool is_same = place > 0 && std::memcmp(&text_[place - 1], &text_[at], kShortestKey) == 0;
    return is_same ? place - 1 : at;
  }

 private:
  [[nodiscard]] std::size_t slot_of(std::size_t at) const {
    std::uint32_t key = 0;
    std::memcpy(&key, &text_[at], sizeof key);
    return (key * 2654435761U) >> 21;
  }

  std::string_view text_;
  std::array<std::uint16_t, 2048> last_{};  // one more than the place; 0: nowhere
};

}  // namespace

void write(std::string_view sample, std::string_view piece, std::string& out) {
  append_number(out, piece.size());
  std::string text;
  text.reserve(sample.size() + piece.size());
  text.append(sample).append(piece);
  const std::size_t end = text.size();
  Seen seen(text);
  std::size_t at = 0;
  for (; at < sample.size() && at + kShortestKey <= end; ++at) seen.take(at);

  std::size_t from = sample.size();  // what is new begins there
  std::size_t likely = 0;            // where what is at `from` would be found
  // So many bytes at `at` are those at `place`; none of them lie in the sample and behind it.
  const auto length_of = [&](std::size_t place) {
    std::size_t most = end - at;
    if (place < sample.size()) most = std::min(most, sample.size() - place);
    std::size_t length = 0;
    while (length < most && text[place + length] == text[at + length]) ++length;
    return length;
  };
  const auto put = [&](std::size_t length, std::size_t place) {
    const std::size_t fresh = at - from, found = length == 0 ? 0 : length - kShortest + 1;
    out.push_back(static_cast<char>(std::min(fresh, kFull) * 16 + std::min(found, kFull)));
    if (fresh >= kFull) append_number(out, fresh - kFull);
    if (found >= kFull) append_number(out, found - kFull);
    out.append(text, from, fresh);
    if (found == 0) return;
    append_number(
        out, zigzag(static_cast<std::int64_t>(place) - static_cast<std::int64_t>(likely + fresh)));
  };
  for (at = sample.size(); at + kShortest <= end;) {
    std::size_t place = likely + (at - from);
    std::size_t length = place < at ? length_of(place) : 0;
    const bool has_key = at + kShortestKey <= end;
    const std::size_t other = has_key ? seen.take(at) : at;
    if (length < kShortest && other < at) {
      place = other;
      length = length_of(place);
    }
    if (length < kShortest) {
      ++at;
      continue;
    }
    put(length, place);
    for (std::size_t i = 1; i < length && at + i + kShortestKey <= end; ++i) seen.take(at + i);
    at += length;
    from = at;
    likely = place + length;
  }
  at = end;
  if (from < end) put(0, 0);
}

std::size_t size_of(std::string_view written) {
  const char* at = written.data();
  return number_at(at);
}

void read(std::string_view sample, std::string_view written, std::size_t count, char* out) {
  const char* at = written.data();
  const std::size_t size = number_at(at), wanted = std::min(count, size);
  std::size_t done = 0, likely = 0;
  while (done < wanted) {
    const auto both = static_cast<unsigned char>(*at++);
    std::size_t fresh = both / 16, found = both % 16;
    if (fresh == kFull) fresh += number_at(at);
    if (found == kFull) found += number_at(at);
    std::copy_n(at, std::min(fresh, wanted - done), out + done);
    at += fresh;
    done += fresh;
    if (found == 0 || done >= wanted) continue;
    const std::size_t length = std::min(found + kShortest - 1, wanted - done);
    const std::size_t place = static_cast<std::size_t>(static_cast<std::int64_t>(likely + fresh) +
                                                       unzigzag(number_at(at)));
    if (place < sample.size()) {
      std::copy_n(sample.data() + place, length, out + done);
    } else {
      // It may go on in what it writes.
      const char* earlier = out + (place - sample.size());
      for (std::size_t i = 0; i < length; ++i) out[done + i] = earlier[i];
    }
    done += length;
    likely = place + length;
  }
}

}  // namespace cdom::base::likeness
