#!/usr/bin/env python3
"""What the contents of a stolen agent's token can do to other nodes: hostile_reports_test.py [KUBECONFIG].

At least 200 reports and ResourceSlices in the name of one node, made from the CRD's schema: each field at and past its
bounds, also of objects in arrays, with other nodes' names, slots, cliques, channels and addresses. Before, between and
after them the node lists with their addresses (what hosts files are made of), slots, channels, statuses, reports and
slices of all other nodes are compared: there must be no difference, and the node gets into no other node list. On the
embedded sandbox with both isolations, or on a cluster with a controller and the nodes r1n01 to r2n04 among others, such as
compute-domain-sandbox nodes --racks 2 --nodes-per-rack 4 joins to it (tests/rack/laws_test.sh). The last line counts what passed.
"""

import contextlib
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from identities import NODES as AGENTS
from identities import OPERATOR, ROOT, Api, Failed, as_agent_in, api_of

THIEF = "r1n01"
NODES = {f"r{rack}n0{node}" for rack in (1, 2) for node in (1, 2, 3, 4)}
MERGE = "application/merge-patch+json"
REPORTS = "/apis/resource.nvidia.com/v1beta1/computedomainnodes"
DOMAINS = "/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
PODS = "/api/v1/namespaces/default/pods"
AGENT = f"/api/v1/namespaces/{AGENTS}/pods/compute-domain-agent-{THIEF}"
LISTS = f"/api/v1/namespaces/{OPERATOR}/configmaps?labelSelector=resource.nvidia.com/computeDomainGroup"
BATCH = 40
FEWEST = 200
LARGEST = 2**63 - 1
TEXTS = ["", "x", "x" * 1024, "a\nb", "127.0.0.1\n10.0.0.9 compute-domain-daemon-0000-x", "\u0000", "\u2028", "${HOME}",
         "../../etc/passwd", "'; rm -rf /", "{\"a\":1}", " ", "-1", "*", "0-65535", "0-" + "9" * 30, "1,1,1", "7-3"]
TIMES = ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00+14:00",
         "2026-01-01T00:00:00-23:59", "2026-01-01T00:00:00x5+99:99", "2016-12-31T23:59:60Z", "292277026596-12-04T15:30:08Z",
         "2026-13-01T00:00:00Z", "now"]
NUMBERS = [-LARGEST - 1, -2, -1, 0, 1, 17, 18, 1024, 65535, 65536, 2**31, 2**53 + 1, LARGEST]

# (name, numNodes, nodes): the thief is a member of the last one, and of no other.
FORMED = [("train", 2, ["r1n02", "r1n03"]), ("serve", 2, ["r2n01", "r2n02"]), ("mixed", 2, [THIEF, "r1n04"])]


def wait(seconds: float, what: str, is_so) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(0.2)


def items(admin: Api, path: str) -> list:
    return admin.make("GET", path)["items"]


def is_ready(pod: dict) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod.get("status", {}).get("conditions", []))


def form(admin: Api, name: str, count: int, nodes: list) -> None:
    admin.make("POST", DOMAINS, {
        "apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": {"name": name},
        "spec": {"numNodes": count, "channel": {"resourceClaimTemplate": {"name": f"{name}-channel"}}}})
    for node in nodes:
        admin.make("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{node}"}, "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "containers": [{"name": "worker", "image": "busybox", "command": ["sleep", "infinity"],
                            "resources": {"claims": [{"name": "channel"}]}}],
            "resourceClaims": [{"name": "channel", "resourceClaimTemplateName": f"{name}-channel"}]}})
    wait(60, f"{name} is Ready", lambda: admin.make("GET", f"{DOMAINS}/{name}").get("status", {}).get("status") == "Ready")


