// ApiState: everything the API server knows, under one mutex.
//
// Every request holds `mutex` from its first look at an object to its answer, so each is atomic and
// they happen one after the other, as through etcd. Streams share the state and lock it for each
// piece they give.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/sandbox/api_server.h"
#include "compute_domain/sandbox/faults.h"
#include "sandbox/apiserver/access/access_control.h"
#include "sandbox/apiserver/access/tokens.h"
#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/apiserver/rest/pod_logs.h"
#include "sandbox/apiserver/storage/change_listeners.h"
#include "sandbox/apiserver/storage/storage.h"

namespace cdom::sandbox::server {

struct ApiState {
  ApiState(const base::Clock& clock_in, const ApiServerOptions& options_in);
  ~ApiState();

  const base::Clock& clock;
  const ApiServerOptions options;

  mutable std::mutex mutex;
  std::condition_variable changed;  // notified after each line of a log, for streams that wait
  base::Random random;
  Storage storage;
  Kinds kinds;
  AccessControl access;
  Tokens tokens;
  PodLogs logs;
  Faults faults;  // has a mutex of its own
  ChangeListeners listeners;

  // What follows from an object having been stored or removed. Called after each write to storage.
  void stored(const Kind& kind, const StoredObject& object);
  void removed(const Kind& kind, const StoredObject& object);

 private:
  void finish_definition(const Kind& kind);
};

}  // namespace cdom::sandbox::server
