#!/bin/sh
# Puts the files of this folder where their programs read them, with the values of cluster.env: `sh install.sh FOLDER` as root, where FOLDER
# has cluster.env, ca.pem, and node-N.pem with node-N.key of this machine. It replaces what is there, and starts nothing. With a second
# argument everything goes below that directory, and belongs to the caller.
set -eu
from=$(cd "$1" && pwd)
prefix=${2-}
here=$(cd "$(dirname "$0")" && pwd)
. "$from/cluster.env"
for name in NODE ADDRESS_1 ADDRESS_2 ADDRESS_3 NETWORK MAIL_HOST ACME_EMAIL POSTGRES POSTGRES_PASSWORD REPLICATION_PASSWORD \
  DATABASE_PASSWORD NATS_PASSWORD; do
  eval "value=\${$name-}"
  [ -n "$value" ] || { echo "cluster.env has no $name" >&2; exit 1; }
done
for name in POSTGRES_PASSWORD REPLICATION_PASSWORD DATABASE_PASSWORD NATS_PASSWORD; do
  eval "value=\$$name"
  case $value in
    *[!A-Za-z0-9]*) echo "$name of cluster.env may have letters and digits only" >&2; exit 1 ;;
  esac
done
case $NODE in
  node-1) ADDRESS=$ADDRESS_1 ;;
  node-2) ADDRESS=$ADDRESS_2 ;;
  node-3) ADDRESS=$ADDRESS_3 ;;
  *) echo "NODE is node-1, node-2 or node-3, not $NODE" >&2; exit 1 ;;
esac

# put FILE PATH OWNER MODE
put() {
  mkdir -p "$prefix$(dirname "$2")"
  [ -n "$prefix" ] || { touch "$2" && chown "$3" "$2"; }
  [ -e "$prefix$2" ] || touch "$prefix$2"
  chmod "$4" "$prefix$2"
  # The list of processes shows no argument with a password.
  sed -f - "$1" >"$prefix$2" <<END
s|@NODE@|$NODE|g
s|@ADDRESS@|$ADDRESS|g
s|@NETWORK@|$NETWORK|g
s|@MAIL_HOST@|$MAIL_HOST|g
s|@ACME_EMAIL@|$ACME_EMAIL|g
s|@POSTGRES@|$POSTGRES|g
s|@POSTGRES_PASSWORD@|$POSTGRES_PASSWORD|g
s|@REPLICATION_PASSWORD@|$REPLICATION_PASSWORD|g
s|@DATABASE_PASSWORD@|$DATABASE_PASSWORD|g
s|@NATS_PASSWORD@|$NATS_PASSWORD|g
END
}

if [ -z "$prefix" ]; then
  for number in 1 2 3; do
    eval "address=\$ADDRESS_$number"
    there=$(awk -v name=node-$number '{ sub(/#.*/, ""); for (i = 2; i <= NF; i++) if ($i == name) print $1 }' /etc/hosts | sort -u)
    case $there in
      '') echo "$address node-$number" >>/etc/hosts ;;
      "$address") ;;
      *) echo "/etc/hosts has node-$number at" $there "and cluster.env at $address: correct one of them" >&2; exit 1 ;;
    esac
  done
  # The group may read the key of the machine.
  for user in etcd nats haproxy postgres; do usermod -aG ssl-cert $user; done
fi
put "$from/ca.pem" /etc/ssl/mansio/ca.pem root:root 644
put "$from/$NODE.pem" /etc/ssl/mansio/node.pem root:root 644
put "$from/$NODE.key" /etc/ssl/private/mansio-node.key root:ssl-cert 640
put "$here/etcd" /etc/default/etcd root:root 644
put "$here/patroni.yml" /etc/patroni/config.yml postgres:postgres 600
put "$here/nats-server.conf" /etc/nats-server.conf nats:nats 600
put "$here/haproxy.cfg" /etc/haproxy/haproxy.cfg root:root 644
put "$here/mansio.env" /etc/mansio/mansio.env root:root 640