def seen(admin: Api) -> dict:
    """All that concerns other nodes than the thief's, by where it is."""
    found = {}
    for config in items(admin, LISTS):
        if "nodes" in config["data"]:
            content, name = node_list(config["data"]["nodes"]), f"node list {config['metadata']['name']}"
            found |= seen_in_list(name, content)
            if {THIEF} < {entry["node"] for entry in content["nodes"]}:
                found[f"{name} has {THIEF}"] = True
    for domain in items(admin, DOMAINS):
        name, status = domain["metadata"]["name"], domain.get("status", {})
        for node in status.get("nodes", []):
            if node["name"] != THIEF:
                # A member may complain of its peers, and say that it isolates otherwise than they: whether they are ready,
                # and why not, is theirs and its.
                whose = ("status", "reason", "message") if name == "mixed" else ()
                kept = {key: node[key] for key in node if key not in whose}
                found[f"domain {name}, node {node['name']}"] = kept
        if name != "mixed":
            found[f"domain {name}"] = {key: status.get(key) for key in ("status", "summary", "conditions")}
    for report in items(admin, REPORTS):
        node, status = report["metadata"]["name"], report.get("status", {})
        if node != THIEF:
            found[f"report of {node}"] = {key: status[key] for key in status if key != "groups"} | {
                "slots": {group["group"]: group.get("slot") for group in status.get("groups", [])}}
    for piece in items(admin, SLICES):
        if piece["spec"].get("nodeName") != THIEF:
            found[f"slice {piece['metadata']['name']}"] = {
                key: piece["spec"].get(key) for key in ("nodeName", "devices", "nodeSelector")}
    return found


def numbers_in(ranges: str) -> set:
    """Of "0-2,7"."""
    found = set()
    for piece in filter(None, ranges.split(",")):
        first, _, last = piece.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def node_list(text: str) -> dict:
    """What stands in the head of a node list, by name, and the rows of its tables."""
    head, *tables = text.rstrip("\n").split("\n\n")
    content = dict(line.split(" ", 1) for line in head.splitlines())
    for table in tables:
        names, *rows = table.splitlines()
        title, columns = names.split(": ")
        content[title] = [dict(zip(columns.split(" "), row.split(" "))) for row in rows]
    return content


def seen_in_list(where: str, content: dict) -> dict:
    """A list of the thief alone concerns nobody else."""
    found = {f"{where}, {entry['node']}": entry for entry in content["nodes"] if entry["node"] != THIEF}
    if not found:
        return {}
    own = {int(entry["slot"]) for entry in content["nodes"] if entry["node"] == THIEF}
    channels = [{**channel, "slots": sorted(numbers_in(channel.get("slots", "").strip("-")) - own)}
                for channel in content.get("channels", []) if channel.get("domain", "-") != "-"]
    found[where] = {"channels": channels, **{key: content.get(key) for key in (
        "group", "clique", "slots", "lastChannel", "releases")}}
    return found


def differences(before: dict, after: dict) -> list:
    return [f"{where}: {json.dumps(before.get(where))} -> {json.dumps(after.get(where))}"
            for where in sorted({*before, *after}) if before.get(where) != after.get(where)]


def values_of(schema: dict, others: dict, key: str) -> list:
    """For a field: at its bounds, past them, and what is another's."""
    kind = schema.get("type")
    if schema.get("format") == "date-time":
        return [*TIMES, None, 7]
    if kind == "string":
        most = schema.get("maxLength", 253)
        return [*schema.get("enum", []), *others.get(key, []), *TEXTS, "y" * most, "y" * (most + 1), "z" * 20_000, None, 7]
    if kind == "integer":
        bounds = [schema[name] + step for name in ("minimum", "maximum") if name in schema for step in (-1, 0, 1)]
        return list(dict.fromkeys([*others.get(key, []), *NUMBERS, *bounds])) + ["1", 1.5]
    if kind == "boolean":
        return [True, False, "true"]
    if kind == "array" and schema["items"].get("type") == "object":
        return arrays_of_objects(schema, others)
    if kind == "array":
        one = others.get(key, ["x"])[0]
        most = schema.get("maxItems", 64)
        return [[], [one], [one, one], [f"{one}-{i}" for i in range(most)], [f"{one}-{i}" for i in range(most + 1)],
                others.get(key, []), ["a\nb"], [""], "x"]
    return []


def example_of(schema: dict, others: dict, key: str, number: int = 0):
    """A value that the schema allows, another one for each number."""
    if schema["type"] == "object":
        return {name: example_of(field, others, name, number) for name, field in schema["properties"].items()
                if name in schema.get("required", [])}
    if schema.get("format") == "date-time":
        return "2026-01-01T00:00:00Z"
    if schema["type"] == "integer":
        return max(schema.get("minimum", 0), 0) + number
    if "enum" in schema:
        return schema["enum"][0]
    return others.get(key, ["x"])[0] if number == 0 else f"x{number}"


