#!/usr/bin/env bash
# The images for arm64, cross-built, on a machine of another architecture: what is in them, and that their programs run,
# under an emulator: alone in their own root, and then as a controller, an agent and a supervisor of IMEX at work. Not part of
# CI: the first build takes a while. CDOM_BUILD names this machine's build (build/release, which is brought up to date).
# Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh

readonly PROGRAMS=(compute-domain-controller compute-domain-agent compute-domain-imex)
readonly LARGEST_LAYER=30000000
readonly EMULATOR=qemu-aarch64-static
jobs=${JOBS:-$(nproc)}
version=$(sed -n 's/^project(.* VERSION \([^ ]*\).*/\1/p' CMakeLists.txt)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(unshare --map-root-user)

# This machine's programs say what is right, and are API server, kubelet and nvidia-imex.
native=${CDOM_BUILD:-build/release}
build_all() {
  tools/setup --arm64 && cmake --preset arm64 && cmake --build --preset arm64 -j "$jobs" || return 1
  [ "$native" != build/release ] || {
    cmake --preset release && cmake --build --preset release -j "$jobs" --target "${PROGRAMS[@]}" \
      compute-domain-sandbox kubelet-calls nvidia-imex nvidia-imex-ctl libnvidia-ml
  }
}
build_all >"$work/build" 2>&1 || { tail -30 "$work/build"; exit 1; }
native=$(realpath "$native")

