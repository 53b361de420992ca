#include "json_text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

// Deeper than any Kubernetes object; Go's decoder stops at 10,000.
constexpr int kMaxDepth = 200;

// The library's "[json.exception.parse_error.101] parse error at line 1, column 2: …" without its
// own bookkeeping in front.
std::string_view without_exception_id(std::string_view what) {
  const auto end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

// Opaque parameters as they stand in the text. An API server keeps them byte for byte
// (runtime.RawExtension), a field that comes twice included, and the library's document has each
// once: parameters with duplicates become a string, which is their text with the duplicates.
class Parameters {
 public:
  void see_key(int depth, const std::string& name) {
    if (name == "opaque") opaque_depth_ = depth;
    if (name == "parameters" && depth == opaque_depth_ + 1) {
      depth_ = depth;
      names_.clear();
      duplicates_.clear();
    } else if (depth == depth_ + 1 && !names_.insert(name).second) {
      duplicates_.push_back(name);
    }
  }
  void see_object_end(int depth, Json& object) {
    if (depth != depth_) return;
    depth_ = kNowhere;
    if (duplicates_.empty()) return;
    std::string text = text_of(object);
    text.pop_back();
    for (const std::string& name : duplicates_) {
      text += base::cat(',', text_of(Json(name)), ':', text_of(object[name]));
    }
    object = Json(text + '}');
  }

 private:
  static constexpr int kNowhere = -2;
  int opaque_depth_ = kNowhere, depth_ = kNowhere;
  std::set<std::string> names_;
  std::vector<std::string> duplicates_;
};

// Builds the document as the library does, but allocates nothing for what is left out. All its
// methods say whether to go on.
class Builder : public Json::json_sax_t {
 public:
  // Which outlives it.
  explicit Builder(const Wanted& wanted) : wanted_(&wanted) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(std::int64_t value) override { return add(Json(value)); }
  bool number_unsigned(std::uint64_t value) override { return add(Json(value)); }
  bool number_float(double value, const std::string& /*text*/) override { return add(Json(value)); }
  bool string(std::string& value) override {
    return is_left_out() ? add(Json()) : add(Json(std::move(value)));
  }
  bool binary(Json::binary_t& /*value*/) override { return false; }  // there is none in JSON
  bool start_object(std::size_t /*size*/) override { return open(Json::value_t::object); }
  bool start_array(std::size_t /*size*/) override { return open(Json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    if (is_left_out()) return true;
    parameters_.see_key(depth(), name);
    if (name == "metadata") metadata_depth_ = depth();
    const Wanted* wanted = open_.back().wanted->of(name);
    if (wanted == nullptr || (depth() == metadata_depth_ + 1 && name == "managedFields")) {
      left_out_at_ = depth();
    } else {
      wanted_ = wanted;
      member_ = &open_.back().json->get_ref<Json::object_t&>()[std::move(name)];
    }
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Json::exception& error) override {
    problem_ = base::cat("not JSON: ", without_exception_id(error.what()));
    return false;
  }

  Json take() { return std::move(document_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  // Of objects and lists that are open.
  [[nodiscard]] int depth() const { return static_cast<int>(open_.size()) + open_left_out_; }
  [[nodiscard]] bool is_left_out() const { return left_out_at_ > 0; }
  // The value of the member that is left out has come whole.
  void end_left_out() {
    if (open_left_out_ == 0) left_out_at_ = 0;
  }

  Json& place(Json value) {
    if (open_.empty()) return document_ = std::move(value);
    Json& whole = *open_.back().json;
    if (!whole.is_array()) return *member_ = std::move(value);
    wanted_ = open_.back().wanted;
    return whole.get_ref<Json::array_t&>().emplace_back(std::move(value));
  }
  bool is_too_deep() {
    if (depth() <= kMaxDepth) return false;
    problem_ = base::cat("JSON is nested more than ", kMaxDepth, " levels deep");
    return true;
  }
  bool add(Json value) {
    if (is_too_deep()) return false;
    if (is_left_out()) {
      end_left_out();
    } else {
      place(std::move(value));
    }
    return true;
  }
  bool open(Json::value_t type) {
    if (is_too_deep()) return false;
    if (is_left_out()) {
      ++open_left_out_;
    } else {
      Json& opened = place(Json(type));
      open_.push_back({&opened, wanted_});
    }
    return true;
  }
  bool close() {
    if (is_left_out()) {
      --open_left_out_;
      end_left_out();
      return true;
    }
    Json& closed = *open_.back().json;
    open_.pop_back();
    if (closed.is_object()) parameters_.see_object_end(depth(), closed);
    return true;
  }

  Json document_;
  struct Open {
    Json* json;
    const Wanted* wanted;
  };
  std::vector<Open> open_;  // from the document inwards
  Json* member_ = nullptr;  // of the last of them, whose value is next
  const Wanted* wanted_;    // of the value that is next
  int left_out_at_ = 0;     // the depth of a member whose value is left out; 0: none is
  int open_left_out_ = 0;   // objects and lists that are open in it
  int metadata_depth_ = -1;
  Parameters parameters_;
  std::string problem_;
};

}  // namespace

const Wanted* Wanted::of(const std::string& name) const {
  if (everything) return this;
  const auto it = members.find(name);
  return it == members.end() ? nullptr : &it->second;
}

base::Result<Json> parse_json(std::string_view text, const Wanted& wanted) {
  Builder builder(wanted);
  if (Json::sax_parse(text, &builder)) return builder.take();
  return base::Error{base::ErrorKind::Invalid, builder.problem()};
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view type_name_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "object";
    case Json::value_t::array:
      return "list";
    case Json::value_t::string:
      return "string";
    case Json::value_t::boolean:
      return "boolean";
    default:
      return "number";
  }
}

}  // namespace cdom::api
