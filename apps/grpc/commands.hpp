// The commands of sotto-federate, and the functions that they share.
#pragma once

#include <atomic>

#include "cli/command.hpp"
#include "federated/api/identity.hpp"

namespace sotto::cli {

void add_enroll(Command& app);
void add_init(Command& app);
void add_approve(Command& app);
void add_coordinator(Command& app);
void add_party(Command& app);

/// The options for certificates from an authority, in place of those that the session lists.
struct TlsFiles {
  std::string authority, certificate, key;
};
void add_tls(Command& command, TlsFiles& files);
/// Returns the TLS settings of this end: `own`, from the key file, and the certificates that the
/// session lists, `trusted`; or, if it lists none, the files. Throws InvalidValue if both or
/// neither are there.
Tls tls_of(const TlsFiles& files, const TlsIdentity& own, const std::string& trusted);

/// Returns the text of a session's file. Throws InvalidValue, with how to create one, if it is
/// absent.
std::string session_text_in(const std::string& file);

/// Returns a flag that SIGINT and SIGTERM set, from the first call on.
std::atomic<bool>& stop_requested();

}  // namespace sotto::cli
