#include "compute_domain/api/packing.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/packed/packed_fields.h"
#include "api/packed/packed_text.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace packed {
namespace {

// The resource version comes first, in bytes that is_same_but_for_version() can leave out.
constexpr std::size_t kVersionSize = sizeof(std::uint64_t);

constexpr std::int64_t kSecond = 1'000'000'000;

std::uint64_t unsigned_of(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t signed_of(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

const std::vector<std::string_view>& claim_versions() { return kind_of<ResourceClaim>().versions; }

// Of a text that is a number as it would be written; or 0, which none is.
std::uint64_t number_of(const std::string& version) {
  if (version.empty() || version.size() > 19 || version.front() == '0') return 0;
  std::uint64_t number = 0;
  for (const char c : version) {
    if (c < '0' || c > '9') return 0;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

// Where packed bytes are put together: most objects need no more than what lies here itself.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  [[nodiscard]] std::string_view view() const { return {begin_, size()}; }
  [[nodiscard]] char* begin() { return begin_; }
  // The place of `count` more bytes.
  char* extend(std::size_t count) {
    if (static_cast<std::size_t>(limit_ - end_) < count) grow(count);
    return std::exchange(end_, end_ + count);
  }
  void append(std::string_view bytes) {
    std::copy_n(bytes.data(), bytes.size(), extend(bytes.size()));
  }
  void append(char byte) { *extend(1) = byte; }
  // Each byte takes seven bits of it.
  void append_number(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) append(static_cast<char>(number | 0x80));
    append(static_cast<char>(number));
  }

 private:
  void grow(std::size_t count) {
    const std::size_t used = size();
    auto larger = std::make_unique<char[]>(2 * used + count);
    std::copy_n(begin_, used, larger.get());
    begin_ = larger.get();
    end_ = begin_ + used;
    limit_ = end_ + used + count;
    large_ = std::move(larger);
  }

  std::array<char, 1024> small_;
  std::unique_ptr<char[]> large_;
  char* begin_ = small_.data();
  char* end_ = begin_;
  char* limit_ = begin_ + small_.size();
};

class Writer {
 public:
  Writer() { std::fill_n(bytes_.extend(kVersionSize), kVersionSize, '\0'); }

  template <class... Field>
  void operator()(const Field&... fields) {
    (write(fields), ...);
  }
  void name(const std::string& text) { literal(text); }
  void version(const std::string& text) {
    const std::uint64_t number = number_of(text);
    std::memcpy(bytes_.begin(), &number, sizeof number);
    if (number == 0) write(text);
  }
  void claim_version(std::string_view version) {
    const auto& versions = claim_versions();
    std::uint64_t number = 0;
    while (number < versions.size() && versions[number] != version) ++number;
    if (number == versions.size()) throw std::logic_error("a claim of a version that is not read");
    bytes_.append_number(number);
  }

  [[nodiscard]] std::string_view view() const { return bytes_.view(); }

 private:
  void write(const std::string& text) {
    if (const int number = word_of(text); number >= 0) {
      return begin(Text::Word, static_cast<std::uint64_t>(number));
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const Earlier& earlier = earlier_[i];
      if (text == std::string_view(earlier.text, earlier.size))
        return begin(Text::Earlier, earlier.at);
    }
    if (!digits<Uuid>(text) && !digits<Hash>(text)) literal(text);
  }
  void literal(std::string_view text) {
    note(text, bytes_.size());
    begin(Text::Literal, text.size());
    bytes_.append(text);
  }
  // Writes a text that begins with such digits; false: nothing, as it does not.
  template <class Digits>
  bool digits(std::string_view text) {
    std::array<char, Digits::kBytes> bytes;
    if (!put_digits<Digits>(text, bytes.data())) return false;
    note(text, bytes_.size());
    const std::string_view rest = text.substr(Digits::kLength);
    begin(Text::Digits, rest.size() * 2 + (std::is_same_v<Digits, Uuid> ? 1 : 0));
    bytes_.append({bytes.data(), bytes.size()});
    bytes_.append(rest);
    return true;
  }
  void begin(Text what, std::uint64_t number) {
    bytes_.append_number(number * 4 + static_cast<std::uint64_t>(what));
  }
  // What is looked through for each text is short.
  void note(std::string_view text, std::size_t at) {
    if (count_ < earlier_.size()) earlier_[count_++] = {text.data(), text.size(), at};
  }

  void write(bool flag) { bytes_.append(static_cast<char>(flag ? 1 : 0)); }
  void write(std::int64_t number) { bytes_.append_number(unsigned_of(number)); }
  void write(base::Time time) {
    const std::int64_t count = time.time_since_epoch().count();
    if (count % kSecond == 0) return bytes_.append_number(unsigned_of(count / kSecond) * 2);
    bytes_.append_number(1);
    write(count);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void write(Enum value) { bytes_.append(static_cast<char>(value)); }
  template <class T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <class T>
  void write(const std::vector<T>& values) {
    bytes_.append_number(values.size());
    for (const T& value : values) write(value);
  }
  template <class T>
  void write(const std::map<std::string, T>& values) {
    bytes_.append_number(values.size());
    for (const auto& [key, value] : values) {
      write(key);
      write(value);
    }
  }
  void write(const std::set<std::int64_t>& numbers) {
    bytes_.append_number(numbers.size());
    for (const std::int64_t number : numbers) write(number);
  }
  void write(const AttributeValue& value) {
    bytes_.append(static_cast<char>(value.index()));
    std::visit([this](const auto& held) { write(held); }, value);
  }
  template <class Struct>
  requires std::is_aggregate_v<Struct>
  void write(const Struct& object) { fields_of(*this, object); }

  struct Earlier {
    const char* text;
    std::size_t size, at;
  };

  Buffer bytes_;
  std::array<Earlier, 32> earlier_;  // texts that may be said again
  std::size_t count_ = 0;            // of those
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class... Field>
  void operator()(Field&... fields) {
    (read(fields), ...);
  }
  void name(std::string& text) { text = literal(); }
  void version(std::string& text) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes_.data(), sizeof number);
    if (number == 0) return read(text);
    text = std::to_string(number);
  }
  void claim_version(std::string_view& version) { version = claim_versions()[number_at(at_)]; }

  // A literal, as it stands there.
  std::string_view literal() {
    const std::size_t size = number_at(at_) / 4;
    return bytes_.substr(std::exchange(at_, at_ + size), size);
  }

 private:
  // Goes behind the number.
  std::uint64_t number_at(std::size_t& at) const {
    std::uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at++]);
      number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
  }

