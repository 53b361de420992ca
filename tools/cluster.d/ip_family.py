"""IpFamily: the addresses of a cluster with nodes, all of one family."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class IpFamily:
    gateway: str  # the control plane's address, to nodes
    service_range: str
    service_address: str  # of the API server, to pods
    # Nobody listens there, which is told at once; without such an address the kubelet warns of every pod.
    name_server_address: str
    everywhere: str
    forwarding: Path  # what makes a router of a network namespace
    # IPv6 would first wait for a second whether somebody else has the address.
    address_options: str
    _node: str
    _pods: str

    def node_address(self, rack: int, slot: int) -> str:
        return self._node.format(rack=rack, slot=slot)

    def pod_range(self, rack: int, slot: int) -> str:
        return self._pods.format(rack=100 + rack, slot=slot)

    def url(self, scheme: str, address: str, port: int) -> str:
        return f"{scheme}://[{address}]:{port}" if ":" in address else f"{scheme}://{address}:{port}"


FAMILIES = {
    "ipv4": IpFamily(
        gateway="10.88.0.1", service_range="10.96.0.0/16", service_address="10.96.0.1",
        name_server_address="10.96.0.10", everywhere="0.0.0.0/0", forwarding=Path("/proc/sys/net/ipv4/ip_forward"),
        address_options="", _node="10.88.{rack}.{slot}", _pods="10.{rack}.{slot}.0/24"),
    # The same numbers, though as hexadecimal digits.
    "ipv6": IpFamily(
        gateway="fd00:10:88::1", service_range="fd00:10:96::/112", service_address="fd00:10:96::1",
        name_server_address="fd00:10:96::10", everywhere="::/0",
        forwarding=Path("/proc/sys/net/ipv6/conf/all/forwarding"), address_options="nodad",
        _node="fd00:10:88:{rack}::{slot}", _pods="fd00:10:{rack}:{slot}::/64"),
}
DEFAULT_FAMILY = "ipv4"
