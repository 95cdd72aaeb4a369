// The commands of sotto-federate, and what they share.
#pragma once

#include <atomic>

#include "cli/command.hpp"
#include "federated/api/identity.hpp"

namespace sotto::cli {

void add_enroll(Command& app);
void add_init(Command& app);
void add_approve(Command& app);
void add_coordinator(Command& app, Typed& typed);
void add_party(Command& app, Typed& typed);

/// The options of certificates from an authority, in place of those in the session.
struct TlsFiles {
  std::string authority, certificate, key;
};
void add_tls(Command& command, TlsFiles& files);
/// `own`: from the key file. `trusted`: what the session lists; empty asks for the files.
Tls tls_of(const TlsFiles& files, const TlsIdentity& own, const std::string& trusted);

/// The text of a session's file. InvalidValue says how one is made where there is none.
std::string session_text_in(const std::string& file);

/// Set by SIGINT and SIGTERM, from the first call on.
std::atomic<bool>& stop_asked();

}  // namespace sotto::cli