  void read(std::string& text) { read_at(at_, text); }
  void read_at(std::size_t& at, std::string& text) const {
    const std::uint64_t begin = number_at(at), number = begin / 4;
    switch (static_cast<Text>(begin % 4)) {
      case Text::Literal:
        text.assign(bytes_.data() + at, number);
        at += number;
        return;
      case Text::Word:
        text = word(number);
        return;
      case Text::Earlier: {
        std::size_t earlier = number;
        return read_at(earlier, text);
      }
      case Text::Digits:
        return number % 2 == 1 ? digits<Uuid>(at, number / 2, text)
                               : digits<Hash>(at, number / 2, text);
    }
  }
  template <class Digits>
  void digits(std::size_t& at, std::size_t rest, std::string& text) const {
    text.resize(Digits::kLength + rest);
    get_digits<Digits>(bytes_.data() + at, text.data());
    at += Digits::kBytes;
    std::copy_n(bytes_.data() + at, rest, text.data() + Digits::kLength);
    at += rest;
  }

  void read(bool& flag) { flag = bytes_[at_++] != 0; }
  void read(std::int64_t& number) { number = signed_of(number_at(at_)); }
  void read(base::Time& time) {
    const std::uint64_t number = number_at(at_);
    std::int64_t count = 0;
    if (number == 1) {
      read(count);
    } else {
      count = signed_of(number / 2) * kSecond;
    }
    time = base::Time(base::Duration(count));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(Enum& value) { value = static_cast<Enum>(bytes_[at_++]); }
  template <class T>
  void read(std::optional<T>& value) {
    bool is_there = false;
    read(is_there);
    if (is_there) read(value.emplace());
  }
  template <class T>
  void read(std::vector<T>& values) {
    values.resize(number_at(at_));
    for (T& value : values) read(value);
  }
  template <class T>
  void read(std::map<std::string, T>& values) {
    for (std::uint64_t left = number_at(at_); left > 0; --left) {
      std::string key;
      read(key);
      read(values.try_emplace(values.end(), std::move(key))->second);
    }
  }
  void read(std::set<std::int64_t>& numbers) {
    for (std::uint64_t left = number_at(at_); left > 0; --left) {
      std::int64_t number = 0;
      read(number);
      numbers.insert(numbers.end(), number);
    }
  }
  void read(AttributeValue& value) {
    switch (bytes_[at_++]) {
      case 0:
        return read(value.emplace<bool>());
      case 1:
        return read(value.emplace<std::int64_t>());
      default:
        return read(value.emplace<std::string>());
    }
  }
  template <class Struct>
  requires std::is_aggregate_v<Struct>
  void read(Struct& object) { fields_of(*this, object); }

  std::string_view bytes_;
  std::size_t at_ = kVersionSize;
};

}  // namespace
}  // namespace packed

