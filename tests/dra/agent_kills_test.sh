#!/usr/bin/env bash
# One compute-domain-agent that dies at each of its writes in turn: what is on the node after kubelet has asked again.
exec "$(dirname "$0")/agent-tests" kills
