"""Place: what a node is called and where it stands; as compute-domain-sandbox has it."""

from dataclasses import dataclass

from failure import Failure
from ip_family import IpFamily

_MOST_RACKS = 100
_MOST_NODES_PER_RACK = 250
_NVLINK_CLUSTER = "6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10"
_GPUS = 4


@dataclass(frozen=True)
class Place:
    name: str
    rack: int
    slot: int
    family: IpFamily

    @property
    def address(self) -> str:
        return self.family.node_address(self.rack, self.slot)

    @property
    def pod_range(self) -> str:
        return self.family.pod_range(self.rack, self.slot)

    @property
    def labels(self) -> dict:
        return {
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.clique": f"{_NVLINK_CLUSTER}.{self.rack}",
            "sandbox.compute-domain/rack": f"r{self.rack}",
        }

    @property
    def gpus(self) -> dict:
        """The node's GPUs, as the stand-in for NVML (tests/nvidia/stand_in) reads them."""
        return {
            "driver": "580.65.06",
            "gpus": [{
                "uuid": f"GPU-{self.name}-{index}",
                "state": 3,  # completed
                "health": 1,  # healthy
                "cluster": _NVLINK_CLUSTER.replace("-", ""),
                "clique": self.rack,
            } for index in range(_GPUS)],
        }


def places(nodes: int, racks: int, family: IpFamily) -> list:
    """So many nodes, spread over so many racks."""
    if nodes < 0 or racks < 1 or racks > min(_MOST_RACKS, max(nodes, 1)):
        raise Failure(f"--racks {racks} --nodes {nodes}: 1 to {_MOST_RACKS} racks, and a node in each")
    if nodes > racks * _MOST_NODES_PER_RACK:
        raise Failure(f"--nodes {nodes}: {_MOST_NODES_PER_RACK} in a rack at most")
    result = []
    for rack in range(1, racks + 1):
        prefix = f"r{rack}" if racks > 1 else ""
        in_rack = nodes * rack // racks - nodes * (rack - 1) // racks
        result += [Place(f"{prefix}n{slot:02}", rack, slot, family) for slot in range(1, in_rack + 1)]
    return result