template <class T>
base::SharedBytes pack(const T& object) {
  packed::Writer writer;
  writer(object);
  return base::SharedBytes(writer.view());
}

template <class T>
T unpack(std::string_view bytes) {
  T object;
  packed::Reader reader(bytes);
  reader(object);
  return object;
}

PackedName name_in(std::string_view bytes) {
  packed::Reader reader(bytes);
  const std::string_view ns = reader.literal();
  return {ns, reader.literal()};
}

bool holds_name(std::string_view begin) {
  std::size_t at = packed::kVersionSize;
  for (int text = 0; text < 2; ++text) {
    std::size_t begun = 0;
    int shift = 0;
    do {
      if (at >= begin.size()) return false;
      begun |= static_cast<std::size_t>(begin[at] & 0x7f) << shift;
      shift += 7;
    } while ((begin[at++] & 0x80) != 0);
    at += begun / 4;
  }
  return at <= begin.size();
}

bool is_same_but_for_version(std::string_view a, std::string_view b) {
  return a.substr(packed::kVersionSize) == b.substr(packed::kVersionSize);
}

template base::SharedBytes pack(const ComputeDomain&);
template base::SharedBytes pack(const Event&);
template base::SharedBytes pack(const Node&);
template base::SharedBytes pack(const Pod&);
template base::SharedBytes pack(const ResourceClaim&);
template base::SharedBytes pack(const ResourceClaimTemplate&);
template base::SharedBytes pack(const ResourceSlice&);
template base::SharedBytes pack(const ComputeDomainNode&);
template base::SharedBytes pack(const ObjectMeta&);
template base::SharedBytes pack(const ConfigMap&);
template base::SharedBytes pack(const NodeList&);
template ComputeDomain unpack(std::string_view);
template Event unpack(std::string_view);
template Node unpack(std::string_view);
template Pod unpack(std::string_view);
template ResourceClaim unpack(std::string_view);
template ResourceClaimTemplate unpack(std::string_view);
template ResourceSlice unpack(std::string_view);
template ComputeDomainNode unpack(std::string_view);
template ObjectMeta unpack(std::string_view);
template ConfigMap unpack(std::string_view);
template NodeList unpack(std::string_view);

}  // namespace cdom::api