blob() { # ARCHIVE DIGEST
  tar --extract --to-stdout --file "$1" "blobs/${2/://}"
}
unpack() { # PROGRAM: its configuration and its root
  local archive=$work/images/$1.tar manifest
  mkdir -p "$work/$1" || return 1
  manifest=$(blob "$archive" "$(tar --extract --to-stdout --file "$archive" index.json | jq -r '.manifests[0].digest')") || return 1
  blob "$archive" "$(jq -r .config.digest <<<"$manifest")" >"$work/$1.json" || return 1
  blob "$archive" "$(jq -r '.layers[0].digest' <<<"$manifest")" >"$work/$1.layer" || return 1
  tar --extract --gzip --file "$work/$1.layer" --directory "$work/$1"
}
is_small() { # PROGRAM
  local size
  size=$(stat --format %s "$work/$1.layer")
  awk -v name="$1" -v size="$size" 'BEGIN { printf "        %s: %.1f MB\n", name, size / 1e6 }' >&3
  [ "$size" -le "$LARGEST_LAYER" ]
}
elves() { # PROGRAM: all programs and libraries of its image
  find "$work/$1" -type f -exec sh -c '[ "$(head -c 4 "$1" | tail -c 3)" = ELF ]' sh {} \; -print 2>/dev/null
}
all_are_arm64() { # PROGRAM
  local file count=0
  while read -r file; do
    count=$((count + 1))
    readelf --file-header "$file" | grep -q 'Machine: *AArch64' || { echo "$file is not"; return 1; }
  done < <(elves "$1")
  echo "$count programs and libraries"
  [ "$count" -ge 5 ]
}
every_library_is_there() { # PROGRAM
  local file name
  while read -r file; do
    readelf --dynamic "$file" | grep -E 'R(UN)?PATH' && return 1
    for name in $(readelf --dynamic "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
      [ -e "$work/$1/usr/lib/aarch64-linux-gnu/$name" ] || [ -e "$work/$1/usr/lib/$name" ] ||
        { echo "$file needs $name"; return 1; }
    done
  done < <(elves "$1")
}
# Nothing of this machine is seen there but the emulator; as the user whom the image names.
in_root() { # PROGRAM ARGUMENT…
  local user=()
  [ ${#as_root[@]} -gt 0 ] || user=(--userspec "$(jq -r .config.User "$work/$1.json")")
  timeout 120 "${as_root[@]}" env -i PATH=/usr/sbin:/usr/bin chroot "${user[@]}" "$work/$1" /emulator "/usr/bin/$1" "${@:2}"
}
# The records of packages and the document beside the archive.
has_records() { # PROGRAM
  local library name
  while read -r library; do
    grep -qF "  ${library#"$work/$1/"}" "$work/$1"/var/lib/dpkg/status.d/*.md5sums || { echo "$library is in no record"; return 1; }
  done < <(elves "$1" | grep /usr/lib/)
  grep -q '^Architecture: amd64' "$work/$1"/var/lib/dpkg/status.d/* && return 1
  name=$(jq -r '.packages[] | select(.name == "libc6").externalRefs[0].referenceLocator' "$work/images/$1-arm64.spdx.json")
  [[ $name == *"arch=arm64&distro=debian-12"* ]] || { echo "$name"; return 1; }
}
fails() { # CODE TEXT COMMAND…: it ends with this code, and says so
  local wanted=$1 text=$2 code=0 output
  shift 2
  output=$("$@" 2>&1) || code=$?
  echo "code $code: $output"
  [ "$code" -eq "$wanted" ] && [[ $output == *"$text"* ]]
}
same_here() { # PROGRAM ARGUMENT…: this machine's build says the same
  diff <("$native/bin/$1" "${@:2}" 2>&1) <(in_root "$@" 2>&1)
}

exec 3>&1
check "tools/image makes them" tools/image --arch arm64 --output "$work/images"
for program in "${PROGRAMS[@]}"; do
  check "$program: its archive is an image" unpack "$program"
  check "for arm64" prints arm64 jq -r .architecture "$work/$program.json"
  check "of at most 30 MB" is_small "$program"
  check "with programs and libraries for arm64 only" all_are_arm64 "$program"
  check "and every library that one of them needs" every_library_is_there "$program"
  check "each of which is in the record of a Debian package" has_records "$program"
  cp "$(command -v "$EMULATOR")" "$work/$program/emulator"
  check "it runs" prints "$program $version" in_root "$program" --version
  check "tells its flags, as this machine's does" same_here "$program" --help
  check "and a wrong one" fails 2 colour in_root "$program" --colour red
done

# ---- What needs no cluster
mkdir "$work/compute-domain-controller/examples"
cp manifests/examples/*.yaml "$work/compute-domain-controller/examples"
plan() { in_root compute-domain-controller plan "/examples/$1.yaml"; }
plan_here() { "$native/bin/compute-domain-controller" plan "manifests/examples/$1.yaml"; }
same_plan() { diff <(plan_here "$1") <(plan "$1"); }
check "the controller plans" prints "training-channel" plan training-job
for example in manifests/examples/*.yaml; do
  check "as this machine's does: $(basename "$example")" same_plan "$(basename "$example" .yaml)"
done
echo 'gpus: [{uuid: GPU-0, state: completed, clusterUUID: 6f0a3c52-1c7e, cliqueID: 7}]' >"$work/compute-domain-agent/fabric.yaml"
check "the agent tells a clique" prints "clique: 6f0a3c52-1c7e.7" in_root compute-domain-agent fabric --fabric-file /fabric.yaml
check "and why there is none without compute-domain-imex" fails 1 "does its pod run on this node?" in_root compute-domain-agent fabric
# Not through a process of its own as otherwise: /proc/self/exe is the emulator.
check "what asks NVML for the supervisor of IMEX says why there is none without a driver" prints "libnvidia-ml.so.1" \
  in_root compute-domain-imex fabric --lines --driver-root /
check "the supervisor of IMEX tells a boot id that is missing" fails 1 "cannot read /nowhere" \
  in_root compute-domain-imex --boot-id-file /nowhere

# ---- At work: the smoke tests of this machine's programs, with these in their place
wrapped=$work/emulated
mkdir -p "$wrapped/bin"
ln -s "$native/tests" "$wrapped/tests"
ln -s "$native/bin/compute-domain-sandbox" "$wrapped/bin/"
for program in "${PROGRAMS[@]}"; do
  printf '#!/bin/sh\nexec %s -L %s %s "$@"\n' "$EMULATOR" "$work/$program" "$work/$program/usr/bin/$program" >"$wrapped/bin/$program"
  chmod +x "$wrapped/bin/$program"
done
at_work() { CDOM_BUILD=$wrapped CDOM_SLOW=yes timeout 900 "$1" | grep -vE '^ok'; return "${PIPESTATUS[0]}"; }
check "two controllers, of which one works (tests/smoke/leader_test.sh)" at_work tests/smoke/leader_test.sh
check "an agent and a supervisor of IMEX (tests/smoke/agent_test.sh)" at_work tests/smoke/agent_test.sh
finish_checks
