"""No notebook earns a point above its honest score, leaves anything behind, or goes unseen."""

import os
import socket
import sys
from pathlib import Path

import pytest

import hetlab
from hetlab.grading.tiers import TIERS, probe

from .attacks import channel, clock, kernels, machine, shell, values
from .sandbox_tasks import graded, leftovers

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
ATTACKS = {
    attack.name: attack
    for module in (values, channel, machine, clock, shell, kernels)
    for attack in module.ATTACKS
}
SECRET = "def double(x): return 2 * x  # hetlab_attack_secret"
# These run in the weaker tiers as well in every test run; all others do so in the soak.
EVERYWHERE = [
    "an object that equals everything",
    "hetlab's judge is replaced",
    "the answers of a check are forged from within the call",
    "every clock is replaced",
    "counters are forged",
]


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """A folder with secrets beside the sandbox, and a port that listens."""
    folder = tmp_path_factory.mktemp("outside")
    folder.chmod(0o777)
    (folder / "canary").write_text("unchanged")
    (folder / "secret_checks.py").write_text(SECRET)
    (folder / "checks").mkdir()
    (folder / "checks" / "01_x.py").write_text(SECRET)
    for file in folder.rglob("*"):
        file.chmod(0o777)
    with socket.socket() as server, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        datagrams.bind(server.getsockname())
        datagrams.setblocking(False)
        yield folder, server, datagrams


def hold(attack, tier, outside):
    """Run an attack and look at everything that it must not have done."""
    folder, server, datagrams = outside
    places = {"outside": folder, "port": server.getsockname()[1], "parent": os.getpid()}
    places["track"] = Path(__file__).parents[2]
    before = _files(folder)
    os.environ["HETLAB_ATTACK_SECRET"] = "hetlab_attack_secret"
    try:
        got = graded(attack.cells(**places), attack.checks, tier=tier)
    finally:
        del os.environ["HETLAB_ATTACK_SECRET"]
    assert got.points <= attack.honest or (attack.leaks and tier != "bubblewrap"), got
    assert len(got.verdicts) == len(attack.checks) and got.sandbox == tier
    assert all(v.status != "error" for v in got.verdicts), got
    assert attack.quiet or got.incidents, "nothing was reported"
    assert attack.fails or not got.notes, "the attack itself does not run"
    assert not leftovers()
    if tier == "bubblewrap":
        assert _files(folder) == before
        for listening in (server, datagrams):
            with pytest.raises(BlockingIOError):
                listening.accept() if listening is server else listening.recv(9)
    return got


def _files(folder):
    found = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    places = [Path(p) for p in ("/tmp", "/var/tmp", "/dev/shm", "/", "/root", sys.prefix)]
    places += [Path(hetlab.__file__).parent / "grading"]
    for place in places:
        found |= dict.fromkeys(place.glob("*hetlab_attack*")) if os.access(place, os.R_OK) else {}
    own = Path(hetlab.__file__).parent / "grading" / "judge.py"
    return found | {own: own.read_bytes()}


def test_there_are_at_least_45_of_them():
    assert len(ATTACKS) >= 45


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_earns_nothing_and_leaves_nothing(name, outside):
    """In the strongest tier that this machine has."""
    if ATTACKS[name].harmful and not probe().strong:
        pytest.skip("needs bubblewrap: it would harm this machine")
    hold(ATTACKS[name], probe().name, outside)


@pytest.mark.parametrize("tier", TIERS[1:])
@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_weak_tier_gives_no_points_away_either(name, tier, outside):
    hold(ATTACKS[name], tier, outside)


@pytest.mark.soak
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", [n for n, a in ATTACKS.items() if not a.harmful])
def test_every_attack_in_every_tier(name, tier, outside):
    """Those that would harm the machine itself run in bubblewrap only."""
    if TIERS.index(tier) < TIERS.index(probe().name):
        pytest.skip(f"{tier} does not work here")
    hold(ATTACKS[name], tier, outside)
