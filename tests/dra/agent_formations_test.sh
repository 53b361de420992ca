#!/usr/bin/env bash
# Many domains that form and go on one compute-domain-agent, one after the other: what it uses does not grow.
exec "$(dirname "$0")/agent-tests" formations "${CDOM_FORMATIONS:-60}"
