#!/usr/bin/env python3
"""What a stolen token of the operator's ServiceAccounts can do, on a real API server: it is asked for every verb on
every kind that it serves, and what it grants is tried.

Prints what is allowed, and counts what passed. Needs what tools/cluster needs. Not part of ctest.
"""

import itertools
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True

from identities import NODES, OPERATOR, Api, Cluster, Failed

DRIVER = "compute-domain.nvidia.com"
CONNECTIONS = 3

VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]
# What discovery does not show: verbs of their own, and parts of the kubelet.
SPECIAL = [
    *((verb, "rbac.authorization.k8s.io", kind) for verb in ("bind", "escalate") for kind in ("roles", "clusterroles")),
    *(("impersonate", "", kind) for kind in ("users", "groups", "serviceaccounts")),
    *((verb, "certificates.k8s.io", "signers") for verb in ("approve", "sign", "attest")),
    *(("get", "", f"nodes/{part}") for part in ("configz", "healthz", "log", "metrics", "pods", "proxy", "stats")),
    ("*", "*", "*"),
]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "permissions.md"
# The page has all that each may do, but for what every ServiceAccount may: in every namespace, or in one of the operator's alone.
# All that they may change, by hand, so that a role that gives more has to be looked at here, too. Nobody reads Secrets.
CHANGES = {
    "compute-domain-agent": """
        everywhere                computedomainnodes.resource.nvidia.com         create
        everywhere                computedomainnodes/status.resource.nvidia.com  patch
        everywhere                resourceslices.resource.k8s.io                 create patch delete
        """,
    "compute-domain-controller": """
        everywhere                computedomainnodes.resource.nvidia.com         patch delete
        everywhere                computedomainnodes/status.resource.nvidia.com  patch
        everywhere                computedomains.resource.nvidia.com             create patch delete
        everywhere                computedomains/status.resource.nvidia.com      patch
        everywhere                events                                         create patch
        everywhere                nodes                                          patch
        everywhere                resourceclaimtemplates.resource.k8s.io         create delete
        everywhere                subjectaccessreviews.authorization.k8s.io      create
        compute-domain-operator   configmaps                                     create patch delete
        compute-domain-operator   leases.coordination.k8s.io                     create update
        """,
    "compute-domain-imex": "",
}

# What an agent's token can do to objects of its own node, and to those of others, by real requests.
READ = ["get", "list", "watch"]
DONE = {
    "ComputeDomainNode of n1": ["create", *READ],
    "ComputeDomainNode of n1, status": ["patch"],
    "ComputeDomainNode of n2": READ,
    "ResourceSlice of n1": ["create", "delete", "list", "patch", "watch"],
    "ResourceSlice of n1, another driver's": ["list", "watch"],
    "ResourceSlice of n2": ["list", "watch"],
    "ResourceSlice of all nodes": ["list", "watch"],
    "ComputeDomain": ["list"],
    "ResourceClaim": ["get"],
    "Node n1": ["get"],
    "Node n2": ["get"],
    "ConfigMap of the operator": READ,
}


def is_allowed(who: Api, verb: str, group: str, resource: str, namespace: str) -> bool:
    name, _, sub = resource.partition("/")
    answer = who.make("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": verb, "group": group, "resource": name, "subresource": sub,
                                        "namespace": namespace}}})
    return answer["status"]["allowed"]


def granted(who: Api, resources: list) -> list:
    """All that the API server says that it may: (where, kind, verb)."""
    questions = [(verb, group, name, namespace) for group, name, in_namespace in resources for verb in VERBS
                 for namespace in (["default", NODES, OPERATOR] if in_namespace else [""])]
    questions += [(*special, "") for special in SPECIAL]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        answers = list(pool.map(lambda question: is_allowed(who, *question), questions))
    rights = {}
    for (verb, group, name, namespace), yes in zip(questions, answers):
        if yes:
            rights.setdefault((f"{name}.{group}".rstrip("."), verb), set()).add(namespace)
    # What is allowed in another namespace is allowed in the operator's two.
    return sorted((where, kind, verb) for (kind, verb), found in rights.items()
                  for where in (found if found <= {NODES, OPERATOR} else ["everywhere"]))


