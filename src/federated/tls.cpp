// Makes and reads TLS certificates, by OpenSSL.
#include "federated/api/tls.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdio>
#include <memory>

#include "federated/api/session.hpp"
#include "sotto/random/random.hpp"

namespace sotto {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void require(bool worked, const char* part) {
  if (!worked)
    throw std::runtime_error(std::string("OpenSSL cannot make a certificate here: setting \"") +
                             part + "\" failed. Check its configuration");
}

void extend(X509* certificate, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  require(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, value);
}

template <class Write>
std::string pem(Write write) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  require(bio != nullptr && write(bio.get()) == 1, "PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string day_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unknown day";
  std::array<char, 16> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

}  // namespace

TlsIdentity make_tls_identity(std::chrono::seconds valid_for) {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const Owned<X509> certificate(X509_new());
  require(key != nullptr && certificate != nullptr, "ECDSA on P-256");
  const std::uint64_t serial = Random::here().word() >> 1U;
  std::array<char, 17>
      subject{};  // unique, since TLS libraries look certificates up by their subject
  (void)std::snprintf(subject.data(), subject.size(), "%016llx",
                      static_cast<unsigned long long>(serial));
  X509* x = certificate.get();
  require(
      X509_set_version(x, 2) == 1 && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial) == 1,
      "serial number");
  require(X509_gmtime_adj(X509_getm_notBefore(x), -86400) != nullptr &&
              X509_gmtime_adj(X509_getm_notAfter(x), valid_for.count()) != nullptr,
          "dates");
  X509_NAME* name = X509_get_subject_name(x);
  require(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                     reinterpret_cast<const unsigned char*>(subject.data()), -1, -1,
                                     0) == 1,
          "name");
  require(X509_set_issuer_name(x, name) == 1 && X509_set_pubkey(x, key.get()) == 1, "key");
  extend(x, NID_basic_constraints, "critical,CA:FALSE");
  extend(x, NID_key_usage, "critical,digitalSignature");
  extend(x, NID_ext_key_usage, "serverAuth,clientAuth");
  extend(x, NID_subject_alt_name, "DNS:sotto");
  extend(x, NID_subject_key_identifier, "hash");
  require(X509_sign(x, key.get(), EVP_sha256()) > 0, "signature");
  return {pem([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          }),
          pem([&](BIO* bio) { return PEM_write_bio_X509(bio, x); })};
}

void require_valid_certificate(const std::string& certificate, const std::string& whose) {
  const Owned<BIO> bio(BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())));
  const Owned<X509> x(bio == nullptr ? nullptr
                                     : PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (x == nullptr)
    throw ProtocolError(whose +
                        " certificate cannot be read: it must be an X.509 certificate in PEM");
  if (X509_cmp_current_time(X509_get0_notAfter(x.get())) < 0) {
    throw ProtocolError(whose + " certificate expired on " + day_of(X509_get0_notAfter(x.get())) +
                        ": make a new one, and a new session that lists it");
  }
  if (X509_cmp_current_time(X509_get0_notBefore(x.get())) > 0) {
    throw ProtocolError(whose + " certificate is not valid before " +
                        day_of(X509_get0_notBefore(x.get())) +
                        ": set this machine's clock, or wait");
  }
}

}  // namespace sotto
