// A catalogue of data sets as a web site: maps an address to a page. A server calls it; it opens no
// connection itself.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sotto/ledger/ledger.hpp"
#include "study/api/data_file.hpp"

namespace sotto {

struct SitePage {
  std::string type;  ///< the media type
  std::string body;
  bool failed =
      false;  ///< the body is an error message: the address exists, but its content cannot be read
};

/// The facts that the pages contain about the program that serves them.
struct SiteOptions {
  std::string version;
  /// Returns a command that a person can type to verify the ledger at a place (a location without
  /// its password) against a head.
  std::function<std::string(const std::string& place, const Head& head)> verify_command;
};

/// A catalogue site is a read-only view of a catalogue and its ledgers. Nothing is cached: each
/// page reads the files and ledgers again.
class CatalogueSite {
 public:
  CatalogueSite(Catalogue catalogue, SiteOptions options)
      : catalogue_(std::move(catalogue)), options_(std::move(options)) {}

  /// Returns the page of an address, or nullopt for an address that is not listed here and for a
  /// data set, entry or answer that does not exist. An error while reading becomes a page with
  /// `failed` set.
  ///   /                              the catalogue
  ///   /data/NAME/                    a ledger; with the query "before=NUMBER" its entries below
  ///   NUMBER /data/NAME/ledger.json         the ledger's state as JSON /data/NAME/NUMBER/ the
  ///   report of the request that entry NUMBER charged /data/NAME/NUMBER/answer.json  the stored
  ///   answer of that request
  [[nodiscard]] std::optional<SitePage> page(const std::string& path,
                                             const std::string& query) const;

 private:
  Catalogue catalogue_;
  SiteOptions options_;
};

}  // namespace sotto