def expected(account: str) -> list:
    _, _, chapter = PAGE.read_text().partition(f"\n## {account}\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in chapter.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    # What is allowed for objects of some names only is not what the API server is asked, nor is a path, which is not a kind.
    return sorted((where, kind, verb) for where, kind, verbs, names in rows[1:]
                  if not names and not kind.startswith("/") for verb in verbs.split())


def print_rights(account: str, rights: list) -> None:
    print(f"\n{account}:")
    for (where, kind), group in itertools.groupby(rights, lambda right: right[:2]):
        verbs = sorted((verb for _, _, verb in group), key=lambda verb: (verb not in VERBS, (VERBS + [verb]).index(verb)))
        print(f"  {where:<25} {kind:<46} {' '.join(verbs)}")
    if not rights:
        print("  nothing")


class Target:
    """An object that somebody with the token goes for."""

    def __init__(self, collection: str, body: dict, sub: str = "", change=None):
        self.collection = collection
        self.body = body
        self.path = f"{collection}/{body['metadata']['name']}"
        self.sub = f"/{sub}" if sub else ""
        self.change = change or {"metadata": {"annotations": {"stolen": "token"}}}

    def set_up(self, admin: Api, present: bool) -> None:
        if present:
            status, said = admin.request("POST", self.collection, self.body)
            if status not in (201, 409):
                raise Failed(f"POST {self.collection}: {status} {said.get('message')}")
        else:
            admin.request("DELETE", f"{self.path}?gracePeriodSeconds=0")

    def attempt(self, verb: str, who: Api, admin: Api) -> tuple:
        """The API server's answer."""
        self.set_up(admin, present=verb != "create" or bool(self.sub))
        if verb == "list":
            return who.request("GET", self.collection)
        if verb == "watch":
            return who.request("GET", f"{self.collection}?watch=true&timeoutSeconds=1")
        if verb == "deletecollection":
            return who.request("DELETE", self.collection + self.sub)
        if verb == "create":
            return who.request("POST", self.path + self.sub if self.sub else self.collection, self.body)
        if verb == "patch":
            return who.request("PATCH", self.path + self.sub, self.change, "application/merge-patch+json")
        if verb == "update":
            now = admin.make("GET", self.path)
            return who.request("PUT", self.path + self.sub, now | {"metadata": now["metadata"] | self.change.get("metadata", {})})
        return who.request({"get": "GET", "delete": "DELETE"}[verb], self.path + self.sub)


def report(node: str) -> dict:
    return {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomainNode", "metadata": {"name": node}}


def slice_of(name: str, where: dict, driver=DRIVER, devices=(), pool=None) -> dict:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": driver, "devices": list(devices),
                     "pool": {"name": pool or where.get("nodeName", name), "generation": 1, "resourceSliceCount": 1}} | where}


def core(kind: str, name: str, **more) -> dict:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}} | more


def pod(name: str, node: str, account="default") -> dict:
    return core("Pod", name, spec={"serviceAccountName": account, "nodeName": node,
                                   "containers": [{"name": "main", "image": "none"}]})


REPORTS = "/apis/resource.nvidia.com/v1beta1/computedomainnodes"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
DOMAINS = "/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains"
CLIQUES = "/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomaincliques"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
DEFAULT = "/api/v1/namespaces/default"
OWN = f"/api/v1/namespaces/{OPERATOR}"
ON_NODES = f"/api/v1/namespaces/{NODES}"


