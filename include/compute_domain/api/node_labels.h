// The labels of Nodes that this project reads. A Node has dozens of others, which are not decoded.
#pragma once

#include <string_view>

namespace cdom::api {

// By which GPU feature discovery and node feature discovery say that a Node has GPUs: their own
// finding, a PCI device ("feature.node.kubernetes.io/pci-0302_10de.present"), the CPU's vendor.
inline constexpr char kGpuPresentLabel[] = "nvidia.com/gpu.present";
inline constexpr char kPciLabelPrefix[] = "feature.node.kubernetes.io/pci-";
inline constexpr char kCpuVendorLabel[] = "feature.node.kubernetes.io/cpu-model.vendor_id";

// Whether a decoded Node has a label of this name, if it has one.
bool is_read_of_nodes(std::string_view label);

}  // namespace cdom::api
