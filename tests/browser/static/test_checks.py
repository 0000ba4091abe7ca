"""The player's own check of the cards: digests, commitments, what counts as a match."""

import hashlib

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("length", [0, 1, 3, 54, 55, 56, 63, 64, 65, 119, 120, 128, 1000])
def test_the_own_digest_is_the_browsers_and_the_standards(run, length):
    text = ("aé札" * length)[:length]
    body = """
      const bytes = new TextEncoder().encode(arg);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      const browser = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
      return [m.sha256Bytes(bytes), browser, await m.sha256(arg)];
    """
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert run("sha256.js", body, text) == [expected] * 3


def test_the_check_works_without_the_browsers_own_digest(run):
    body = """
      Object.defineProperty(crypto, "subtle", {value: undefined});
      return m.sha256("abc");
    """
    assert run("sha256.js", body) == hashlib.sha256(b"abc").hexdigest()


def commitment(position, index, card, serial, nonce="00ff", round_id="T1-1-1"):
    text = f"{nonce}|{round_id}|{position}|{index}|{card}|{serial}"
    promised = hashlib.sha256(text.encode()).hexdigest()
    place = {"position": position, "index": index}
    return (
        {**place, "commitment": promised},
        {**place, "card": card, "serial": serial, "nonce": nonce},
    )


CHECK = "const rows = await m.checkRound(arg); return m.countRows(rows);"


def checked(run, commitments, reveals):
    round_ = {"id": "T1-1-1", "commitments": commitments, "reveals": reveals}
    return run("commitment.js", CHECK, round_)


def test_cards_that_were_promised_match(run):
    pairs = [commitment("burn", 0, "2C", 7), commitment("P1", 0, "TS", 10)]
    answer = checked(run, [one for one, _ in pairs], [two for _, two in pairs])
    assert answer == {"match": 2, "differs": 0, "sealed": 0, "total": 2}


@pytest.mark.parametrize(
    "change", [{"card": "TH"}, {"serial": 11}, {"nonce": "00fe"}, {"card": "ts"}]
)
def test_a_card_that_was_not_promised_differs(run, change):
    promise, reveal = commitment("P1", 0, "TS", 10)
    answer = checked(run, [promise], [{**reveal, **change}])
    assert answer == {"match": 0, "differs": 1, "sealed": 0, "total": 1}


def test_a_card_laid_in_another_place_than_promised_differs(run):
    promise, reveal = commitment("P1", 0, "TS", 10)
    answer = checked(run, [promise], [{**reveal, "position": "P2"}])
    assert answer == {"match": 0, "differs": 1, "sealed": 1, "total": 2}


def test_a_card_that_is_not_open_yet_is_sealed_and_no_fault(run):
    promise, _ = commitment("P1", 0, "TS", 10)
    assert checked(run, [promise], []) == {"match": 0, "differs": 0, "sealed": 1, "total": 1}


def test_the_copied_proof_can_be_repeated_elsewhere(run):
    promise, reveal = commitment("P1", 0, "TS", 10)
    body = """
      const { checkRound } = await import("/js/commitment.js");
      return m.proofText(await checkRound(arg), arg.id);
    """
    round_ = {"id": "T1-1-1", "commitments": [promise], "reveals": [reveal]}
    digest, _, text = run("verify.js", body, round_).splitlines()[-1].partition("  ")
    assert hashlib.sha256(text.encode()).hexdigest() == digest == promise["commitment"]
