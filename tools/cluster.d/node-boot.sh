# node-boot.sh KUBELET…: the first process of a node, in its own namespaces; the node's folder is its working directory.
#
# Mounts what a machine has of its own, waits for its network cable, and keeps containerd and that kubelet running. It
# ends when it is killed, and everything with it.

# How a program's end is followed by its next start, as systemd would have it.
keep_running() { # LOG COMMAND…
  log=$1
  shift
  while :; do
    "$@" >&"$log" 2>&1 || true
    sleep 1
  done
}

# Now, as the folder may be below one that is about to be hidden.
exec 3>>containerd.log 4>>kubelet.log

for folder in $OVERLAYS; do
  path=/$(echo "$folder" | tr - /)
  mount -t overlay -o "lowerdir=$path,upperdir=$PWD/$folder,workdir=$PWD/$folder.work" overlay "$path"
done
mkdir -p /etc/compute-domain-test /var/lib/compute-domain-images /var/lib/compute-domain-driver
mount --bind test /etc/compute-domain-test
mount --bind -o ro "$IMAGES" /var/lib/compute-domain-images
mount --bind -o ro "$DRIVER_ROOT" /var/lib/compute-domain-driver
for folder in $FOLDERS; do
  path=/$(echo "$folder" | tr - /)
  mkdir -p "$path"
  mount --bind "$folder" "$path"
done
mount --bind boot_id /proc/sys/kernel/random/boot_id

# A new /sys shows this node's network, and its control groups as if there were no others.
hierarchies=$(sed -nE 's|^[^ ]+ (/sys/fs/cgroup[^ ]*) (cgroup2?) ([^ ]+) .*|\1 \2 \3|p' /proc/self/mounts)
umount -R /sys
mount -t sysfs sysfs /sys
case "$hierarchies" in
  "/sys/fs/cgroup cgroup2 "*) ;;
  *) mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup ;;
esac
echo "$hierarchies" | while read -r path kind options; do
  mkdir -p "$path"
  case $kind in
    cgroup2)
      mount -t cgroup2 cgroup2 "$path"
      for controller in $(cat "$path/cgroup.controllers"); do
        echo "+$controller" >"$path/cgroup.subtree_control" || true
      done
      ;;
    cgroup)
      controllers=$(echo "$options" | tr , '\n' |
        grep -vxE 'r[ow]|relatime|no(suid|dev|exec)|xattr|clone_children|release_agent=.*' | paste -sd, |
        sed 's/^name=/none,name=/')
      mount -t cgroup -o "$controllers" cgroup "$path"
      ;;
  esac
done

mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/nvidia/driver /run/lock /run/dev
mount --bind -o ro /var/lib/compute-domain-driver /run/nvidia/driver

mount -t tmpfs -o mode=755 tmpfs /run/dev
for device in null zero full random urandom tty kmsg fuse; do
  [ ! -e "/dev/$device" ] || cp -a "/dev/$device" /run/dev/
done
(
  cd /run/dev
  mkdir pts shm mqueue
  ln -s pts/ptmx ptmx
  ln -s /proc/self/fd fd
  ln -s fd/0 stdin
  ln -s fd/1 stdout
  ln -s fd/2 stderr
)
mount --move /run/dev /dev
rmdir /run/dev
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t mqueue mqueue /dev/mqueue

# The kubelet sets these where they are something else; they are this machine's.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  file=/run/kernel-settings/${setting%=*}
  mkdir -p "${file%/*}"
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done

# As systemd leaves it: what is mounted below a volume of a pod appears in it.
mount --make-rshared /
hostname "$NAME"

until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip -batch - <<END
link set lo up
link set eth0 up
address add $ADDRESS dev eth0 $ADDRESS_OPTIONS
route add $GATEWAY dev eth0 src $ADDRESS
route add $EVERYWHERE via $GATEWAY dev eth0 src $ADDRESS
END
echo 1 >"$FORWARDING"
# Without power, nothing is left that waits for an answer; the kernel would keep the network for its sake.
echo 1 >/proc/sys/net/ipv4/tcp_orphan_retries

keep_running 3 containerd &
until ctr version >/dev/null 2>&1; do sleep 0.1; done
sh -eu /var/lib/compute-domain-images/load.sh
keep_running 4 "$@" &
wait