def targets() -> dict:
    boot = {"status": {"bootID": "stolen"}}
    domain = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": {"name": "train"},
              "spec": {"channel": {"resourceClaimTemplate": {"name": "train-channel"}}}}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "claim"},
             "spec": {"devices": {"requests": [{"name": "channel", "exactly": {"deviceClassName": "x"}}]}}}
    account = core("ServiceAccount", "compute-domain-controller")
    return {
        "ComputeDomainNode of n1": Target(REPORTS, report("n1")),
        "ComputeDomainNode of n1, status": Target(REPORTS, report("n1"), "status", boot),
        "ComputeDomainNode of n2": Target(REPORTS, report("n2")),
        "ComputeDomainNode of n2, status": Target(REPORTS, report("n2"), "status", boot),
        "ResourceSlice of n1": Target(SLICES, slice_of(f"n1-{DRIVER}", {"nodeName": "n1"})),
        "ResourceSlice of n1, another driver's": Target(SLICES, slice_of("gpus", {"nodeName": "n1"}, "gpu.nvidia.com")),
        "ResourceSlice of n2": Target(SLICES, slice_of("other", {"nodeName": "n2"})),
        "ResourceSlice of all nodes": Target(SLICES, slice_of("all", {"allNodes": True})),
        "ComputeDomain": Target(DOMAINS, domain),
        "ComputeDomain, status": Target(DOMAINS, domain, "status", {"status": {"status": "NotReady"}}),
        "ResourceClaim": Target(CLAIMS, claim),
        "ResourceClaim, status": Target(CLAIMS, claim, "status", {"status": {"reservedFor": []}}),
        "ResourceClaim, binding": Target(CLAIMS, claim, "binding"),
        "Node n1": Target("/api/v1/nodes", core("Node", "n1")),
        "Node n1, status": Target("/api/v1/nodes", core("Node", "n1"), "status"),
        "Node n2": Target("/api/v1/nodes", core("Node", "n2")),
        "Pod of n1": Target(f"{DEFAULT}/pods", pod("worker", "n1")),
        "Pod of n1, status": Target(f"{DEFAULT}/pods", pod("worker", "n1"), "status"),
        "Pod of n1, ephemeralcontainers": Target(f"{DEFAULT}/pods", pod("worker", "n1"), "ephemeralcontainers"),
        "Pod of n1, exec": Target(f"{DEFAULT}/pods", pod("worker", "n1"), "exec"),
        "ConfigMap of the operator": Target(f"{OWN}/configmaps", core("ConfigMap", "list")),
        "ConfigMap of the agents": Target(f"{ON_NODES}/configmaps", core("ConfigMap", "list")),
        "ConfigMap elsewhere": Target(f"{DEFAULT}/configmaps", core("ConfigMap", "list")),
        "Secret of the operator": Target(f"{OWN}/secrets", core("Secret", "secret")),
        "Secret of the agents": Target(f"{ON_NODES}/secrets", core("Secret", "secret")),
        "Secret elsewhere": Target(f"{DEFAULT}/secrets", core("Secret", "secret")),
        "Event": Target(f"{DEFAULT}/events", core("Event", "event", involvedObject={"namespace": "default"})),
        "ServiceAccount of the controller, token": Target(f"{OWN}/serviceaccounts", account, "token"),
    }


def rights_are(cluster: Cluster, account: str, of_all: list, resources: list) -> None:
    rights = sorted(set(granted(cluster.with_token_of(account), resources)) - set(of_all))
    print_rights(account, rights)
    more, less = set(rights) - set(expected(account)), set(expected(account)) - set(rights)
    if more or less:
        raise Failed(f"more than expected: {sorted(more)}; less: {sorted(less)}")
    lines = (line.split() for line in CHANGES[account].strip().splitlines())
    may_change = {(where, kind, verb) for where, kind, *verbs in lines for verb in verbs}
    changes = {right for right in rights if right[2] not in READ}
    if changes != may_change:
        raise Failed(f"changes more: {sorted(changes - may_change)}; less: {sorted(may_change - changes)}")
    if secret := [right for right in rights if right[1] in ("secrets", "*")]:
        raise Failed(f"reads Secrets: {secret}")


def every_account_may_ask_only_who_it_is(of_all: list) -> None:
    for _, kind, verb in of_all:
        # From Kubernetes 1.37 on every ServiceAccount reads the certificates that signers publish to be trusted.
        reads_trust = kind == "clustertrustbundles.certificates.k8s.io" and verb in ("get", "list", "watch")
        if not reads_trust and (verb != "create" or not kind.startswith("selfsubject")):
            raise Failed(f"every ServiceAccount may {verb} {kind}")


