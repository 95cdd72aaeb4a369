"""A party in Python among real ones: the coordinator and the other members are sotto-federate's processes, on this machine, over TLS."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy
import pandas
import pytest
import sotto
from conftest import ROOT, _command
from sotto import Ledger, federated

sys.path.insert(0, str(ROOT / "tests/support"))
from free_port import free_port  # noqa: E402

pytest.importorskip("grpc", reason="PyPI's grpcio is not installed")
PROGRAM = Path(os.environ.get("SOTTO_FEDERATE", _command().with_name("sotto-federate"))).resolve()
HERE = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path[1:]))}  # for processes in other folders
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason=f"there is no {PROGRAM}: ./dev federated")
NAMES = ("north", "east", "south")
VALUES = {"north": 120.0, "east": 85.0, "south": 240.0}


class Round:
    """A folder with three members, their ledgers and a session; south is in Python."""

    def __init__(self, folder, **terms):
        self.folder = folder
        self.processes = []
        self.files = {name: federated.enroll(name, folder) for name in (*NAMES, "relay")}
        terms = {"most": 1000, "epsilon": 1, "delta": 1e-6, "deadline": 20, "title": "influenza", **terms}
        cards = [self.files[name].card for name in NAMES]
        make = federated.Session.of_mean if "bounds" in terms else federated.Session.of_sums
        self.session = make(cards, self.files["relay"].card, f"127.0.0.1:{free_port()}", **terms)
        self.session.save(folder / "session.json")
        size = self.session.sums[0]["size"]
        for name in NAMES:
            Ledger.create(folder / f"{name}.sotto", unit="patient", epsilon=2, delta=1e-5, relation=terms.get("relation", "add-remove"))
            (folder / f"{name}.txt").write_text(f"{VALUES[name]}\n" * size)

    def start(self, *words):
        log = open(self.folder / f"{words[0]}-{len(self.processes)}.err", "w")  # noqa: SIM115
        one = subprocess.Popen([PROGRAM, *map(str, words), "--format", "json"], cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True)
        self.processes.append(one)
        return one

    def others(self, names=("north", "east")):
        for name in names:
            federated.approve(self.session, self.files[name].key)
            self.start("party", "session.json", "--key", f"{name}.member.key", "--values", f"{name}.txt", "--ledger", f"{name}.sotto")

    def begin(self):
        self.start("coordinator", "session.json", "--key", "relay.member.key")
        self.others()
        federated.approve(self.session, self.files["south"].key)

    def ledger(self, name="south"):
        return Ledger(self.folder / f"{name}.sotto")

    def party(self, **options):
        return federated.Party(self.session, self.files["south"].key, **{"patience": 60, **options})

    def outputs(self):
        outputs = [one.communicate(timeout=60)[0] for one in self.processes]
        assert [one.returncode for one in self.processes] == [0] * len(self.processes)
        return [json.loads(text) for text in outputs]

    def stop(self):
        for one in self.processes:
            if one.poll() is None:
                one.kill()
            one.communicate()


@pytest.fixture
def rounds(tmp_path):
    all_rounds = []

    def make(**terms):
        folder = tmp_path / str(len(all_rounds))
        folder.mkdir()
        all_rounds.append(Round(folder, **terms))
        return all_rounds[-1]

    yield make
    for one in all_rounds:
        one.stop()


def test_all_members_have_the_same_bits_and_each_pays_once(rounds):
    one = rounds()
    one.begin()
    party = one.party()
    calls = []
    ledger = one.ledger()
    left = ledger.remaining
    sums = party.sum(VALUES["south"], ledger, progress=lambda what, share: calls.append((what, share)))
    assert ledger.remaining < left  # the object that was passed knows of the charge
    assert [output for output in one.outputs() if output != sums.to_dict()] == []
    assert sums.sums[0].members == list(NAMES) and sums.sums[0].missing == []
    assert sums.values[0] == pytest.approx(sum(VALUES.values()), abs=60)  # 11 standard deviations
    assert calls[-1][1] == 1 and any("waiting" in what for what, _ in calls)
    (entry,) = one.ledger().entries
    assert entry.title == "influenza" and sotto.Plan(entry.plan) == one.session.plan and sums.cost().upper <= 1
    again = party.sum(VALUES["south"], one.folder / "south.sotto")
    assert again.repeated and again.to_dict() == sums.to_dict() and len(one.ledger().entries) == 1
    assert "answered before" in repr(again) and "north, east, south" in str(again) and len(again.to_pandas()) == 1


AGES = {name: numpy.random.default_rng(i).gamma(9, 6, 4000) for i, name in enumerate(NAMES)}  # about 54, and a few above 100
MEAN = {"bounds": (0, 100), "most": 100_000}


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_mean_has_noise_for_what_one_unit_moves_on_the_count_as_on_the_sum(rounds, relation):
    one = rounds(**MEAN, relation=relation)
    for name in ("north", "east"):
        (one.folder / f"{name}.txt").write_text("".join(f"{age!r}\n" for age in AGES[name].tolist()))
    one.begin()
    party = one.party()
    with pytest.raises(sotto.InvalidValue, match=r"mean\(values, ledger\)"):
        party.sum(1, one.ledger())
    result = party.mean(AGES["south"], one.ledger())
    outputs = one.outputs()
    assert all(output == result.to_dict() for output in outputs)
    every = numpy.clip(numpy.concatenate(list(AGES.values())), 0, 100)
    noise = result.sums[0].noise
    assert one.session.sums[0]["sensitivity"] == pytest.approx(2**0.5 if relation == "replace-one" else 1)
    assert result.mean == pytest.approx(every.mean(), abs=6 * noise * 100 / len(every))  # where of_sums(size=2, sensitivity=100) was off by 40
    assert result.count == pytest.approx(len(every), abs=6 * noise * 2**0.5)
    low, high = result.interval
    assert low < result.mean < high and high - low == pytest.approx(2 * 1.96 * noise * 100 / len(every), rel=0.5)
    assert result.count_interval[0] < result.count < result.count_interval[1]
    assert result.cost().upper <= 1 and sotto.Plan(one.ledger().entries[0].plan) == one.session.plan and len(one.ledger().entries) == 1
    assert outputs[0]["sums"][0]["mean"]["value"] == result.mean and outputs[0]["sums"][0]["count"]["value"] == result.count
    assert len(result.to_pandas()) == 1 and "mean " in repr(result) and "count" in str(result) and "north, east, south" in repr(result)
    again = party.mean(AGES["south"], one.folder / "south.sotto")
    assert again.repeated and again.mean == result.mean and len(one.ledger().entries) == 1


def test_a_mean_is_refused_where_its_bounds_or_values_do_not_fit_before_anything_is_charged(rounds):
    one = rounds(bounds=(0, 100), most=3)
    cards = [one.files[name].card for name in NAMES]
    for bounds in ((100, 0), (0, 0), (0, float("inf")), (float("nan"), 1), (-1e308, 1e308), 100, "ab", (1, 2, 3), None):
        with pytest.raises(sotto.InvalidValue, match="bounds of a mean|bounds= must be a pair"):
            federated.Session.of_mean(cards, one.files["relay"].card, "127.0.0.1:1", bounds=bounds, most=10, epsilon=1, delta=1e-6)
    text = one.session.text()
    assert federated.Session.parse(text).bounds == (0, 100)
    for name, other in (("sensitivity", 0.5), ("bounds", [100, 0]), ("size", 3)):
        changed = re.sub(rf'"{name}":(\[[^\]]*\]|[^,}}]*)', f'"{name}":{json.dumps(other)}', text)
        assert changed != text
        with pytest.raises(sotto.ProtocolError, match="the session is invalid: "):
            federated.Session.parse(changed)
    federated.approve(one.session, one.files["south"].key)
    party = one.party()
    with pytest.raises(sotto.InvalidValue, match="more values than 3"):
        party.mean([1, 2, 3, 4], one.ledger())
    with pytest.raises(sotto.InvalidValue, match="value 2 is not a number"):
        party.mean([1, float("nan")], one.ledger())
    assert one.ledger().entries == []


def test_vectors_of_many_frames(rounds):
    one = rounds(size=300_000, rounds=2, epsilon=None, delta=None, sigma=100)
    one.begin()
    sums = one.party().sum(numpy.full((300, 1000), VALUES["south"], dtype="float32"), one.ledger())
    assert all(output == sums.to_dict() for output in one.outputs())
    assert len(sums.sums) == 2 and abs(sums.values.mean() - sum(VALUES.values())) < 2


SOUTH = """
import sys
from sotto import Ledger, federated
session = federated.Session.load("session.json")
party = federated.Party(session, "south.member.key", patience=60)
sums = party.sum([240.0] * session.sums[0]["size"], Ledger("south.sotto"), progress=lambda *how: print(*how, flush=True))
print(sums.text("json"), end="")
"""


def south(one):
    return subprocess.Popen([sys.executable, "-c", SOUTH], cwd=one.folder, env=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process, words):
    for line in process.stdout:
        if words in line:
            return
    pytest.fail(f"it ended before it said {words!r}: {process.stderr.read()}")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_party_that_is_stopped_goes_on_under_its_one_charge(rounds, how):
    one = rounds(rounds=12, size=1000, spare=4, epsilon=None, delta=None, sigma=200)
    one.begin()
    one.processes.append(south(one))
    for at in (1, 4, 8):
        wait_for(one.processes[-1], f"waiting for round {at}")
        stopped = one.processes.pop()
        stopped.send_signal(how)
        words = stopped.communicate(timeout=20)[1]
        assert stopped.returncode != 0 and (how == signal.SIGKILL or "KeyboardInterrupt" in words)
        one.processes.append(south(one))
    last = one.processes.pop()
    words, errors = last.communicate(timeout=60)
    assert last.returncode == 0, errors
    document = json.loads(words.splitlines()[-1])
    assert all(output == document for output in one.outputs())
    assert all(result["members"] == list(NAMES) for result in document["sums"])
    assert len(one.ledger().entries) == 1


def test_what_progress_raises_ends_the_party_and_nothing_is_lost(rounds):
    one = rounds()
    one.begin()

    def progress(what, share):
        raise LookupError("enough")

    party = one.party()
    with pytest.raises(LookupError, match="enough"):
        party.sum(VALUES["south"], one.ledger(), progress=progress)
    results = []
    elsewhere = threading.Thread(target=lambda: results.append(party.sum(VALUES["south"], one.ledger())))  # not only in the main thread
    elsewhere.start()
    elsewhere.join(60)
    assert all(output == results[0].to_dict() for output in one.outputs()) and len(one.ledger().entries) == 1


def test_who_has_not_agreed_takes_no_part_and_pays_nothing(rounds):
    one = rounds()
    with pytest.raises(sotto.NotApproved, match=r"south has not agreed to this session: call sotto.federated.approve\(session, key\) first"):
        one.party()
    assert one.ledger().entries == []
    with pytest.raises(sotto.ProtocolError, match="no member of the session has this key"):
        federated.approve(one.session, one.files["relay"].key)
    text = one.session.text().replace('"deadline": 20', '"deadline": 21').replace('"deadline":20', '"deadline":21')
    changed = federated.Session.parse(text)
    federated.approve(one.session, one.files["south"].key)
    with pytest.raises(sotto.NotApproved):  # another session, by one digit
        federated.Party(changed, one.files["south"].key)


def test_another_certificate_is_refused(rounds, tmp_path):
    one, other = rounds(), rounds()
    other.start("coordinator", "session.json", "--key", "relay.member.key")
    federated.approve(one.session, one.files["south"].key)
    with pytest.raises(sotto.RequestFailed, match="is not the coordinator of this session: its certificate is not the one in the session") as caught:
        one.party(address=other.session.coordinator).sum(VALUES["south"], one.ledger())
    assert isinstance(caught.value.__cause__, sotto.ProtocolError)
    # a member whose certificate the coordinator does not list gets no word of it
    key = json.loads((other.folder / "south.member.key").read_text())
    stranger = json.loads(federated.enroll("south", tmp_path).key.read_text())
    key["tls_key"], key["certificate"] = stranger["tls_key"], stranger["certificate"]
    (other.folder / "south.member.key").write_text(json.dumps(key))
    federated.approve(other.session, other.files["south"].key)
    with pytest.raises(sotto.RequestFailed, match="the connection to .* broke|does not answer") as caught:
        other.party(patience=1).sum(VALUES["south"], other.ledger())
    assert isinstance(caught.value.__cause__, sotto.LinkLost)


def test_the_coordinator_of_another_session_refuses(rounds):
    """Certificates as they should be, and a member that has agreed to something else."""
    one = rounds()
    other = federated.Session.parse(one.session.text().replace("influenza", "measles"))
    one.start("coordinator", "session.json", "--key", "relay.member.key")
    federated.approve(other, one.files["south"].key)
    with pytest.raises(sotto.RequestFailed) as caught:
        federated.Party(other, one.files["south"].key, patience=5).sum(VALUES["south"], one.ledger())
    assert isinstance(caught.value.__cause__, sotto.ProtocolError)


def test_what_is_wrong_costs_nothing(rounds):
    one = rounds()
    federated.approve(one.session, one.files["south"].key)
    for values, words in (([1, 2], "more numbers than the session sums"), (5000, "is not between -1000 and 1000"), ([], "a number is missing"), (numpy.nan, "is not between")):
        with pytest.raises(sotto.InvalidValue, match=words):
            one.party().sum(values, one.ledger())
    with pytest.raises(sotto.InvalidValue, match="leave out authority="):
        one.party(authority=one.folder / "ca.pem")
    with pytest.raises(sotto.ProtocolError, match="sums numbers at hand, and runs no study"):
        one.party().run(one.folder)
    (one.folder / "south.member.key").chmod(0o644)
    with pytest.raises(sotto.ProtocolError, match="other users may read the key"):
        one.party()
    assert one.ledger().entries == []
    costly = rounds(epsilon=3)
    federated.approve(costly.session, costly.files["south"].key)
    with pytest.raises(sotto.BudgetRefused, match="does not cover"):
        costly.party().sum(VALUES["south"], costly.ledger())
    assert costly.ledger().entries == []
    rich = Ledger.create(costly.folder / "rich.sotto", unit="patient", epsilon=4, delta=1e-5)
    with pytest.raises(sotto.RequestFailed, match="the connection to"):  # nobody is there: it is charged, and pays from now on
        costly.party(patience=0).sum(VALUES["south"], rich)
    with pytest.raises(RuntimeError, match="another ledger, .* pays for this session"):
        costly.party(patience=0).sum(VALUES["south"], costly.ledger())
    assert costly.ledger().entries == [] and len(rich.entries) == 1


def test_two_processes_cannot_be_one_member(rounds):
    one = rounds()
    federated.approve(one.session, one.files["south"].key)
    first = one.start("party", "session.json", "--key", "south.member.key", "--values", "south.txt", "--ledger", "south.sotto")
    while not list(one.folder.glob("south.member.sessions/*/ledger")):
        assert first.poll() is None
    with pytest.raises(RuntimeError, match="another process takes part in this session with this key"):
        one.party().sum(VALUES["south"], one.ledger())
    first.kill()
    first.communicate()
    one.processes.remove(first)
    Ledger.create(one.folder / "second.sotto", unit="patient", epsilon=2, delta=1e-5)
    with pytest.raises(RuntimeError, match="another ledger, .* pays for this session"):
        one.party().sum(VALUES["south"], Ledger(one.folder / "second.sotto"))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl command")
def test_certificates_of_an_authority(rounds):
    one = rounds(by_authority=True)
    federated.approve(one.session, one.files["south"].key)
    with pytest.raises(sotto.InvalidValue, match="with authority=, certificate= and private_key="):
        one.party()

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=one.folder, check=True, capture_output=True)

    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in ("good", "hostile"):
        openssl("req", "-x509", *curve, "-keyout", f"{name}.pem", "-out", f"{name}.crt", "-subj", f"/CN={name}", "-days", "9")
        openssl("req", *curve, "-keyout", f"{name}-end.pem", "-out", "end.csr", "-subj", "/CN=end")
        (one.folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", "end.csr", "-CA", f"{name}.crt", "-CAkey", f"{name}.pem", "-CAcreateserial", "-out", f"{name}-end.crt", "-days", "9", "-extfile", "names")
    files = ["--tls-ca", "good.crt", "--tls-cert", "good-end.crt", "--tls-key", "good-end.pem"]
    one.start("coordinator", "session.json", "--key", "relay.member.key", *files)

    def party(authority):
        return one.party(authority=one.folder / f"{authority}.crt", certificate=one.folder / "good-end.crt", private_key=one.folder / "good-end.pem")

    with pytest.raises(sotto.RequestFailed, match="is not the coordinator of this session"):
        party("hostile").sum(VALUES["south"], one.ledger())
    for name in ("north", "east"):
        federated.approve(one.session, one.files[name].key)
        one.start("party", "session.json", "--key", f"{name}.member.key", "--values", f"{name}.txt", "--ledger", f"{name}.sotto", *files)
    sums = party("good").sum(VALUES["south"], one.ledger())
    assert all(output == sums.to_dict() for output in one.outputs())


DATA = """
name = "patients"
version = "2026-01"
source = "../patients.csv"
records = "lines"
unit = "row"
ledger = "patients.sotto"
[columns.age]
type = "integer"
null = "drop"
bounds = [20, 80]
[columns.ward]
type = "text"
null = "drop"
values = ["heart", "lung"]
[columns.ill]
type = "boolean"
null = "drop"
"""
STUDY = """
title = "Three hospitals"
data = "patients"
[budget]
epsilon = 2
delta = 1e-7
[[query]]
name = "by ward"
ask = "count"
by = ["ward"]
share = 0.2
[[query]]
name = "age"
ask = "mean"
of = "age"
share = 0.2
[[train]]
name = "ill"
model = "logistic"
target = "ill"
units = 900
steps = 5
share = 0.6
"""


@pytest.mark.parametrize("rows_in", ["file", pytest.param("memory", marks=pytest.mark.slow)])
def test_a_study_has_the_same_answers_everywhere(tmp_path, duckdb_library, rows_in):
    if rows_in == "memory":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed: ./dev python slow")
    files = {}
    for name in (*NAMES, "relay"):
        (tmp_path / name / "catalogue").mkdir(parents=True)
        files[name] = federated.enroll(name, tmp_path / name)
    frames = {}
    for i, name in enumerate(NAMES):
        rows = pandas.DataFrame({"age": [20 + (i + 7 * j) % 60 for j in range(300)], "ward": ["heart" if j % 3 else "lung" for j in range(300)]})
        rows["ill"] = rows["age"] > 50
        frames[name] = rows
        if name != "south" or rows_in == "file":
            rows.to_csv(tmp_path / name / "patients.csv", index=False)
        (tmp_path / name / "catalogue/patients.data.toml").write_text(DATA)
        sotto.Session(tmp_path / name / "catalogue").create_ledger(epsilon=3, delta=1e-6)
    cards = [files[name].card for name in NAMES]
    session = federated.Session.of_study(cards, files["relay"].card, f"127.0.0.1:{free_port()}", STUDY, tmp_path / "north/catalogue", deadline=20)
    session.save(tmp_path / "session.json")
    commands = [[PROGRAM, "coordinator", "session.json", "--key", files["relay"].key]]
    for name in NAMES:
        assert "Three hospitals" in federated.approve(session, files[name].key, delta=1e-7)
    for name in ("north", "east"):
        commands.append([PROGRAM, "party", "session.json", "--key", files[name].key, "--catalogue", tmp_path / name / "catalogue", "--duckdb", duckdb_library, "--format", "json"])
    processes = [subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for words in commands]
    try:
        here = sotto.Session(tmp_path / "south/catalogue", duckdb=duckdb_library)
        party = federated.Party(session, files["south"].key, patience=60)
        assert "by ward" in party.cost(here) and "left" in party.cost(here)
        assert here.ledger().entries == []
        table = frames["south"] if rows_in == "memory" else None
        answers = party.run(here, table=table)
        outputs = [one.communicate(timeout=60)[0] for one in processes]
    finally:
        for one in processes:
            if one.poll() is None:
                one.kill()
    for output in outputs[1:]:
        assert json.loads(output)["answers"] == answers.to_dict()["answers"]
    assert len(answers.models) == 1 and answers["age"][0]["value"] == pytest.approx(49.5, abs=10)
    assert "Who answered, and what nobody could learn" in answers.report
    assert len(here.ledger().entries) == 1
    again = party.run(here, table=table)
    assert again.repeated and again.rows() == answers.rows()
    with pytest.raises(sotto.ProtocolError, match="study"):
        party.sum(1, here.ledger())


def test_grpc_is_loaded_by_a_party_alone():
    subprocess.run([sys.executable, "-c", "import sys, sotto.federated; sys.exit('grpc' in sys.modules)"], env=HERE, check=True)
