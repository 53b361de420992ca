#include "controller/main/definition_watch.h"

#include <chrono>
#include <utility>

#include "compute_domain/base/pause.h"
#include "compute_domain/controller/definitions.h"

namespace cdom::program {

namespace {

constexpr std::chrono::minutes kLookInterval{5};
// While there is something to tell: this process may come to lead.
constexpr std::chrono::seconds kUntilReported{5};

}  // namespace

DefinitionWatch::DefinitionWatch(const Ports& ports, std::vector<api::Definition> expected,
                                 kube::EventSource source, std::function<bool()> is_leading)
    : thread_([ports, expected = std::move(expected), source = std::move(source),
               is_leading = std::move(is_leading)](const std::stop_token& stop) {
        base::Pulses::Pulse& pulse = ports.pulses.add("definitions");
        controller::DefinitionLook look(ports.client, ports.metrics, expected);
        kube::EventRecorder events(ports.client, ports.clock, source, &ports.metrics);
        base::Duration next_look = ports.clock.elapsed();
        while (!stop.stop_requested()) {
          pulse.beat();
          if (ports.clock.elapsed() >= next_look) {
            look.look();
            next_look = ports.clock.elapsed() + kLookInterval;
          }
          if (is_leading()) look.tell(events);
          while (events.step()) pulse.beat();
          // One that could not be sent is due later.
          const bool waits = look.has_unreported() || events.next_due();
          pulse.rest();
          base::pause(stop, waits ? base::Duration(kUntilReported) : base::Duration(kLookInterval));
        }
        pulse.rest();
      }) {}

}  // namespace cdom::program