def requests_do_what_they_may(cluster: Cluster, who: Api) -> None:
    print("\ncompute-domain-agent on n1, by requests:")
    wrong = []
    for name, target in targets().items():
        done = []
        for verb in VERBS:
            if verb in ("list", "watch", "deletecollection") and target.sub:
                continue
            status, said = target.attempt(verb, who, cluster.admin)
            if status < 300:
                done.append(verb)
            elif status not in (403, 405):
                wrong.append(f"{verb} {name}: {status} {said.get('message')}")
        print(f"  {name:<42} {' '.join(done) or '-'}")
        if sorted(done) != sorted(DONE.get(name, [])):
            wrong.append(f"{name}: {done}, not {DONE.get(name, [])}")
    if wrong:
        raise Failed("\n".join(wrong))


def tricks_are_refused(cluster: Cluster, who: Api) -> None:
    """What goes around a name that is looked at."""
    for name, target in targets().items():
        if name.startswith("ResourceSlice"):
            target.set_up(cluster.admin, present=True)
    apply, merge = "application/apply-patch+yaml", "application/merge-patch+json"
    manager = "?fieldManager=stolen&force=true"
    device = {"name": "channel-0", "nodeName": "n2"}
    channel = {"type": {"string": "channel"}, "id": {"int": 0}}

    def with_device(**fields) -> tuple:
        return ("PATCH", f"{SLICES}/n1-{DRIVER}",
                {"spec": {"devices": [{"name": "channel-0", "attributes": channel, **fields}]}}, merge)

    counters = [{"name": "set", "counters": {"memory": {"value": "1"}}}]
    unnamed = report("n1")
    unnamed["metadata"] = {"generateName": "n1"}
    attempts = {
        "a slice of n2 that is said to be of n1": ("PATCH", f"{SLICES}/other", {"spec": {"nodeName": "n1"}}, merge),
        "a slice of all nodes that is said to be of n1":
            ("PATCH", f"{SLICES}/all", {"spec": {"nodeName": "n1", "allNodes": None}}, merge),
        "a slice of another driver that is said to be ours":
            ("PATCH", f"{SLICES}/gpus", {"spec": {"driver": DRIVER}}, merge),
        "an own slice that is given to n2": ("PATCH", f"{SLICES}/n1-{DRIVER}", {"spec": {"nodeName": "n2"}}, merge),
        "an own slice that is given to another driver":
            ("PATCH", f"{SLICES}/n1-{DRIVER}", {"spec": {"driver": "gpu.nvidia.com"}}, merge),
        "a second slice of n1": ("POST", SLICES, slice_of("new", {"nodeName": "n1"})),
        "a slice with devices in the pool of n2": ("POST", SLICES, slice_of("new", {"nodeName": "n1"}, pool="n2")),
        "an own slice that is put into the pool of n2":
            ("PATCH", f"{SLICES}/n1-{DRIVER}", {"spec": {"pool": {"name": "n2"}}}, merge),
        "a new slice of n2 by apply": ("PATCH", f"{SLICES}/new{manager}", slice_of("new", {"nodeName": "n2"}), apply),
        "a slice of n2 by apply": ("PATCH", f"{SLICES}/other{manager}", slice_of("other", {"nodeName": "n2"}), apply),
        "a slice of a node selector": ("POST", SLICES, slice_of("new", {"nodeSelector": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]}})),
        "a slice whose devices name their nodes":
            ("POST", SLICES, slice_of("new", {"perDeviceNodeSelection": True}, devices=[device])),
        "a device without attributes": with_device(attributes=None),
        "a device without a type": with_device(attributes={"id": {"int": 0}}),
        "a device without an id": with_device(attributes={"type": {"string": "channel"}}),
        "a device whose type is a version": with_device(attributes=channel | {"type": {"version": "1.0.0"}}),
        "a device whose type is a bool": with_device(attributes=channel | {"type": {"bool": True}}),
        "a device whose id is a string": with_device(attributes=channel | {"id": {"string": "0"}}),
        "a device whose clique is a version": with_device(attributes=channel | {"clique": {"version": "1.0.0"}}),
        "a device of another type": with_device(attributes=channel | {"type": {"string": "shared-channel"}}),
        "a device with another attribute": with_device(attributes=channel | {"more": {"int": 0}}),
        "a device with a qualified attribute": with_device(attributes=channel | {f"{DRIVER}/clique": {"string": "u.1"}}),
        "a device with a capacity": with_device(capacity={"memory": {"value": "1"}}),
        "a device with a taint": with_device(taints=[{"key": "stolen", "effect": "NoExecute"}]),
        "a device for several claims": with_device(allowMultipleAllocations=True),
        "a device with another name": with_device(name="gpu-0"),
        "counters that devices share":
            ("PATCH", f"{SLICES}/n1-{DRIVER}", {"spec": {"devices": None, "sharedCounters": counters}}, merge),
        "a report with a made name": ("POST", REPORTS, unnamed),
        "a report by apply": ("PATCH", f"{REPORTS}/n1{manager}", report("n1"), apply),
        "a report's status by apply":
            ("PATCH", f"{REPORTS}/n2/status{manager}", report("n2") | {"status": {"bootID": "b"}}, apply),
        "a fence": ("POST", REPORTS, {**report("n1"), "metadata": {
            "name": "n1", "annotations": {"resource.nvidia.com/fenced": "b"}}}),
    }
    cluster.admin.request("DELETE", f"{REPORTS}/n1")
    wrong = []
    print("\nand refused to it:")
    for what, (method, path, body, *kind) in attempts.items():
        status, said = who.request(method, path, body, *kind)
        print(f"  {what:<50} {status} {said.get('message', '')[:110]}")
        if status != 403 and not (status == 422 and "field is immutable" in said["message"]):
            wrong.append(what)
        # An expression that cannot be evaluated refuses everything.
        if "resulted in error" in said["message"]:
            wrong.append(f"{what}: {said['message']}")
    status, _ = who.request("GET", f"{DEFAULT}/secrets", headers={"Impersonate-User": "system:admin"})
    if status != 403:
        wrong.append(f"impersonation: {status}")
    if wrong:
        raise Failed(f"not forbidden: {wrong}")
    # So that it is the trick that is refused; as many devices as a slice may have.
    for attributes, count in ((channel, 1), (channel | {"clique": {"string": "u.1"}}, 128)):
        devices = [{"name": f"channel-{i}", "attributes": attributes} for i in range(count)]
        who.make("PATCH", f"{SLICES}/n1-{DRIVER}", {"spec": {"devices": devices}}, kind=merge)


