#!/usr/bin/env bash
# Runs a command in Debian 13 with Node.js 24, on a copy of this checkout: `dev/debian13.sh npm test`. After `--built` the copy has the
# build of the checkout, and npm the packages that it has downloaded here; installed they differ, by the version of Node.js. Without a
# command it makes the tree ready and prints its path. The tree is made once (debootstrap, Debian's packages that the tests call, Node.js by npm) and kept below
# ${XDG_CACHE_HOME:-~/.cache}/mansio; each checkout has a copy of its own there, which keeps its node_modules.
#
# Mounts and processes are in namespaces of their own: the kernel removes them when the command ends, however it ends. Needs
# Linux on x64 or arm64, root, and on the first run a network. Where it cannot run it says why in one line and exits with 77.
set -euo pipefail

readonly SKIPPED=77
readonly CHECKOUT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# Of the checkout, in the tree.
readonly COPY=/work/$(printf %s "$CHECKOUT" | sha256sum | cut -c1-12)
readonly CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/mansio
readonly TREE=$CACHE/debian13
readonly PACKAGES='age ca-certificates chromium chromium-headless-shell curl fetchmail haproxy isync libnet-ssleay-perl mpop nats-server pebble procps python3 swaks'
export AUTHORITIES=/etc/ssl/certs/ca-certificates.crt
# A new name makes a new tree.
readonly MADE=$TREE/opt/made-6

# What the copy does not have.
left_out='--exclude=./.git --exclude=./node_modules --exclude=./dist.new --exclude=./data --exclude=./coverage'
# npm's downloads, which the tree has too.
export DOWNLOADS=''
if [ "${1:-}" = --built ]; then
  shift
  DOWNLOADS=$(npm config get cache)
else
  left_out="$left_out --exclude=./dist"
fi

skip() {
  echo "Debian 13 is skipped: $1" >&2
  exit $SKIPPED
}

[ "$(uname -s)" = Linux ] || skip 'this is not Linux'
[ "$(id -u)" -eq 0 ] || skip 'it needs root'
unshare --mount --pid --fork true 2>/dev/null || skip 'this machine allows no namespaces (unshare)'

# in_tree TREE FOLDER COMMAND…: mounts and processes of the command are gone when it has ended.
in_tree() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child --propagation private bash -c '
    set -e
    tree=$1 folder=$2
    shift 2
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$tree/tmp"
    mount -t tmpfs -o mode=1777 tmpfs "$tree/dev/shm"
    for file in /etc/resolv.conf /etc/hosts; do
      touch "$tree$file"
      mount --bind "$file" "$tree$file"
    done
    if [ -d "$DOWNLOADS" ]; then
      mkdir -p "$tree/root/.npm"
      mount --bind "$DOWNLOADS" "$tree/root/.npm"
    fi
    # This shell stays as process 1, which reaps orphans: a killed database counts as running until then.
    chroot "$tree" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" ${CI:+CI="$CI"} ${TEST_AMOUNTS:+TEST_AMOUNTS="$TEST_AMOUNTS"} DEBIAN_FRONTEND=noninteractive \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_EXTRA_CA_CERTS="$AUTHORITIES" \
      bash -c '\''cd "$1" && shift && exec "$@"'\'' debian13 "$folder" "$@" && exit 0
    exit $?
  ' debian13 "$@"
}

make_tree() {
  command -v npm >/dev/null || skip 'npm is not installed'
  command -v debootstrap >/dev/null || { apt-get update && apt-get install -y --no-install-recommends debootstrap; } >&2 ||
    skip 'debootstrap is not installed and cannot be'
  rm -rf "$TREE" "$TREE.new"
  debootstrap --variant=minbase trixie "$TREE.new" >&2 ||
    skip "debootstrap cannot make it ($TREE.new/debootstrap/debootstrap.log)"
  # Debian's packages start no servers: tests start their own.
  printf '#!/bin/sh\nexit 101\n' >"$TREE.new/usr/sbin/policy-rc.d"
  chmod +x "$TREE.new/usr/sbin/policy-rc.d"
  # shellcheck disable=SC2086
  DOWNLOADS='' in_tree "$TREE.new" / sh -c "apt-get update && apt-get install -y --no-install-recommends $PACKAGES && apt-get clean" >&2 ||
    skip "Debian's packages cannot be installed"
  # A registry behind a proxy of this machine has a certificate that this machine trusts.
  if [ -r "$AUTHORITIES" ]; then cat "$AUTHORITIES" >>"$TREE.new$AUTHORITIES"; fi
  # Outside of any checkout, whose .npmrc would count.
  (cd "$TREE.new/opt" && npm install --prefix "$TREE.new/opt/node" --no-audit --no-fund node@24 npm@11) >&2 || skip 'npm cannot install Node.js 24'
  local modules=../../../opt/node/node_modules
  mkdir -p "$TREE.new/usr/local/bin" "$TREE.new/work"
  ln -s "$modules/node/bin/node" "$TREE.new/usr/local/bin/node"
  ln -s "$modules/npm/bin/npm-cli.js" "$TREE.new/usr/local/bin/npm"
  ln -s "$modules/npm/bin/npx-cli.js" "$TREE.new/usr/local/bin/npx"
  touch "$TREE.new/${MADE#"$TREE"}"
  mv "$TREE.new" "$TREE"
}

mkdir -p "$CACHE"
exec {lock}>"$CACHE/debian13.lock"
flock "$lock"
[ -e "$MADE" ] || make_tree
flock -u "$lock"
exec {lock}>&-

if [ $# -eq 0 ]; then
  echo "$TREE"
  exit
fi

# The copy is the checkout as it is, without what git ignores; node_modules of the copy stay as they are.
mkdir -p "$TREE$COPY"
# One command at a time: the next one makes the copy anew.
exec {lock}>"$TREE$COPY.lock"
flock "$lock"
find "$TREE$COPY" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
# shellcheck disable=SC2086
tar -C "$CHECKOUT" $left_out -cf - . | tar -C "$TREE$COPY" -xf -

in_tree "$TREE" "$COPY" "$@"