def arrays_of_objects(schema: dict, others: dict) -> list:
    """None, one, two of the same, as many as are allowed and one more; and one with each field as it may not be."""
    item, most = schema["items"], schema["maxItems"]
    one = example_of(item, others, "")
    arrays = [[], [one], [one, one], [{}], ["x"], "x", *(
        [example_of(item, others, "", number) for number in range(count)] for count in (most, most + 1))]
    for key, field in item["properties"].items():
        arrays += [[{**one, key: value}] for value in values_of(field, others, key)]
        arrays.append([{name: one[name] for name in one if name != key}])
    return arrays


def known(admin: Api) -> tuple:
    """By field, what others have; and their reports."""
    others = {}
    reports = {report["metadata"]["name"]: report["status"] for report in items(admin, REPORTS) if report.get("status")}

    def note(of: dict) -> None:
        for key, value in of.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, dict):
                    note(each)
                elif key not in ("isolation", "state", "status", "hostManaged"):
                    others.setdefault(key, []).append(each)

    for node, status in reports.items():
        if node != THIEF:
            note(status)
    others["uid"] = others["claim"] = others["claims"]
    others["channel"] = [1, 2, 3]
    others["nextClique"] = others["clique"]
    others["unreachable"] = [node for node in reports if node != THIEF]
    others["message"] = ["READY"]
    return {key: list(dict.fromkeys(values)) for key, values in others.items()}, reports


def hostile_statuses(schema: dict, admin: Api) -> list:
    others, reports = known(admin)
    own, neighbour = reports[THIEF], reports["r1n02"]
    of_group = schema["groups"]["items"]["properties"]
    # As whoever it is, by its own word alone; and with none.
    statuses = [*(status for node, status in reports.items() if node != THIEF), {"groups": neighbour.get("groups", [])},
                {**own, "groups": []}, {}]
    for key, field in schema.items():
        if key != "groups":
            statuses += [{**own, key: value} for value in values_of(field, others, key)]
    for key in ("bootID", "clique", "address", "isolation"):
        statuses += [{**neighbour, key: value} for value in values_of(schema[key], others, key)]
    group = {"group": "0" * 16, "state": "Ready", "slot": 0, "term": 1, **(own.get("groups") or [{}])[0]}
    for key, field in of_group.items():
        statuses += [{**own, "groups": [{**group, key: value}]} for value in values_of(field, others, key)]
    for key in ("slot", "term", "channels", "releases", "claims", "claimChannels"):
        theirs = {**group, **(neighbour.get("groups") or [{}])[0]}
        statuses += [{**own, "groups": [{**theirs, key: value}]} for value in values_of(of_group[key], others, key)]
    statuses += [{**own, "isolation": isolation, "clique": clique, "groups": [{"group": group, "state": "Ready", "slot": slot}]}
                 for isolation in ("domain", "channel") for clique in others["clique"] for group in others["group"]
                 for slot in (0, 1, 17)]
    statuses.append({**own, "groups": [{"group": f"{i:016x}", "state": "Ready", "message": "m" * 200} for i in range(5000)]})
    return statuses


def slice_of_clique(admin: Api, clique: str) -> dict:
    """As the thief's agent publishes it, of another clique."""
    own = [piece for piece in items(admin, SLICES) if piece["spec"].get("nodeName") == THIEF][0]
    spec = copy.deepcopy(own["spec"])
    for device in spec["devices"]:
        device["attributes"]["clique"] = {"string": clique}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": own["metadata"]["name"]}, "spec": spec}


