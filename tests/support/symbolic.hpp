// The cryptography of a round on formal terms (the Dolev-Yao model), and what a coalition can
// compute from the bytes that it saw.
//
// In a message, a term is a token of 16 bytes, which is recognised by its first eight. Secrets are
// fresh symbols. A key, a share, a sealed message or a signature is a term over the terms that it
// was computed from. A vector is a linear form in the values of members, draws of noise, and mask
// streams.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "federated/api/primitives.hpp"
#include "federated/messages.hpp"

namespace sotto::testing {

using Id = std::uint32_t;
enum class Sort : std::uint8_t {
  secret,
  open,
  agreed_key,
  derived,
  hash,
  share,
  combined,
  sealed,
  signature,
  vector
};

/// A variable of a linear form.
struct Symbol {
  enum class Of : std::uint8_t { stream, value, noise } of;
  std::int64_t first;  // the key of a stream; else the member
  // the round of a value; the number of a draw of noise, which is unique over all rounds
  std::int64_t second;
  auto operator<=>(const Symbol&) const = default;
};
using Linear = std::map<Symbol, std::int64_t>;

struct Term {
  Sort sort;
  Id first = 0, second = 0;
  std::int64_t index = 0, threshold = 0;  // of a share
  Bytes text = {};
};

/// All terms of a test, with an id for each.
class Terms {
 public:
  Bytes token(Term term) {
    Bytes name = federated_detail::Writer()
                     .number(static_cast<std::uint64_t>(term.sort), 1)
                     .number(term.first, 4)
                     .number(term.second, 4)
                     .number(static_cast<std::uint64_t>(term.index))
                     .number(static_cast<std::uint64_t>(term.threshold))
                     .build();
    name += term.text;
    const auto [entry, is_new] = ids_.emplace(std::move(name), static_cast<Id>(terms_.size()));
    if (is_new) terms_.push_back(std::move(term));
    return token_of(entry->second);
  }
  Bytes fresh(Sort sort) { return token({sort, static_cast<Id>(++fresh_)}); }
  std::uint32_t next() { return ++fresh_; }

  [[nodiscard]] std::optional<Id> id(const Bytes& token) const {
    if (token.size() != size || token.compare(0, magic().size(), magic()) != 0) return std::nullopt;
    Id id = 0;
    std::memcpy(&id, token.data() + magic().size(), sizeof id);
    if (id >= terms_.size()) return std::nullopt;
    return id;
  }
  [[nodiscard]] const Term& operator[](Id id) const { return terms_[id]; }
  [[nodiscard]] std::size_t count() const { return terms_.size(); }
  /// Returns the term of a token. Throws ProtocolError for other bytes, or another sort.
  [[nodiscard]] Id require(const Bytes& token, std::optional<Sort> sort = {}) const {
    const auto id_of_token = id(token);
    if (!id_of_token || (sort && terms_[*id_of_token].sort != *sort))
      throw ProtocolError("these bytes are not what they should be");
    return *id_of_token;
  }

  Bytes vector(const Linear& form) {
    federated_detail::Writer writer;
    for (const auto& [symbol, count] : form) {
      if (count == 0) continue;
      writer.number(static_cast<std::uint64_t>(symbol.of), 1)
          .number(static_cast<std::uint64_t>(symbol.first));
      writer.number(static_cast<std::uint64_t>(symbol.second))
          .number(static_cast<std::uint64_t>(count));
    }
    return token({Sort::vector, 0, 0, 0, 0, writer.build()});
  }
  [[nodiscard]] Linear form(Id vector) const {
    Linear form;
    federated_detail::Reader reader(terms_[vector].text);
    while (!reader.is_at_end()) {
      const auto of = static_cast<Symbol::Of>(reader.number(1));
      const auto first = static_cast<std::int64_t>(reader.number());
      const auto second = static_cast<std::int64_t>(reader.number());
      form[{of, first, second}] = static_cast<std::int64_t>(reader.number());
    }
    return form;
  }

  /// Calls take(id) for every token within the bytes.
  template <class Take>
  void each(const Bytes& bytes, Take take) const {
    for (std::size_t at = bytes.find(magic()); at != Bytes::npos && at + size <= bytes.size();
         at = bytes.find(magic(), at + 1))
      take(require(bytes.substr(at, size)));
  }

