#!/usr/bin/env python3
"""odd_objects.py KUBECONFIG TOKEN NAMESPACE DOMAIN_UID: what who may edit one namespace can write there.

ResourceClaims of another driver and of ours, whose opaque parameters are as deep as the API server takes them, half a
surrogate pair, a byte that is no UTF-8, keys that are there twice, numbers that no machine has, or 300 KB of one key; and
such as name a domain of another namespace (DOMAIN_UID), or one that is none. Prints what was taken; fails when the API
server has not taken what the least of them is for.
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "manifests"))

from identities import Api, Failed, server_of

OURS, THEIRS = "compute-domain.nvidia.com", "gpu.example.com"
PARAMETERS = 10 * 1024  # the most that the API server takes (OpaqueParametersMaxLength)
CONFIGS = 32  # of a claim
COPIES = 6
# The second, of numbers that no float64 has, makes Kubernetes 1.36 panic before it stores anything.
MAY_BE_REFUSED = ("byte", "wild-number")
# Python reads nothing as deep.
NAME_ONLY = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}


def claim(name: str, driver: str, *parameters: bytes) -> bytes:
    configs = b",".join(b'{"opaque":{"driver":"%s","parameters":%s}}' % (driver.encode(), each) for each in parameters)
    return (b'{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"%s"},"spec":{"devices":{'
            b'"requests":[{"name":"channel","exactly":{"deviceClassName":"compute-domain-default-channel.nvidia.com"}}],'
            b'"config":[%s]}}}' % (name.encode(), configs))


def nested(depth: int) -> bytes:
    return b'{"a":' + b"[" * depth + b"]" * depth + b"}"


def channel_of(domain: str) -> bytes:
    return (b'{"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig","allocationMode":"Single",'
            b'"domainID":"%s"}' % domain.encode())


def repeated(key: bytes, value: bytes) -> bytes:
    """As long as parameters may be."""
    member = b',"%s":"%s"' % (key, value)
    start = channel_of("0e1b0f4e-31bd-4a1f-8c8d-a8ad1a6ff0f1")[:-1]
    return start + member * ((PARAMETERS - len(start) - 1) // len(member)) + b"}"


class Tenant:
    def __init__(self, api: Api, namespace: str):
        self._api, self._claims = api, f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims"

    def create(self, body: bytes, query: str = "") -> tuple:
        try:
            return self._api.request("POST", self._claims + query, body, headers=NAME_ONLY)
        except ConnectionError as error:
            return 500, {"message": str(error)}

    def deepest(self, driver: str) -> int:
        least, most = 1, PARAMETERS // 2
        while least < most:
            middle = (least + most + 1) // 2
            if self.create(claim("probe", driver, nested(middle)), "?dryRun=All")[0] < 300:
                least = middle
            else:
                most = middle - 1
        return least


def main() -> int:
    kubeconfig, token, namespace, domain = sys.argv[1:]
    tenant = Tenant(Api(*server_of(Path(kubeconfig)), token=token), namespace)
    failed = 0
    for driver, of in ((OURS, "ours"), (THEIRS, "theirs")):
        depth = tenant.deepest(driver)
        print(f"{of}: {depth} levels")
        odd = {
            "deep": [nested(depth)],
            "surrogate": [b'{"domainID":"\\ud800","kind":"\\udfff"}'],
            "byte": [b'{"domainID":"\xff"}'],
            "twice": [channel_of(domain)[:-1] + b',"domainID":"","kind":"x","kind":7}'],
            "number": [b'{"a":1.7e308,"b":-' + b"9" * 308 + b',"numNodes":1e300}'],
            "wild-number": [b'{"a":1e999999,"b":-' + b"9" * 5000 + b"}"],
            "foreign-domain": [channel_of(domain)],
            "no-uid": [channel_of("namespace:default")],
            "contradictory": [channel_of(domain), b'{"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainConfig"}'],
            **{f"long-{number}": [repeated(b"kind", b"x" * 40)] * CONFIGS for number in range(COPIES)},
        }
        for name, parameters in odd.items():
            status, said = tenant.create(claim(f"{of}-{name}", driver, *parameters))
            print(f"{of}-{name}: {status} {said.get('message', '') if status >= 300 else ''}")
            failed += status >= 300 and name not in MAY_BE_REFUSED
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(str(failure))
