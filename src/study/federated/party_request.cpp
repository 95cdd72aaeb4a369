#include "study/federated/party_request.hpp"

#include "ledger/api/checkpoint.hpp"

namespace sotto::study_detail {
namespace {

class MarkedStore final : public MemberStore {
 public:
  MarkedStore(CheckpointFile& file, const Begin& begin) : file_(file), begin_(begin), kept_(file.read()) {}
  void keep(const Bytes& state) override {
    if (kept_)
      file_.write(state);
    else
      begin_(file_.prepare(state));
    kept_ = state;
  }
  std::optional<Bytes> kept() override { return kept_; }

 private:
  CheckpointFile& file_;
  const Begin& begin_;
  std::optional<Bytes> kept_;
};

}  // namespace

RequestAnswer run_party(Ledger& ledger, const PartySide& side, const PartyRequest& request) {
  const std::filesystem::path& folder = side.asking.checkpoints;
  const std::string text = to_text(side.agreed.session);
  const Ledger::Order order{.request = digest("federated\n" + text + ledger.id()),
                            .content = digest(text),
                            .event = request.event,
                            .at = request.at,
                            .title = side.agreed.session.title};
  if (request.refuse && !ledger.charge_of(order.request)) request.refuse();
  RequestWork work;
  work.prepare = [&] {
    if (folder.empty()) throw LedgerError("a party of a session needs a folder for its checkpoints");
    CheckpointFile::require_place(ledger, folder);
    if (request.prepare) request.prepare();
  };
  work.run = [&](const Entry& charge, const Begin& begin) {
    CheckpointFile file(ledger, folder, charge.request);
    MarkedStore store(file, begin);
    return request.run(charge, store);
  };
  work.obstacle = [&](const std::string& id) { return CheckpointFile::obstacle(ledger, folder, id); };
  const RequestAnswer found = run_request(ledger, order, work);
  if (!found.repeated) CheckpointFile::remove(folder, found.request);
  return found;
}

void take_part_in(const PartySide& side, MemberStore& store, MemberWork& work) {
  take_part({side.agreed, side.self, side.primitives, side.connect, side.told, side.patience}, store, work);
}

}  // namespace sotto::study_detail
