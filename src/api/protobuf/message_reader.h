// MessageReader: the fields of one message of protobuf's wire format, one by one
// (https://protobuf.dev/programming-guides/encoding/).
//
// A field that nobody asks for is skipped by its length. Bytes that do not fit the format end the
// message and all that it is part of: see is_broken(). The text has to outlive what is read of it.
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cdom::api {

class MessageReader {
 public:
  // `is_broken` belongs to the whole text; it is set when any part is broken.
  MessageReader(std::string_view text, bool& is_broken) : rest_(text), is_broken_(is_broken) {}

  // Goes to the next field. False: there is none, or the text is broken.
  [[nodiscard]] bool next();
  // The field's number in the message's definition.
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // The value of the field. When it is asked for as another type, the text counts as broken.
  [[nodiscard]] std::string_view bytes() const;
  // Bytes that are not UTF-8 have become U+FFFD, as they do where an API server writes JSON.
  void read(std::string& out) const;
  void read(std::string_view& out) const { out = bytes(); }  // as they are
  void read(bool& out) const { out = integer() != 0; }
  void read(std::int64_t& out) const { out = static_cast<std::int64_t>(integer()); }
  // One more element.
  void read(std::vector<std::string>& out) const { read(out.emplace_back()); }
  [[nodiscard]] MessageReader message() const { return {bytes(), is_broken_}; }

  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  enum class Type : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  [[nodiscard]] std::uint64_t integer() const;
  // Most numbers are of one byte.
  bool take_varint(std::uint64_t& value) {
    constexpr unsigned char kMore = 0x80;
    if (rest_.empty() || static_cast<unsigned char>(rest_.front()) >= kMore) {
      return take_long_varint(value);
    }
    value = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return true;
  }
  bool take_long_varint(std::uint64_t& value);
  bool take_bytes(std::uint64_t size) {
    if (size > rest_.size()) return false;
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool broke() const {
    is_broken_ = true;
    return false;
  }

  std::string_view rest_;
  bool& is_broken_;
  std::uint64_t number_ = 0;
  Type type_ = Type::Varint;
  std::uint64_t integer_ = 0;
  std::string_view bytes_;
};

inline bool MessageReader::next() {
  if (is_broken_ || rest_.empty()) return false;
  std::uint64_t tag = 0;
  if (!take_varint(tag)) return broke();
  constexpr unsigned kBitsOfType = 3;
  number_ = tag >> kBitsOfType;
  if (number_ == 0) return broke();
  type_ = static_cast<Type>(tag & 7U);
  switch (type_) {
    case Type::Varint:
      return take_varint(integer_) || broke();
    case Type::Bytes: {
      std::uint64_t size = 0;
      return (take_varint(size) && take_bytes(size)) || broke();
    }
    case Type::Fixed64:
      return take_bytes(8) || broke();
    case Type::Fixed32:
      return take_bytes(4) || broke();
  }
  // A group, which Kubernetes has nowhere.
  return broke();
}

inline std::string_view MessageReader::bytes() const {
  if (type_ == Type::Bytes) return bytes_;
  broke();
  return {};
}

// A field that is no message: its number, and where its value goes.
template <class T>
struct PlainField {
  std::uint64_t number;
  T& out;
};
template <class T>
PlainField(std::uint64_t, T&) -> PlainField<T>;  // for clang before 17, which deduces no aggregate

// Reads a message of which only such fields are wanted.
template <class... T>
void read_plain(MessageReader in, const PlainField<T>&... fields) {
  while (in.next()) ((in.number() == fields.number ? in.read(fields.out) : void()), ...);
}

}  // namespace cdom::api
