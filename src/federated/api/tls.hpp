// Certificates of the connections. They keep strangers from the coordinator's door; what is summed is protected by the members' own signatures.
#pragma once

#include <chrono>
#include <string>

namespace sotto {

/// A private key and its certificate, in PEM.
struct TlsIdentity {
  std::string key;
  std::string certificate;
};

/// A fresh ECDSA key on P-256 and a certificate that it signed itself, for the name "sotto"; from a day ago, against clocks that differ.
TlsIdentity make_tls_identity(std::chrono::seconds valid_for = std::chrono::hours(24 * 730));

/// How the two ends of a connection know each other.
struct Tls {
  TlsIdentity own;
  std::string trusted;        ///< certificates in PEM: those of the others themselves, or of an authority
  bool by_authority = false;  ///< the coordinator's certificate must name the host that is connected to; else "sotto"
};

/// ProtocolError, with the day, for a certificate that has expired or is not valid yet, or for a text that is none. `whose`: "the coordinator's".
void require_current(const std::string& certificate, const std::string& whose);

}  // namespace sotto