def hostile_slices(admin: Api) -> list:
    others, _ = known(admin)
    own = [piece for piece in items(admin, SLICES) if piece["spec"].get("nodeName") == THIEF][0]
    pieces = []

    def add(**spec) -> None:
        piece = copy.deepcopy(own["spec"]) | spec
        pieces.append({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                       "metadata": {"name": own["metadata"]["name"]}, "spec": piece})

    def device(name="channel-0", **attributes) -> dict:
        return {"name": name, "attributes": {key: value for key, value in attributes.items()}}

    for node in others["unreachable"]:
        add(nodeName=node)
        add(pool={"name": node, "generation": LARGEST, "resourceSliceCount": 1})
    for clique in others["clique"] + ["x", "a.b", "z" * 64]:
        for kind in ("channel", "shared-channel", "daemon"):
            add(devices=[device(type={"string": kind}, id={"int": 0}, clique={"string": clique})])
        add(pool={"name": f"clique/{clique}", "generation": 1, "resourceSliceCount": 1})
    for number in NUMBERS:
        add(pool={"name": THIEF, "generation": number, "resourceSliceCount": 1})
        add(devices=[device(type={"string": "channel"}, id={"int": number})])
    for count in (0, 1, 8, 128, 129):
        add(devices=[device(f"channel-{i}", type={"string": "channel"}, id={"int": i}) for i in range(count)])
    add(nodeName=None, allNodes=True)
    return pieces


def odd_slices(admin: Api) -> list:
    """Which selectors of device classes and claims cannot be evaluated for: the scheduler then gives a pod no node at all."""
    own = [piece for piece in items(admin, SLICES) if piece["spec"].get("nodeName") == THIEF][0]
    channel = {"type": {"string": "channel"}, "id": {"int": 0}, "clique": {"string": "a.b"}}
    odd = [{"version": "1.0.0"}, {"bool": True}, {"string": "0"}, {"int": 1}]
    attributes = [{}, *({name: channel[name] for name in channel if name != missing} for missing in ("type", "id")),
                  *(channel | {name: value} for name in channel for value in odd if (name, value) != ("clique", odd[2])),
                  channel | {"more": {"string": "x"}}, channel | {"compute-domain.nvidia.com/type": {"version": "1.0.0"}}]
    devices = [{"name": "channel-0"}, *({"name": "channel-0", "attributes": each} for each in attributes),
               *({"name": "channel-0", "attributes": channel, **field} for field in (
                   {"capacity": {"memory": {"value": "1"}}}, {"taints": [{"key": "x", "effect": "NoExecute"}]},
                   {"allowMultipleAllocations": True}, {"nodeName": "r1n02"}, {"allNodes": True})),
               *({"name": name, "attributes": channel} for name in ("gpu-0", "daemon-0", "channel-"))]
    specs = [{"devices": [{"name": "channel-1", "attributes": channel}, device]} for device in devices]
    specs += [{"sharedCounters": [{"name": "set", "counters": {"memory": {"value": "1"}}}]}, {"perDeviceNodeSelection": True}]
    return [{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
             "metadata": {"name": own["metadata"]["name"]}, "spec": copy.deepcopy(own["spec"]) | spec} for spec in specs]


def leaves_fields_out(admin: Api) -> bool:
    """Whether features of devices are off by default, so that the API server leaves out their fields before a policy sees them."""
    return int(admin.make("GET", "/version")["minor"].rstrip("+")) < 36


def is_odd(piece: dict) -> bool:
    """Of a slice that was taken: whether any of it is left that the policy has to refuse."""
    def is_odd_device(device: dict) -> bool:
        attributes = device.get("attributes", {})
        kinds = [set(value) for name, value in attributes.items() if name == "clique"]
        return (not re.fullmatch(r"channel-[0-9]{1,3}", device["name"]) or device.keys() - {"name", "attributes"} != set()
                or attributes.keys() - {"type", "id", "clique"} != set() or kinds not in ([], [{"string"}])
                or (attributes.get("type"), attributes.get("id")) != ({"string": "channel"}, {"int": 0}))
    spec = piece["spec"]
    return spec.keys() - {"driver", "nodeName", "pool", "devices"} != set() or any(map(is_odd_device, spec.get("devices", [])))


