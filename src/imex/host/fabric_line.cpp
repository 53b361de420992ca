#include "imex/host/fabric_line.h"

#include <cstdint>
#include <limits>

#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace {

using base::cat;
using nvidia::FabricFacts;
using nvidia::GpuFacts;

// More than any node has; what a library may say is bounded.
constexpr std::size_t kMostGpus = 256;

template <class Number>
Number number_in(const Line& line, std::string_view key) {
  const std::int64_t number = line.number(key);
  const bool fits =
      number >= std::numeric_limits<Number>::min() && number <= std::numeric_limits<Number>::max();
  return fits ? static_cast<Number>(number) : Number{};
}

std::string text_of(const GpuFacts& gpu) {
  Line line{"gpu", {}};
  line.with("uuid", gpu.uuid)
      .with("name", gpu.name)
      .with("error", gpu.error)
      .with_number("state", static_cast<int>(gpu.state))
      .with_number("status", gpu.status)
      .with("status_text", gpu.status_text)
      .with("cluster", gpu.cluster_uuid)
      .with_number("clique", gpu.clique_id)
      .with_number("health", static_cast<int>(gpu.health))
      .with_number("mask", gpu.health_mask);
  if (gpu.is_persistent) line.with("persistent", *gpu.is_persistent ? "on" : "off");
  return std::string(base::trim(encode_line(line)));
}

GpuFacts gpu_in(const std::string& text) {
  const Line line = decode_line(text);
  GpuFacts gpu;
  gpu.uuid = line.text("uuid");
  gpu.name = line.text("name");
  gpu.error = line.text("error");
  gpu.state = static_cast<nvidia::FabricState>(number_in<std::uint8_t>(line, "state"));
  gpu.status = number_in<int>(line, "status");
  gpu.status_text = line.text("status_text");
  gpu.cluster_uuid = line.text("cluster");
  gpu.clique_id = number_in<std::uint32_t>(line, "clique");
  gpu.health = static_cast<nvidia::FabricHealth>(number_in<std::uint8_t>(line, "health"));
  gpu.health_mask = number_in<std::uint32_t>(line, "mask");
  const std::string persistent = line.text("persistent");
  if (persistent == "on" || persistent == "off") gpu.is_persistent = persistent == "on";
  return gpu;
}

}  // namespace

Line line_of(const FabricFacts& facts) {
  Line line{kFabricVerb, {}};
  line.with("source", facts.source).with("driver", facts.driver_version).with("error", facts.error);
  for (std::size_t i = 0; i < facts.gpus.size() && i < kMostGpus; ++i) {
    line.with(cat("gpu", i), text_of(facts.gpus[i]));
  }
  return line;
}

FabricFacts fabric_of(const Line& line) {
  FabricFacts facts;
  facts.source = line.text("source");
  facts.driver_version = line.text("driver");
  facts.error = line.text("error");
  for (std::size_t i = 0; i < kMostGpus && line.has(cat("gpu", i)); ++i) {
    facts.gpus.push_back(gpu_in(line.text(cat("gpu", i))));
  }
  return facts;
}

}  // namespace cdom::imex