 private:
  static constexpr std::size_t size = 16;
  static const Bytes& magic() {
    static const Bytes bytes("\x93sotto\xfe\x07", 8);
    return bytes;
  }
  static Bytes token_of(Id id) {
    Bytes bytes = magic();
    bytes.resize(size, '\xee');
    std::memcpy(bytes.data() + magic().size(), &id, sizeof id);
    return bytes;
  }

  std::vector<Term> terms_;
  std::unordered_map<Bytes, Id> ids_;
  std::uint32_t fresh_ = 0;
};

/// Returns the public signing key of an invented member.
inline std::string formal_key(std::int64_t member) {
  std::string digits = std::to_string(member);
  return std::string(64 - digits.size(), '0') + digits;
}

/// The primitives of a member on formal terms.
class FormalPrimitives : public Primitives {
 public:
  FormalPrimitives(Terms& terms, std::string key) : terms_(terms), key_(std::move(key)) {}

  Bytes make_secret() override { return terms_.fresh(Sort::secret); }
  Bytes public_key(const Bytes& secret) override {
    return terms_.token({Sort::open, terms_.require(secret)});
  }
  Bytes agree_key(const Bytes& secret, const Bytes& public_key,
                  const std::string& purpose) override {
    const Id own = terms_.require(secret);
    const Id other = terms_[terms_.require(public_key, Sort::open)].first;
    return terms_.token(
        {Sort::agreed_key, std::min(own, other), std::max(own, other), 0, 0, purpose});
  }
  Bytes derive_key(const Bytes& secret, const std::string& purpose) override {
    return terms_.token({Sort::derived, terms_.require(secret), 0, 0, 0, purpose});
  }
  Bytes hash(const Bytes& bytes) override { return terms_.token({Sort::hash, 0, 0, 0, 0, bytes}); }
  std::vector<Bytes> split(const Bytes& secret, std::int64_t threshold,
                           std::int64_t count) override {
    const Id polynomial = terms_.next();
    std::vector<Bytes> shares;
    for (std::int64_t i = 1; i <= count; ++i)
      shares.push_back(
          terms_.token({Sort::share, terms_.require(secret), polynomial, i, threshold}));
    return shares;
  }
  Bytes combine(std::span<const SecretShare> shares) override {
    std::set<std::int64_t> indices;
    std::set<std::pair<Id, Id>> polynomials;
    std::int64_t threshold = 0;
    Bytes all;
    for (const SecretShare& one : shares) {
      const Term& share = terms_[terms_.require(one.bytes)];
      if (share.sort == Sort::share && share.index == one.index) {
        indices.insert(share.index);
        polynomials.emplace(share.first, share.second);
        threshold = share.threshold;
      }
      all += one.bytes;
    }
    if (polynomials.size() == 1 && indices.size() == shares.size() &&
        static_cast<std::int64_t>(indices.size()) >= threshold) {
      return token_of(polynomials.begin()->first);
    }
    return terms_.token({Sort::combined, 0, 0, 0, 0, all});
  }
  Bytes seal(const Bytes& key, const Bytes& plain, const Bytes& context) override {
    return terms_.token(
        {Sort::sealed, terms_.require(key), terms_.require(hash(context)), 0, 0, plain});
  }
  std::optional<Bytes> unseal(const Bytes& key, const Bytes& sealed,
                              const Bytes& context) override {
    const auto id = terms_.id(sealed);
    if (!id || terms_[*id].sort != Sort::sealed || terms_[*id].first != terms_.require(key) ||
        terms_[*id].second != terms_.require(hash(context)))
      return {};
    return terms_[*id].text;
  }
  Bytes sign(const Bytes& message) override {
    return terms_.token({Sort::signature, 0, 0, 0, 0, key_ + message});
  }
  bool is_signed(const Bytes& message, const Bytes& signature,
                 const std::string& public_key) override {
    const auto id = terms_.id(signature);
    return id && terms_[*id].sort == Sort::signature && terms_[*id].text == public_key + message;
  }
  void mask(Bytes& vector, std::span<const SignedMask> masks) override {
    Linear form = terms_.form(terms_.require(vector, Sort::vector));
    for (const SignedMask& one : masks)
      form[{Symbol::Of::stream, terms_.require(one.key), 0}] += one.negative ? -1 : 1;
    vector = terms_.vector(form);
  }
  void add(Bytes& total, const Bytes& vector, std::int64_t) override {
    Linear form = terms_.form(terms_.require(vector, Sort::vector));
    if (!total.empty()) {
      for (const auto& [symbol, count] : terms_.form(terms_.require(total, Sort::vector)))
        form[symbol] += count;
    }
    total = terms_.vector(form);
  }

