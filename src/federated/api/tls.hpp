// Certificates of the TLS connections between members and coordinator.
//
// Security rests on the Ed25519 signature in each member's hello message and in every later
// message; TLS keys and certificates carry none of it. TLS only keeps strangers from using up the
// coordinator's connections, and hides the traffic from the network. Somebody who forges a
// certificate can delay a session, but learns no member's vector and cannot change a sum.
#pragma once

#include <chrono>
#include <string>

namespace sotto {

/// A TLS private key and its certificate, in PEM.
struct TlsIdentity {
  std::string key;
  std::string certificate;
};

/// Makes an ECDSA key on P-256 and a self-signed certificate for the name "sotto". The certificate
/// is valid from a day ago, since the clocks of two machines differ. Throws std::runtime_error if
/// OpenSSL cannot make them.
TlsIdentity make_tls_identity(std::chrono::seconds valid_for = std::chrono::hours(24 * 730));

/// How the two ends of a connection authenticate each other.
struct Tls {
  TlsIdentity own;
  std::string trusted;  ///< trusted certificates in PEM: of the other parties themselves, or of an
                        ///< authority
  bool by_authority =
      false;  ///< if true, the coordinator's certificate must name its host; otherwise "sotto"
};

/// Throws ProtocolError if the text is not a certificate, or the certificate has expired or is not
/// valid yet; the error has the day. `whose` begins the error, such as "the coordinator's". An
/// expired certificate is reported here because TLS would only fail to connect.
void require_valid_certificate(const std::string& certificate, const std::string& whose);

}  // namespace sotto
