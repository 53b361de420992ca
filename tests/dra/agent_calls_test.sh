#!/usr/bin/env bash
# What one compute-domain-agent does with kubelet's calls, right and wrong ones, by Kubernetes' own client packages.
exec "$(dirname "$0")/agent-tests" calls
