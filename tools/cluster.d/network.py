"""Network: what connects nodes, the control plane and this machine.

The control plane has a network namespace, which lives as long as one process in it. From there a cable (a veth pair)
leads to each node, and one to this machine: whatever goes from node to node is routed there, and can be cut there.
"""

import fcntl
import ipaddress
import json
import os
import time
from pathlib import Path

import go_build
import machine
from failure import Failure
from ip_family import IpFamily
from process import Process
from rack import Place

# For benchmarks of networks (RFC 2544): nobody's. Each cluster takes four addresses.
_LINK_RANGE = ipaddress.ip_network("198.18.0.0/16")

_START_SECONDS = 30
_KILL_SECONDS = 10

# A cut is silent: who is cut off hears nothing, not even that. The gateway's own packets are the API server's, but those
# by which IPv6 finds neighbors: as with IPv4, whose are not seen here, a cut does not keep them from each other.
_RULES = """\
table inet cuts
delete table inet cuts
table inet cuts {{
  set alone {{ type ifname; {alone} }}
  set without_api {{ type ifname; {without_api} }}
  set pairs {{ type ifname . ifname; {pairs} }}
  set slow {{ type ifname; {slow} }}
  chain forward {{
    type filter hook forward priority filter
    iifname @alone drop
    oifname @alone drop
    iifname . oifname @pairs drop
  }}
  chain input {{
    type filter hook input priority filter
    icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} accept
    iifname @alone drop
    iifname @without_api drop
  }}
  chain output {{
    type filter hook output priority filter
    icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} accept
    oifname @alone drop
    oifname @without_api drop
    oifname @slow numgen random mod 3 == 0 drop
  }}
}}
"""


class Network:
    def __init__(self, directory: Path, name: str, family: IpFamily):
        """`name` is the interface's on this machine: 15 characters at most."""
        self._directory = directory
        self._process = Process(directory / "network.pid")
        self._link = name
        self._family = family

    def start(self) -> str:
        """Returns the address at which this machine reaches the control plane. Nodes and pods have those of services."""
        self._process.start(["unshare", "--net", "sleep", "infinity"], log=self._directory / "network.log",
                            cwd=self._directory)
        self._wait_for_the_namespace()
        family = self._family
        self._ip("link set lo up",
                 *(f"address add {address} dev lo {family.address_options}"
                   for address in (family.gateway, family.service_address, family.name_server_address)))
        machine.run(*self.enter(["sh", "-c", f"echo 1 >{family.forwarding}"]))
        with open(go_build.cache_directory() / "links.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            here, there = _free_addresses()
            machine.run("ip", "link", "add", self._link, "type", "veth", "peer", "name", "machine", "netns",
                        self._process.pid())
            machine.run("ip", "address", "add", f"{here}/30", "dev", self._link)
        machine.run("ip", "link", "set", self._link, "up")
        self._ip(f"address add {there}/30 dev machine", "link set machine up")
        return str(there)

    def enter(self, argv: list) -> list:
        """The command line that runs `argv` on the control plane's side."""
        return ["nsenter", f"--net=/proc/{self._process.pid()}/ns/net", *argv]

    def plug_in(self, cables: list) -> None:
        """Pairs of a place and the process whose network namespace is the node's."""
        gateway = self._family.gateway
        self._ip(*(line for place, pid in cables for line in (
            f"link add {place.name} type veth peer name eth0 netns {pid}",
            f"link set {place.name} up",
            # With IPv6 an interface answers for its own addresses only.
            f"address add {gateway} dev {place.name} {self._family.address_options}",
            f"route add {place.address} dev {place.name} src {gateway}",
            f"route add {place.pod_range} via {place.address} dev {place.name} src {gateway} onlink",
            # Of a node without power nobody hears, not even that it cannot be reached.
            f"route replace blackhole {place.address} metric 4096",
            f"route replace blackhole {place.pod_range} metric 4096")))

    def unplug(self, place: Place) -> None:
        """No effect when no cable is there."""
        listed = machine.run(*self.enter(["ip", "-json", "link", "show", "type", "veth"]))
        if any(link["ifname"] == place.name for link in json.loads(listed)):
            self._ip(f"link delete {place.name}")

    def set_rules(self, cuts: list, slow: list) -> None:
        """`cuts`: pairs of a node and what it is cut off from: "" (everything), "api", or another node.

        `slow`: nodes to which one in three of the API server's packets is lost.
        """
        def elements(items: list) -> str:
            return f"elements = {{ {', '.join(items)} }}" if items else ""

        nodes = [(node, other) for node, other in cuts if other not in ("", "api")]
        machine.run(*self.enter(["nft", "-f", "-"]), text=_RULES.format(
            alone=elements([f'"{node}"' for node, other in cuts if other == ""]),
            without_api=elements([f'"{node}"' for node, other in cuts if other == "api"]),
            slow=elements([f'"{node}"' for node in slow]),
            pairs=elements([f'"{a}" . "{b}"' for node, other in nodes for a, b in ((node, other), (other, node))])))

    def break_connections(self, place: Place) -> None:
        """Those of the node and its pods with the control plane: both ends are told."""
        machine.run(*self.enter(["ss", "--kill", "--tcp", "dst", place.address, "or", "dst", place.pod_range]))

    def pid(self):
        return self._process.pid()

    def end(self) -> None:
        if not self._process.kill(_KILL_SECONDS):
            raise Failure(f"the network's process {self._process.pid()} does not end")
        # The kernel takes a namespace apart some time after its last process.
        if Path("/sys/class/net", self._link).exists():
            try:
                machine.run("ip", "link", "delete", self._link)
            except Failure:
                if Path("/sys/class/net", self._link).exists():
                    raise

    def _ip(self, *lines: str) -> None:
        machine.run(*self.enter(["ip", "-batch", "-"]), text="\n".join(lines) + "\n")

    def _wait_for_the_namespace(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            pid = self._process.pid()
            if pid is not None and not os.path.samestat(os.stat(f"/proc/{pid}/ns/net"), os.stat("/proc/self/ns/net")):
                return
            if pid is None or time.monotonic() > deadline:
                raise Failure("no network namespace can be made: " +
                              (self._directory / "network.log").read_text().strip())
            time.sleep(0.01)


def _free_addresses() -> tuple:
    """The first two of a range of four that no interface is in."""
    interfaces = json.loads(machine.run("ip", "-json", "-4", "address"))
    taken = [ipaddress.ip_network(f"{address['local']}/{address['prefixlen']}", strict=False)
             for interface in interfaces for address in interface["addr_info"]]
    for candidate in _LINK_RANGE.subnets(new_prefix=30):
        if not any(candidate.overlaps(range_) for range_ in taken):
            here, there = candidate.hosts()
            return here, there
    raise Failure(f"no addresses are free in {_LINK_RANGE}")
