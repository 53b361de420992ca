#!/usr/bin/env bash
# What one compute-domain-agent does when its disks are full or read-only, its checkpoint cannot be read or the GPU
# driver hangs. Mounts small disks, in a namespace of its own.
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(--map-root-user)
exec unshare --mount "${as_root[@]}" "$(dirname "$0")/agent-tests" disks