 protected:
  [[nodiscard]] Bytes token_of(Id id) {
    Term copy = terms_[id];
    return terms_.token(std::move(copy));
  }
  Terms& terms_;
  std::string key_;
};

/// The knowledge of a coalition of members and the coordinator: the terms in all bytes that they
/// saw, and those that follow by the rules of Dolev and Yao.
class Knowledge {
 public:
  explicit Knowledge(const Terms& terms) : terms_(terms) {}

  void see(const Bytes& bytes) {
    terms_.each(bytes, [&](Id id) { learn(id); });
  }

  [[nodiscard]] bool knows(Id id) const { return known_.contains(id); }
  /// Returns whether the coalition can compute a key: it knows the key, or one of its secrets.
  [[nodiscard]] bool has_key(Id id) const {
    const Term& term = terms_[id];
    if (knows(id)) return true;
    if (term.sort == Sort::agreed_key) return knows(term.first) || knows(term.second);
    return term.sort == Sort::derived && knows(term.first);
  }

  /// Opens messages with known keys and combines shares, until nothing new follows.
  void close() {
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < sealed_.size();) {
        if (!has_key(terms_[sealed_[i]].first)) {
          ++i;
          continue;
        }
        const Id open = sealed_[i];
        sealed_.erase(sealed_.begin() + static_cast<std::ptrdiff_t>(i));
        see(terms_[open].text);
        grows = true;
      }
      for (const auto& [polynomial, shares] : shares_) {
        if (static_cast<std::int64_t>(shares.first.size()) >= shares.second &&
            !knows(polynomial.first)) {
          learn(polynomial.first);
          grows = true;
          break;  // the map may have new elements
        }
      }
    }
  }

  /// Returns the vectors that the coalition saw, without the parts that it knows.
  template <class Knows>
  [[nodiscard]] std::vector<Linear> vectors(Knows knows_member) const {
    std::vector<Linear> combinations;
    for (const Id id : vectors_) {
      Linear rest;
      for (const auto& [symbol, count] : terms_.form(id)) {
        const bool is_known = symbol.of == Symbol::Of::stream
                                  ? has_key(static_cast<Id>(symbol.first))
                                  : knows_member(symbol.first);
        if (!is_known && count != 0) rest[symbol] = count;
      }
      if (!rest.empty()) combinations.push_back(std::move(rest));
    }
    return combinations;
  }

 private:
  void learn(Id id) {
    if (!known_.insert(id).second) return;
    const Term& term = terms_[id];
    if (term.sort == Sort::sealed) sealed_.push_back(id);
    if (term.sort == Sort::vector) vectors_.push_back(id);
    if (term.sort == Sort::share) {
      auto& [indices, threshold] = shares_[{term.first, term.second}];
      indices.insert(term.index);
      threshold = term.threshold;
    }
  }

  const Terms& terms_;
  std::set<Id> known_;
  std::vector<Id> sealed_, vectors_;
  std::map<std::pair<Id, Id>, std::pair<std::set<std::int64_t>, std::int64_t>> shares_;
};