def an_unbound_token_writes_nothing(cluster: Cluster) -> None:
    who = cluster.with_token_of("compute-domain-agent")
    for name, target in targets().items():
        for verb in ("create", "patch", "delete", "update", "deletecollection"):
            status, said = target.attempt(verb, who, cluster.admin)
            if status not in (403, 405):
                raise Failed(f"{verb} {name}: {status} {said.get('message')}")


def a_token_ends_with_its_pod(cluster: Cluster, who: Api) -> None:
    cluster.admin.make("DELETE", f"{ON_NODES}/pods/agent-n1?gracePeriodSeconds=0")
    eventually(30, lambda: who.request("GET", REPORTS)[0] == 401)


def the_controller_changes_its_labels_of_a_node(cluster: Cluster) -> None:
    who = cluster.with_token_of("compute-domain-controller")
    kind = "application/merge-patch+json"

    def label(name: str, value) -> tuple:
        return who.request("PATCH", "/api/v1/nodes/n2", {"metadata": {"labels": {name: value}}}, kind)

    for value in ("detected", None):
        status, said = label("resource.nvidia.com/compute-domain-agent", value)
        if status != 200:
            raise Failed(f"resource.nvidia.com/compute-domain-agent {value}: {status} {said.get('message')}")
    for name, value in (("resource.nvidia.com/compute-domain-agent", "true"), ("nvidia.com/gpu.clique", "u.1")):
        if label(name, value)[0] != 403:
            raise Failed(f"it may label a Node with {name}={value}")
    cluster.apply("gpu-clique-label")
    eventually(30, lambda: label("nvidia.com/gpu.clique", "u.1")[0] == 200)
    attempts = [
        (403, {"spec": {"unschedulable": True}}),
        (403, {"spec": {"taints": [{"key": "stolen", "effect": "NoExecute"}]}}),
        (403, {"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}),
        (403, {"metadata": {"labels": {"nvidia.com/gpu.clique": "u.1", "kept": None}}}),
        (403, {"metadata": {"labels": {"kept": "no"}}}),
        (403, {"metadata": {"annotations": {"stolen": "yes"}}}),
        (403, {"metadata": {"finalizers": ["stolen/token"]}}),
        (403, {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]}}),
        (200, {"metadata": {"labels": {"nvidia.com/gpu.clique": "u.1"},
                            "annotations": {"resource.nvidia.com/gpu.clique": "u.1"}}}),
        (200, {"metadata": {"labels": {"nvidia.com/gpu.clique": None},
                            "annotations": {"resource.nvidia.com/gpu.clique": None}}}),
    ]
    cluster.admin.make("PATCH", "/api/v1/nodes/n2", {"metadata": {"labels": {"kept": "yes"}}}, kind=kind)
    for wanted, change in attempts:
        status, said = who.request("PATCH", "/api/v1/nodes/n2", change, kind)
        if status != wanted:
            raise Failed(f"{change}: {status} {said.get('message')}")
    if who.request("PATCH", "/api/v1/nodes/n2/status", {"status": {}}, kind)[0] != 403:
        raise Failed("it may write the status of a Node")


