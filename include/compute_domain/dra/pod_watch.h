// PodWatch: kubelet's PodsAPI (beta and on from Kubernetes 1.37), watched for as long as it lives.
//
// How it goes: a thread of its own connects to kubelet's socket and passes each event to the
// listener. When the watch ends (kubelet starts again, or cuts off a client that is a hundred
// events behind) the thread starts another. Where there is no such socket the listener hears
// of that alone, and the thread looks for the socket every ten seconds.
//
// Kubelet drops an event where a thousand wait for its clients. So a watch can be renewed: another
// one begins beside it, and takes its place once it has named all. The listener hears of its pods,
// among them those that have ended, and not of its begin: a pod that it does not name is not gone,
// as kubelet names none that was deleted by force, though it still runs it. Of the watch before it
// hears on for a second what has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

namespace cdom::dra {

struct NodePod {
  std::string ns, name, uid;
  // ResourceClaims that its spec names, while a container of it runs: a pod has a claim only then.
  // Kubelet's API has no name for those made from templates.
  std::set<std::string> claims;
  std::int64_t grace_seconds = 0;  // spec.terminationGracePeriodSeconds
  // In a final phase or being deleted, with containers of which none runs.
  bool has_ended = false;
  // In a final phase, and nothing is said of its containers: as of one that a kubelet which has
  // started again rejects. It kills them, and never says that they have ended.
  bool is_rejected = false;

  friend bool operator==(const NodePod&, const NodePod&) = default;
};

// Called by one thread, in the order of what kubelet says.
class PodListener {
 public:
  virtual ~PodListener() = default;
  virtual void on_begin() = 0;
  virtual void on_pod(const NodePod& pod) = 0;
  // Kubelet has ended it, and has removed what it had.
  virtual void on_gone(const std::string& uid) = 0;
  // Every pod that kubelet knew at the begin has been named.
  virtual void on_complete() = 0;
  // Kubelet tells nothing any more; another watch may begin.
  virtual void on_end() = 0;
  // This kubelet has no such API, nor would one that is just starting: the folder of the socket is
  // not there, or the socket is missing at two looks in a row, or nobody knows the call. Again and
  // again, while that lasts.
  virtual void on_none() = 0;
};

class PodWatch {
 public:
  // The listener outlives it.
  PodWatch(std::string socket, PodListener& listener);
  ~PodWatch();
  PodWatch(const PodWatch&) = delete;
  PodWatch& operator=(const PodWatch&) = delete;

  // As above; nothing where kubelet is not watched. Thread-safe.
  void renew();

 private:
  class Loop;
  const std::unique_ptr<Loop> loop_;
};

}  // namespace cdom::dra
