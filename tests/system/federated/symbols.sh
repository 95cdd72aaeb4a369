#!/bin/sh
# Tests that the two copies of OpenSSL in sotto-federate share no symbols: symbols.sh BUILD
set -eu
program=$1/bin/sotto-federate
if ! [ -x "$program" ]; then
  echo "skipped: there is no gRPC; type: apt-get install libgrpc++-dev protobuf-compiler-grpc"
  exit 77
fi
symbols=$(nm -D "$program" | grep -E ' (EVP|X509|BIO|CRYPTO|OPENSSL|PEM|ASN1|SSL)_' || true)
[ -z "$symbols" ] || { echo "FAILED: the program shares symbols of OpenSSL with gRPC: $symbols" | head -n 5; exit 1; }
# the program contains the static copy
strings -n 8 "$program" | grep -q 'crypto/evp/' || { echo "FAILED: the program contains no static OpenSSL, so the test proves nothing"; exit 1; }
echo "the program shares no symbol of OpenSSL"