def a_report_is_its_nodes_and_its_credibility_the_controllers(cluster: Cluster, agent: Api) -> None:
    controller = cluster.with_token_of("compute-domain-controller")
    path, kind = f"{REPORTS}/n1/status", "application/merge-patch+json"
    stale = {"state": "Unknown", "reason": "NodeUnknown", "message": "silent", "since": "2026-11-25T00:00:00Z"}
    summary = {"state": "Ready", "message": "all is well", "domains": "team-a/train"}
    cluster.admin.request("DELETE", f"{REPORTS}/n1")
    agent.make("POST", REPORTS, report("n1"))

    def attempt(who: Api, wanted: int, status: dict) -> None:
        code, said = who.request("PATCH", path, {"status": status}, kind)
        if code != wanted:
            raise Failed(f"{status}: {code} {said.get('message')}")

    def shown() -> list:
        table = cluster.admin.request("GET", f"{REPORTS}/n1", headers={
            "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})[1]
        cells = dict(zip((column["name"] for column in table["columnDefinitions"]), table["rows"][0]["cells"]))
        return [cells[name] for name in ("State", "Domains", "Message")]

    attempt(agent, 200, {"bootID": "b", "summary": summary})
    for change in ({"bootID": "c"}, {"address": "10.0.0.1"}, {"summary": None, "stale": stale}):
        attempt(controller, 403, change)
    if shown() != ["Ready", "team-a/train", "all is well"]:
        raise Failed(f"kubectl get shows {shown()}")
    attempt(controller, 200, {"stale": stale})
    for change in ({"stale": None}, {"stale": stale | {"reason": "Other"}}):
        attempt(agent, 403, change)
    attempt(agent, 200, {"bootID": "c"})
    if shown() != ["Unknown", "team-a/train", "silent"]:
        raise Failed(f"kubectl get shows {shown()} of a stale report")
    attempt(controller, 200, {"stale": None})


def users_have_what_their_role_says(cluster: Cluster) -> None:
    """Kubernetes' own roles, bound in a namespace, with what manifests/base/user-roles.yaml adds to them."""
    def user_with(role: str) -> Api:
        cluster.admin.make("POST", f"{DEFAULT}/serviceaccounts", core("ServiceAccount", role))
        cluster.admin.make("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": f"user-{role}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": role, "namespace": "default"}]})
        return cluster.with_token_of(role, namespace="default")

    domain = targets()["ComputeDomain"]
    may = {"view": READ, "edit": VERBS, "admin": VERBS}
    for role, verbs in may.items():
        who = user_with(role)
        # The role is aggregated some time after its parts are there.
        eventually(30, lambda: who.request("GET", DOMAINS)[0] == 200)
        for verb in VERBS:
            status, said = domain.attempt(verb, who, cluster.admin)
            if (status < 300) != (verb in verbs):
                raise Failed(f"{role}: {verb} a ComputeDomain: {status} {said.get('message')}")
        if who.request("GET", CLIQUES)[0] != 200 or who.request("POST", CLIQUES, {"metadata": {"name": "uid.u.1"}})[0] != 403:
            raise Failed(f"{role}: it reads ComputeDomainCliques, and writes none")
        if who.request("PATCH", f"{domain.path}/status", {"status": {"status": "Ready"}}, "application/merge-patch+json")[0] != 403:
            raise Failed(f"{role}: it may write the status of a ComputeDomain")
        elsewhere = DOMAINS.replace("/default/", "/kube-system/")
        if who.request("POST", elsewhere, domain.body)[0] != 403:
            raise Failed(f"{role}: it may create a ComputeDomain in another namespace")