def play(name: str, admin: Api, attempts: list, send, is_refused: bool = False) -> int:
    before, answers, found = seen(admin), {}, []
    for begin in range(0, len(attempts), BATCH):
        for attempt in attempts[begin:begin + BATCH]:
            status, said = send(attempt)
            answers[status] = answers.get(status, 0) + 1
            is_taken = is_refused and status < 300 and not (leaves_fields_out(admin) and not is_odd(said))
            if status >= 500 or is_taken:
                raise Failed(f"{status} {said.get('message')}: {json.dumps(attempt)[:500]}")
        time.sleep(1.2)  # the controller's time: a difference that comes is what is looked for
        found = differences(before, seen(admin))
        if found:
            raise Failed("by one of:\n" + "\n".join(json.dumps(each)[-300:] for each in attempts[begin:begin + BATCH]) +
                         f"\nafter attempt {begin} to {begin + BATCH} of {len(attempts)}:\n" + "\n".join(found[:10]))
    print(f"        {len(attempts)} {name}: " + ", ".join(f"{count} answered {status}" for status, count in sorted(answers.items())))
    if not is_refused and not any(status < 300 for status in answers):
        raise Failed(f"none of the {name} was taken: {answers}")
    return len(attempts)


def attack(kubeconfig: Path) -> None:
    admin = api_of(kubeconfig)
    definition = admin.make("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/computedomainnodes.resource.nvidia.com")
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    wait(60, "agents report", lambda: NODES <= {report["metadata"]["name"] for report in items(admin, REPORTS)})
    for domain in FORMED:
        form(admin, *domain)
    # Its own agent is silent from now on.
    admin.make("PATCH", f"/api/v1/nodes/{THIEF}",
               {"metadata": {"annotations": {"sandbox.compute-domain/fault": "agent-crash"}}}, kind=MERGE)
    stolen = as_agent_in(admin, kubeconfig, AGENT.rpartition("/")[2])
    wait(60, "its agent has ended", lambda: not is_ready(admin.make("GET", AGENT)))

    def report(status: dict) -> tuple:
        # A field that an attempt does not name is not left from the one before, but for the controller's own.
        whole = dict.fromkeys(field for field in schema if field != "stale") | status
        return stolen.request("PATCH", f"{REPORTS}/{THIEF}/status", {"status": whole}, MERGE)

    def publish(piece: dict) -> tuple:
        stolen.request("DELETE", f"{SLICES}/{piece['metadata']['name']}")
        return stolen.request("POST", SLICES, piece)

    own = {field: value for field, value in known(admin)[1][THIEF].items() if field != "stale"}

    # A report and a slice that agree: what one token writes twice is no second witness.
    def join(clique: str) -> tuple:
        publish(slice_of_clique(admin, clique))
        return report({**own, "isolation": "channel", "clique": clique, "groups": []})

    count = play("reports", admin, hostile_statuses(schema, admin), report)
    count += play("reports with a slice that agrees", admin, known(admin)[0]["clique"], join)
    odd = odd_slices(admin)
    count += play("slices", admin, hostile_slices(admin), publish)
    count += play("slices with odd devices", admin, odd, publish, is_refused=True)
    if count < FEWEST:
        raise Failed(f"only {count} reports and slices")
    form(admin, "later", 2, ["r2n03", "r2n04"])
    print(f"        {count} in all, and a domain of other nodes still forms")


@contextlib.contextmanager
def sandbox(isolation: str):
    build = Path(os.environ.get("CDOM_BUILD", ROOT / "build/release"))
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        with open(Path(folder) / "log", "w+") as log:
            process = subprocess.Popen(
                ["timeout", "600", build / "bin/compute-domain-sandbox", "--racks", "2", "--nodes-per-rack", "4",
                 "--isolation", isolation, "--kubeconfig", kubeconfig], stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                if not process.stdout.readline().startswith("ready:"):
                    raise Failed(f"the sandbox did not start: {(Path(folder) / 'log').read_text()[-2000:]}")
                yield kubeconfig
            finally:
                process.terminate()
                process.wait()


def main() -> int:
    passed = failed = 0

    def check(name: str, where) -> None:
        nonlocal passed, failed
        try:
            with where as kubeconfig:
                attack(kubeconfig)
            passed += 1
            print(f"ok      {name}", flush=True)
        except Failed as error:
            failed += 1
            print(f"FAILED  {name}: {error}", flush=True)

    if len(sys.argv) > 1:
        check("what one node says harms no other", contextlib.nullcontext(Path(sys.argv[1])))
    else:
        for isolation in ("domain", "channel"):
            check(f"what one node says harms no other, with isolation by {isolation}", sandbox(isolation))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