/// The information of all linear combinations of vectors about a value. The vectors are A x + B n +
/// M m, with values x, independent standard normal noise n, and unknown uniform masks m. If x moves
/// along d, the best test has μ² = sup over λ with λM = 0 of (λAd)²/|λB|², which is infinite if a
/// combination has a value and no noise. A value with w noises has μ² = 1/w. Computed by
/// elimination in doubles, whose entries are small whole numbers.
class Residual {
 public:
  explicit Residual(const std::vector<Linear>& vectors) {
    std::map<Symbol, std::size_t> columns;  // streams, then noise, then values
    for (const Symbol::Of of : {Symbol::Of::stream, Symbol::Of::noise, Symbol::Of::value}) {
      for (const Linear& form : vectors) {
        for (const auto& [symbol, count] : form) {
          if (symbol.of == of && columns.emplace(symbol, columns.size()).second &&
              of == Symbol::Of::value)
            values_[symbol] = columns.size() - 1;
        }
      }
      (of == Symbol::Of::stream  ? streams_
       : of == Symbol::Of::noise ? noises_
                                 : all_) = columns.size();
    }
    std::vector<std::vector<double>> rows;
    for (const Linear& form : vectors) {
      rows.emplace_back(all_);
      for (const auto& [symbol, count] : form)
        rows.back()[columns[symbol]] = static_cast<double>(count);
    }
    const std::size_t masked = eliminate(rows, 0, 0, streams_);
    const std::size_t noisy = eliminate(rows, masked, streams_, noises_);
    noisy_.assign(rows.begin() + static_cast<std::ptrdiff_t>(masked),
                  rows.begin() + static_cast<std::ptrdiff_t>(noisy));
    bare_.assign(rows.begin() + static_cast<std::ptrdiff_t>(noisy), rows.end());
  }

  [[nodiscard]] const std::map<Symbol, std::size_t>& values() const { return values_; }
  /// Returns how many independent combinations have no mask.
  [[nodiscard]] std::size_t size() const { return noisy_.size(); }

  [[nodiscard]] double information(const std::vector<Symbol>& direction) const {
    const auto along = [&](const std::vector<double>& row) {
      double sum = 0;
      for (const Symbol& symbol : direction) sum += row[values_.at(symbol)];
      return sum;
    };
    for (const auto& row : bare_) {
      if (std::abs(along(row)) > 1e-9) return std::numeric_limits<double>::infinity();
    }
    // aᵀ (B Bᵀ)⁻¹ a by elimination of [B Bᵀ | a]
    const std::size_t n = noisy_.size();
    std::vector<std::vector<double>> system(n, std::vector<double>(n + 1));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = streams_; k < noises_; ++k)
          system[i][j] += noisy_[i][k] * noisy_[j][k];
      }
      system[i][n] = along(noisy_[i]);
    }
    std::vector<double> a(n);
    for (std::size_t i = 0; i < n; ++i) a[i] = system[i][n];
    double sum = 0;
    // positive definite: pivots on the diagonal, and μ² is the sum of z²/pivot
    for (std::size_t i = 0; i < n; ++i) {
      sum += system[i][n] * system[i][n] / system[i][i];
      for (std::size_t k = i + 1; k < n; ++k) {
        const double factor = system[k][i] / system[i][i];
        for (std::size_t j = i; j <= n; ++j) system[k][j] -= factor * system[i][j];
      }
    }
    return sum;
  }

 private:
  // Brings the rows from `row` on to echelon form in the columns [from, to). Returns the first row
  // without a pivot.
  static std::size_t eliminate(std::vector<std::vector<double>>& rows, std::size_t row,
                               std::size_t from, std::size_t to) {
    for (std::size_t column = from; column < to && row < rows.size(); ++column) {
      std::size_t best = row;
      for (std::size_t i = row; i < rows.size(); ++i) {
        if (std::abs(rows[i][column]) > std::abs(rows[best][column])) best = i;
      }
      if (std::abs(rows[best][column]) < 1e-9) continue;
      std::swap(rows[row], rows[best]);
      for (std::size_t i = row + 1; i < rows.size(); ++i) {
        const double factor = rows[i][column] / rows[row][column];
        if (factor == 0) continue;
        for (std::size_t j = column; j < rows[i].size(); ++j) rows[i][j] -= factor * rows[row][j];
        rows[i][column] = 0;
      }
      ++row;
    }
    return row;
  }

  std::size_t streams_ = 0, noises_ = 0, all_ = 0;
  std::map<Symbol, std::size_t> values_;
  std::vector<std::vector<double>> noisy_, bare_;
};

}  // namespace sotto::testing
