"""The recorded rounds of the site's gallery: whole, exact, and small enough."""

from itertools import chain

import pages

pages.builder()  # so that its neighbours can be imported

import gallery  # noqa: E402


def test_what_is_recorded_is_whole_exact_and_small():
    """Every text has all arms; greedy ones write plain decoding's text; each round and token has its time."""
    found = gallery.recorded()
    named = gallery.traces(found)
    assert found["hardware"] and len(found["texts"]) >= 12
    assert set(named) == {f"{text}-{arm}" for text in found["texts"] for arm in gallery.arms(found)}
    for temperature in "01":
        assert {f"eagle-{gamma}-{temperature}" for gamma in (1, 2, 4, 8)} <= set(gallery.arms(found))
    for name, trace in named.items():
        plain, rounds = trace["plain"], trace["rounds"]
        assert len(plain["tokens"]) == len(plain["seconds"]) <= found["tokens"] >= 16, name
        assert len(rounds) == len(trace["seconds"]) and min(trace["seconds"] + plain["seconds"]) > 0, name
        kept = [[d["text"] for d in r["drafted"] if d["status"] == "accepted"] for r in rounds]
        own = [[r["emitted"]["text"]] if r["emitted"] else [] for r in rounds]
        if name.endswith("-0"):
            assert [text for texts in zip(kept, own) for text in chain(*texts)] == plain["tokens"], name
        else:
            assert all(0 <= d["u"] < 1 for r in rounds for d in r["drafted"]), name
    statuses = {d["status"] for trace in named.values() for r in trace["rounds"] for d in r["drafted"]}
    assert statuses == {"accepted", "rejected", "discarded"}
    assert gallery.RECORDED.stat().st_size <= 700_000


def test_a_recorded_text_can_be_made_again(lab):
    """The same rounds, token for token: these were not written by hand."""
    import record_rounds

    text = gallery.recorded()["texts"]["copying"]
    assert text["prompt"] == record_rounds.TEXTS["copying"]
    recorded = text["temperatures"]["0"]["traces"]["lookup-4"]["rounds"]
    again = lab.speculative(text["prompt"], "lookup", gamma=4, max_new_tokens=record_rounds.TOKENS)
    assert [[d["id"] for d in r["drafted"]] for r in recorded] == [[d.id for d in r.drafted] for r in again.rounds]
