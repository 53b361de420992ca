// Envelope: what an API server puts around objects in protobuf. An object or a list is in a
// runtime.Unknown behind four bytes, which says what it is; a watch's event is a metav1.WatchEvent,
// whose object is in such an envelope again
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding).
//
// A list or an event is read as a whole or not at all. The caller can ask for it in JSON, whose
// reader reads each object by itself, and says what is wrong with one.
#pragma once

#include <optional>
#include <string_view>

#include "api/fields/heads.h"
#include "api/function_ref.h"
#include "api/protobuf/message_reader.h"
#include "api/status_json.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/base/result.h"

namespace cdom::api {

// No JSON begins so.
bool is_enveloped(std::string_view text);
// Whether a watch's event is a message. A line of JSON does not begin so.
bool is_event_message(std::string_view text);

using ReadMessage = FunctionRef<void(const MessageReader& object)>;
// Calls `read` for each object of a list of the kind, in its first version.
base::Result<PageHead> read_enveloped_list(const Kind& kind, std::string_view text,
                                           ReadMessage read);
// Calls `read` for an event that has an object of the kind, in its first version.
base::Result<EventHead> read_event_message(const Kind& kind, std::string_view text,
                                           ReadMessage read);
// nullopt: it is not a Status.
std::optional<StatusFields> status_in_envelope(std::string_view text);

}  // namespace cdom::api
