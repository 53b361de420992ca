#!/usr/bin/env python3
"""audit.py AUDIT_LOG MANIFESTS [EXPECTED…]: what the API server has refused to the operator, and what it lets it do in vain.

Prints each kind of request of the operator's ServiceAccounts that was answered 403, 409 or 422, with the first of its
messages; fails when there is one that no EXPECTED names: "PROGRAM VERB RESOURCE CODE", as printed, or "restart=TIME" for what
an API server forbids that was started again then (RFC 3339) and has not read its roles and bindings: the same request
has to be granted at another time. Then the rights
that MANIFESTS (objects as JSON, one after the other) grant and that no request in the log has used.
"""

import json
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

USERS = tuple(f"system:serviceaccount:{namespace}:" for namespace in ("compute-domain-operator", "compute-domain-nodes"))
REFUSALS = (403, 409, 422)
RESTART = "restart="
# From the order to start again until all roles and bindings are read, on a machine that is busy.
STARTING = timedelta(seconds=20)


def kind_of(group: str, resource: str, subresource: str = "") -> str:
    name = f"{resource}/{subresource}" if subresource else resource
    return f"{name}.{group}" if group else name


def requests(log: Path):
    """(program, verb, kind, namespace, code, message, time) of each of the operator's requests."""
    for line in log.read_text().splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # the last line, which is being written
            continue
        user, ref = event["user"].get("username", ""), event.get("objectRef")
        if not user.startswith(USERS) or ref is None:
            continue
        status = event.get("responseStatus", {})
        kind = kind_of(ref.get("apiGroup", ""), ref["resource"], ref.get("subresource", ""))
        message = status.get("message") or f"{status.get('reason', '')} {event['requestURI']}"
        yield (user.rpartition(":")[2], event["verb"], kind, ref.get("namespace", ""), status.get("code", 0), message,
               time_of(event["stageTimestamp"]))


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def refused(seen: list, restarts: list) -> tuple:
    """How often each kind of request was refused, and the first message of each."""
    counts, messages = Counter(), {}
    granted = {(program, verb, kind, namespace) for program, verb, kind, namespace, code, *_ in seen if code < 300}
    for program, verb, kind, namespace, code, message, time in seen:
        if code in REFUSALS:
            # It says nothing of its reason as long as it knows no binding.
            starts = (code == 403 and (program, verb, kind, namespace) in granted
                      and any(start <= time <= start + STARTING for start in restarts))
            what = f"{program} {verb} {kind} {code}" + (" by a server that starts" if starts else "")
            counts[what] += 1
            messages.setdefault(what, message)
    return counts, messages


def objects(text: str) -> list:
    found, decoder = [], json.JSONDecoder()
    while text := text.strip():
        one, end = decoder.raw_decode(text)
        found.append(one)
        text = text[end:]
    return found


def grants(manifests: list):
    """(program, verb, kind, namespace or "" for all) of each right."""
    rules = {(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]): item["rules"]
             for item in manifests if "rules" in item}
    for binding in manifests:
        if not binding["kind"].endswith("RoleBinding"):
            continue
        namespace = binding["metadata"].get("namespace", "")
        kind = binding["roleRef"]["kind"]
        role = rules[kind, namespace if kind == "Role" else "", binding["roleRef"]["name"]]
        for subject in binding["subjects"]:
            for rule in role:
                for group in rule["apiGroups"]:
                    for resource in rule["resources"]:
                        for verb in rule["verbs"]:
                            yield subject["name"], verb, kind_of(group, *resource.split("/")), namespace


def unused(manifests: list, seen: list) -> list:
    done = {(program, verb, kind, namespace) for program, verb, kind, namespace, code, *_ in seen if code != 403}
    everywhere = {(program, verb, kind) for program, verb, kind, _ in done}
    return [f"{program} {verb} {kind}{f' in {namespace}' if namespace else ''}"
            for program, verb, kind, namespace in grants(manifests)
            if ((program, verb, kind, namespace) not in done if namespace else (program, verb, kind) not in everywhere)]


def main() -> int:
    log, manifests, *expected = sys.argv[1:]
    seen = list(requests(Path(log)))
    if not seen:
        print("the log has no request of the operator")
        return 1
    restarts = [time_of(what.removeprefix(RESTART)) for what in expected if what.startswith(RESTART)]
    counts, messages = refused(seen, restarts)
    surprises = 0
    for what, count in sorted(counts.items()):
        is_expected = what in expected or what.endswith(" by a server that starts")
        surprises += not is_expected
        print(f"{'expected' if is_expected else 'REFUSED '} {count:4} {what}: {messages[what]}")
    print(f"{len(seen)} requests, {sum(counts.values())} refused; granted and not used:")
    for right in sorted(unused(objects(Path(manifests).read_text()), seen)):
        print(f"  {right}")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
