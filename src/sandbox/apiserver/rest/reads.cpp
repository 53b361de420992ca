#include "sandbox/apiserver/rest/reads.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/printing/representation.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/apiserver/storage/continue_token.h"
#include "sandbox/apiserver/storage/list_page.h"
#include "sandbox/apiserver/storage/selection.h"
#include "sandbox/apiserver/storage/watch.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

http::Response ok(std::string body) {
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}},
          .body = std::move(body)};
}

// What a list request wants to see: which state of the cluster, from which key, how many.
struct Page {
  std::uint64_t resource_version = 0;
  bool exact = false;  // as it was at resource_version
  std::string start;
  std::size_t limit = 0;  // 0: no limit
};

[[noreturn]] void refuse(Cause cause) {
  throw StatusError(invalid_options("ListOptions", {std::move(cause)}));
}

void check_list_options(const RequestInfo& info) {
  const std::string& version = info.option("resourceVersion");
  const std::string& match = info.option("resourceVersionMatch");
  const bool continues = !info.option("continue").empty();
  if (info.is_set("sendInitialEvents")) {
    refuse(forbidden_field("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match.empty()) return;
  if (continues) {
    refuse(forbidden_field("resourceVersionMatch",
                           "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (version.empty()) {
    refuse(forbidden_field("resourceVersionMatch",
                           "resourceVersionMatch is forbidden unless "
                           "resourceVersion is provided"));
  }
  if (match != "Exact" && match != "NotOlderThan") {
    refuse({.reason = "FieldValueNotSupported",
            .message = cat("Unsupported value: \"", match,
                           "\": supported values: \"Exact\", \"NotOlderThan\", \"\""),
            .field = "resourceVersionMatch"});
  }
  if (match == "Exact" && version == "0") {
    refuse(forbidden_field("resourceVersionMatch",
                           "resourceVersionMatch \"exact\" is forbidden "
                           "for resourceVersion \"0\""));
  }
}

Page wanted_page(const Call& call) {
  check_list_options(call.info);
  const std::uint64_t current = call.state.storage.resource_version();
  Page page{.resource_version = current};
  page.limit = parse_resource_version(call.info.option("limit")).value_or(0);

  if (const std::string& token = call.info.option("continue"); !token.empty()) {
    const auto decoded = decode_continue_token(token);
    if (!decoded) {
      throw StatusError(bad_request("continue key is not valid: it was not made by this server"));
    }
    page.start = decoded->start;
    page.exact = true;
    page.resource_version = decoded->resource_version;
    return page;
  }
  const std::string& text = call.info.option("resourceVersion");
  const auto wanted = parse_resource_version(text);
  if (!wanted) {
    refuse(invalid_value("resourceVersion", cat("\"", text, "\""), "must be a number"));
  }
  if (*wanted > current) {
    throw StatusError(resource_version_too_large(text, std::to_string(current)));
  }
  const std::string& match = call.info.option("resourceVersionMatch");
  page.exact = match == "Exact" || (match.empty() && *wanted > 0 && page.limit > 0);
  if (page.exact) page.resource_version = *wanted;
  return page;
}

Snapshot snapshot_of(const Call& call, const Page& page) {
  const Storage& storage = call.state.storage;
  if (!page.exact) return storage.snapshot(call.kind->bucket);
  auto then = storage.snapshot_at(call.kind->bucket, page.resource_version);
  if (then) return *std::move(then);
  if (page.start.empty()) {
    throw StatusError(expired(
        cat("The resourceVersion for the provided list is too old: ", page.resource_version)));
  }
  Status status = expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.");
  status.continue_token =
      encode({.resource_version = storage.resource_version(), .start = page.start});
  throw StatusError(std::move(status));
}

// An object has no metadata list, and a list no metadata of its own that could stand for it.
void check_form(const Call& call, Form unfit, std::string_view what) {
  if (wanted_form(call.request) != unfit) return;
  const bool is_list = unfit == Form::PartialMetadata;
  throw StatusError(not_acceptable(cat("you requested PartialObjectMetadata", is_list ? "" : "List",
                                       ", but the requested object is ",
                                       is_list ? "a list (" : "not a list (", what, ")")));
}

}  // namespace

http::Response get_object(Call& call) {
  check_form(call, Form::PartialMetadataList, call.kind->kind);
  const Object found = call.state.storage.get(call.kind->bucket, call.key());
  if (!found) throw StatusError(not_found(*call.kind, call.info.name));
  return ok(Representation(call.kind, call.request, call.info, call.state.clock).object(*found));
}

http::Response list_objects(Call& call) {
  check_form(call, Form::PartialMetadata, call.kind->list_kind());
  const Page page = wanted_page(call);
  const Selection selection(*call.kind, call.info);
  ListMeta meta{.resource_version = page.resource_version};
  const ListPage found = page_of(
      snapshot_of(call, page), {.prefix = call.prefix(), .start = page.start, .limit = page.limit},
      [&](const Object& object) { return selection.matches(object->value()); });
  if (!found.next.empty()) {
    meta.continue_token = encode({.resource_version = page.resource_version, .start = found.next});
    if (selection.is_everything()) meta.remaining = found.behind;
  }
  return ok(Representation(call.kind, call.request, call.info, call.state.clock)
                .list(found.objects, meta));
}

std::unique_ptr<LiveStream> watch_objects(const std::shared_ptr<ApiState>& state, Call& call) {
  return std::make_unique<Watch>(state, call);
}

}  // namespace cdom::sandbox::server
