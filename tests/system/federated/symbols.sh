#!/bin/sh
# The two copies of OpenSSL in sotto-federate do not meet: symbols.sh BUILD
set -eu
program=$1/bin/sotto-federate
if ! [ -x "$program" ]; then
  echo "skipped: there is no gRPC; type: apt-get install libgrpc++-dev protobuf-compiler-grpc"
  exit 77
fi
named=$(nm -D "$program" | grep -E ' (EVP|X509|BIO|CRYPTO|OPENSSL|PEM|ASN1|SSL)_' || true)
[ -z "$named" ] || { echo "FAILED: the program shares names of OpenSSL with gRPC: $named" | head -n 5; exit 1; }
# it does hold a copy of its own
strings -n 8 "$program" | grep -q 'crypto/evp/' || { echo "FAILED: there is no static OpenSSL in it: the test looks at the wrong program"; exit 1; }
echo "no name of OpenSSL leaves or enters the program"