def nobody_else_takes_the_label_of_a_node_with_agents(cluster: Cluster) -> None:
    kind = "application/merge-patch+json"

    def label(who: Api, value) -> tuple:
        labels = {"resource.nvidia.com/compute-domain-agent": value}
        return who.request("PATCH", "/api/v1/nodes/n2", {"metadata": {"labels": labels}}, kind)

    controller = cluster.with_token_of("compute-domain-controller")
    for who, value, wanted in ((controller, "detected", 200), (cluster.admin, None, 403), (cluster.admin, "false", 200),
                               (cluster.admin, None, 200), (controller, "detected", 200), (controller, None, 200)):
        status, said = label(who, value)
        if status != wanted:
            raise Failed(f"{value}: {status} {said.get('message')}")
    # Kubelet's status, and whatever else is written of a Node that keeps it.
    label(controller, "detected")
    for part in ("", "/status"):
        cluster.admin.make("PATCH", f"/api/v1/nodes/n2{part}", {"metadata": {"labels": {"other": "label"}}}, kind=kind)
    label(controller, None)


def the_controller_writes_slices_of_cliques(cluster: Cluster) -> None:
    who = cluster.with_token_of("compute-domain-controller")
    everywhere = {"allNodes": True}

    def of(name: str, where: dict, pool: str, driver=DRIVER) -> dict:
        body = slice_of(name, where, driver)
        body["spec"]["pool"]["name"] = pool
        return body

    own = Target(SLICES, of("clique", everywhere, "clique/u.1"))
    attempts = {
        "a clique's": (own, ["create", "patch", "delete"]),
        "a node's": (Target(SLICES, of("of-n1", {"nodeName": "n1"}, "n1")), []),
        "a node's, with a clique's pool": (Target(SLICES, of("as-clique", {"nodeName": "n1"}, "clique/u.1")), []),
        "another pool's": (Target(SLICES, of("pool", everywhere, "n1")), []),
        "another driver's": (Target(SLICES, of("gpus", everywhere, "clique/u.1", "gpu.nvidia.com")), []),
    }
    if own.attempt("create", who, cluster.admin)[0] != 403:
        raise Failed("it may write ResourceSlices where it is not asked to")
    cluster.apply("shared-claims")
    # The role may come before the policy: then it is created, and nothing is said.
    eventually(30, lambda: "policy" in attempts["a node's"][0].attempt("create", who, cluster.admin)[1].get("message", "").lower())
    for name, (target, allowed) in attempts.items():
        for verb in ("create", "patch", "delete", "update", "deletecollection"):
            status, said = target.attempt(verb, who, cluster.admin)
            if (status < 300) != (verb in allowed) or status not in (200, 201, 403, 405):
                raise Failed(f"{verb} {name}: {status} {said.get('message')}")
    classes = "/apis/resource.k8s.io/v1/deviceclasses"
    if who.request("GET", f"{classes}/compute-domain-shared-channel.nvidia.com")[0] != 200:
        raise Failed("it may not read the class")
    for path in (classes, f"{classes}/compute-domain-default-channel.nvidia.com"):
        if who.request("GET", path)[0] != 403:
            raise Failed(f"it may read {path}")


