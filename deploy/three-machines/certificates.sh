#!/bin/sh
# Makes the certificates by which the three machines know each other, in the current folder: `sh certificates.sh ADDRESS ADDRESS ADDRESS`.
# The result is ca.pem, and node-1.pem with node-1.key to node-3.pem with node-3.key. Keep ca.key away from the machines: it makes more.
set -eu
umask 077
[ $# -eq 3 ] || { echo 'usage: sh certificates.sh ADDRESS ADDRESS ADDRESS' >&2; exit 1; }
new_key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
[ -e ca.key ] || [ ! -e ca.pem ] || { echo 'ca.pem is here without its ca.key: put that back first' >&2; exit 1; }
[ -e ca.key ] || openssl req -x509 $new_key -days 7300 -subj '/CN=Mansio machines' -keyout ca.key -out ca.pem
number=0
for address; do
  number=$((number + 1))
  name=node-$number
  {
    echo "subjectAltName=DNS:$name,DNS:localhost,IP:$address,IP:127.0.0.1"
    echo 'basicConstraints=critical,CA:false'
    echo 'extendedKeyUsage=serverAuth,clientAuth'
  } >$name.ext
  openssl req $new_key -subj "/CN=$name" -keyout $name.key -out $name.csr
  openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -extfile $name.ext -out $name.pem
  rm $name.csr $name.ext
done
