// Runs a party in a session as a request of its ledger: charge, rounds with checkpoints, answer.
#include "study/federated/party_request.hpp"

#include "ledger/api/checkpoint.hpp"

namespace sotto::study_detail {
namespace {

class MarkedStore final : public MemberStore {
 public:
  MarkedStore(CheckpointFile& file, const BeginMark& begin)
      : file_(file), begin_(begin), kept_(file.read()) {}
  void keep(const Bytes& state) override {
    if (kept_)
      file_.write(state);
    else
      begin_(file_.prepare(state));
    kept_ = state;
  }
  std::optional<Bytes> last_state() override { return kept_; }

 private:
  CheckpointFile& file_;
  const BeginMark& begin_;
  std::optional<Bytes> kept_;
};

}  // namespace

RequestAnswer run_party(Ledger& ledger, const PartySide& side, const PartyRequest& request) {
  const std::filesystem::path& folder = side.options.checkpoints;
  const std::string text = to_text(side.context.session);
  const Ledger::ChargeRequest order{.request = digest("federated\n" + text + ledger.id()),
                                    .content = digest(text),
                                    .event = request.event,
                                    .at = request.at,
                                    .title = side.context.session.title};
  if (request.refuse && !ledger.charge_of(order.request)) request.refuse();
  RequestWork work;
  work.prepare = [&] {
    if (folder.empty())
      throw LedgerError("a party of a session needs a folder for its checkpoints");
    CheckpointFile::require_folder(ledger, folder);
    if (request.prepare) request.prepare();
  };
  work.run = [&](const Entry& charge, const BeginMark& begin) {
    CheckpointFile file(ledger, folder, charge.request);
    MarkedStore store(file, begin);
    return request.run(charge, store);
  };
  work.obstacle = [&](const std::string& id) {
    return CheckpointFile::obstacle(ledger, folder, id);
  };
  const RequestAnswer result = run_request(ledger, order, work);
  CheckpointFile::remove(
      folder, result.request);  // a run that was killed after it kept its answer may have left one
  return result;
}

void take_part_in(const PartySide& side, MemberStore& store, MemberWork& work) {
  take_part(
      {side.context, side.self, side.primitives, side.connect, side.on_progress, side.patience},
      store, work);
}

}  // namespace sotto::study_detail