def the_controller_writes_cliques_of_its_own_namespace(cluster: Cluster) -> None:
    who = cluster.with_token_of("compute-domain-controller")
    paths = {name: f"/apis/resource.nvidia.com/v1beta1/namespaces/{name}/computedomaincliques" for name in (OPERATOR, NODES)}

    def attempts() -> dict:
        found = {}
        for namespace, path in paths.items():
            body = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomainClique", "metadata": {"name": "uid.u.1"}}
            found[namespace] = [who.request("POST", path, body)[0], who.request("GET", path)[0],
                                who.request("DELETE", f"{path}/uid.u.1")[0]]
        return found

    if attempts() != {name: [403, 403, 403] for name in paths}:
        raise Failed("it may touch ComputeDomainCliques where it is not asked to")
    cluster.apply("compute-domain-cliques")
    eventually(30, lambda: who.request("GET", paths[OPERATOR])[0] == 200)
    if (found := attempts()) != {OPERATOR: [201, 200, 200], NODES: [403, 403, 403]}:
        raise Failed(f"{found}")


def eventually(seconds: float, is_so) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise Failed(f"not within {seconds} s")
        time.sleep(0.2)


def set_up(cluster: Cluster) -> Api:
    """The operator without its programs, and two nodes. Gives the identity of the agent on n1."""
    cluster.apply()
    for node in ("n1", "n2"):
        cluster.admin.make("POST", "/api/v1/nodes", core("Node", node))
        cluster.admin.make("POST", f"{ON_NODES}/pods", pod(f"agent-{node}", node, "compute-domain-agent"))
    agent = cluster.with_token_of("compute-domain-agent", "agent-n1")
    # A policy takes effect some time after it is created.
    for name in ("ComputeDomainNode of n2", "ResourceSlice of n2"):
        eventually(30, lambda: targets()[name].attempt("create", agent, cluster.admin)[0] == 403)
    return agent


def main() -> int:
    passed = failed = 0

    def check(name: str, test, *arguments) -> None:
        nonlocal passed, failed
        try:
            test(*arguments)
            passed += 1
            print(f"ok      {name}", flush=True)
        except Exception as error:
            failed += 1
            if not isinstance(error, Failed):
                traceback.print_exc(file=sys.stdout)
            print(f"FAILED  {name}: {error}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        try:
            agent = set_up(cluster)
            resources = cluster.resources()
            of_all = granted(cluster.with_token_of("default", namespace="default"), resources)
            check("every ServiceAccount may only ask who it is and what it may, and read whom to trust", every_account_may_ask_only_who_it_is, of_all)
            for account in CHANGES:
                check(f"{account} may do what it needs and no more", rights_are, cluster, account, of_all, resources)
            check("an agent changes what is its node's", requests_do_what_they_may, cluster, agent)
            check("and nothing else by tricks", tricks_are_refused, cluster, agent)
            check("an agent's token that is bound to no pod writes nothing", an_unbound_token_writes_nothing, cluster)
            check("a report is its node's, and whether it can be believed the controller's",
                  a_report_is_its_nodes_and_its_credibility_the_controllers, cluster, agent)
            check("the controller changes its labels of a Node, the clique's only where it is asked to",
                  the_controller_changes_its_labels_of_a_node, cluster)
            check("which nobody else takes from a Node with agents", nobody_else_takes_the_label_of_a_node_with_agents, cluster)
            check("and writes ResourceSlices of cliques, and only where it is asked to",
                  the_controller_writes_slices_of_cliques, cluster)
            check("and ComputeDomainCliques of its own namespace, and only where it is asked to",
                  the_controller_writes_cliques_of_its_own_namespace, cluster)
            check("a user with the role view reads ComputeDomains of its namespace, with edit or admin it writes them",
                  users_have_what_their_role_says, cluster)
            check("an agent's token ends with its pod", a_token_ends_with_its_pod, cluster, agent)
        finally:
            cluster.down()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
