#!/usr/bin/env bash
# Builds the image without Docker and without a registry of images, and starts a node from it: `dev/image.sh`, as root. Buildah
# builds the Dockerfile; its base `node:24-trixie-slim` is made of the Debian 13 tree of dev/debian13.sh. Ends with the node's ready line and
# exit code 0. Skips (77) where that tree or buildah cannot be had. Needs `npm run build` before, for the PostgreSQL that the node uses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export BUILDAH_ISOLATION=chroot
readonly BASE=docker.io/library/node:24-trixie-slim IMAGE=localhost/mansio:0.2.0

command -v buildah >/dev/null || { echo 'The image is skipped: buildah is not installed' >&2; exit 77; }
tree=$(dev/debian13.sh)
work=$(mktemp -d)
container=''
database=''
cleanup() {
  [ -z "$database" ] || kill "$database" 2>/dev/null || true
  [ -z "$container" ] || buildah rm "$container" >/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

container=$(buildah from scratch)
tar -C "$tree" --one-file-system --exclude=./work --exclude=./proc --exclude=./dev --exclude=./var/cache --exclude=./usr/share/doc -cf "$work/base.tar" .
buildah add -q "$container" "$work/base.tar" / >/dev/null
rm "$work/base.tar"
buildah run "$container" -- sh -c 'mkdir -p /proc /dev /tmp && useradd -m -u 1000 node'
buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
buildah commit -q "$container" "$BASE" >/dev/null
buildah rm "$container" >/dev/null
container=''

buildah bud --isolation=chroot --pull-never --format docker -t "$IMAGE" .

cat >"$work/database.mjs" <<'JS'
import { pathToFileURL } from 'node:url';
const { startPostgresServer } = await import(pathToFileURL(`${process.cwd()}/dist/dev/servers/postgres-server.js`).href);
const server = await startPostgresServer({ dataDir: process.argv[2] });
process.on('SIGTERM', () => server.stop().then(() => process.exit(0)));
console.log(server.url);
setInterval(() => {}, 2 ** 30);
JS
mkfifo "$work/url"
node "$work/database.mjs" "$work/data" >"$work/url" &
database=$!
read -r url <"$work/url"

container=$(buildah from --pull-never "$IMAGE")
buildah run --network host --env DATABASE_URL="$url" --env MANSIO_BIND=127.0.0.1 --env MANSIO_HTTP_BIND=127.0.0.1 --env MANSIO_HTTP_PORT=0 --env MANSIO_MX_PORT=0 \
  --env MANSIO_SUBMISSION_PORT=0 --env MANSIO_SUBMISSIONS_PORT=0 \
  --env MANSIO_IMAP_PORT=0 --env MANSIO_IMAPS_PORT=0 --env MANSIO_POP3_PORT=0 --env MANSIO_POP3S_PORT=0 --env MANSIO_SIEVE_PORT=0 "$container" -- \
  sh -c 'id -un; node --version; timeout --preserve-status --signal=TERM 20 node -- /app/bin/mansio serve' |
  while read -r line; do
    echo "$line"
    case $line in
      *'"event":"ready"'*)
        http=$(sed -E 's/.*"http":"([^"]+)".*/\1/' <<<"$line")
        curl -sS --fail "http://$http/healthz" && echo && touch "$work/ready"
        ;;
    esac
  done || true
[ -e "$work/ready" ]
