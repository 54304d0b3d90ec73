"""What a pass costs: before lesson 01, and in it."""

from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers
from specdec_lab.formats import short


@fresh_numbers(millions=(100, 300, 500, 700), bytes_each=(2, 4), reads=(50, 100, 200))
def reading_time(millions: int, bytes_each: int, reads: int) -> Problem:
    ms = millions * bytes_each / reads
    return Problem(ms,
        f"A model has {millions} million weights, each stored in {bytes_each} bytes. The memory gives {reads} GB/s. How long "
        "does it take to read all the weights once?",
        f"{millions} million · {bytes_each} bytes = {millions * bytes_each} MB, and {millions * bytes_each} MB / {reads} GB/s = {short(ms)} ms.",
        Mistake(f"Here each weight would be one byte; it is stored in {bytes_each}.", ms / bytes_each),
        Mistake("GB are gigabytes, not gigabits: there is no 8 in it.", 8 * ms),
        Mistake("A million bytes at a thousand million bytes a second is a thousandth of a second.", 1000 * ms),
        Mistake("This is in seconds; the answer is asked in thousandths of a second.", ms / 1000), unit="ms")  # fmt: skip


@fresh_numbers(megabytes=(200, 400, 600, 1000), reads=(50, 100, 200), computes=(2, 4, 8), k=(5, 10, 20, 40, 80))
def pass_time(megabytes: int, reads: int, computes: int, k: int) -> Problem:
    operations = megabytes / 1000  # GFLOP: two operations for each weight of two bytes
    reading, computing = megabytes / reads, k * operations / computes
    longer, other = ("reading", computing) if reading > computing else ("computing", reading)
    return Problem(max(reading, computing),
        f"A model has {megabytes} MB of weights and needs {operations:g} GFLOP for each new token. The machine reads "
        f"{reads} GB/s and computes {1000 * computes} GFLOP/s, both at the same time. How long is a pass over {k} new tokens, at least?",
        f"Reading: {megabytes} MB / {reads} GB/s = {short(reading)} ms, once for the pass. Computing: {k} · {operations:g} / "
        f"{1000 * computes} s = {short(computing)} ms. They overlap, so the longer one counts: {short(max(reading, computing))} ms.",
        Mistake("Here every token reads the weights for itself; one reading serves the whole pass.", k * reading),
        Mistake("This is the sum. The machine reads and computes at the same time.", reading + computing),
        Mistake(f"This is the shorter of the two times; here {longer} takes longer.", other), unit="ms")  # fmt: skip


@fresh_numbers(reading=(3, 6, 12, 24), computing=(0.2, 0.3, 0.5, 0.6, 1.5))
def bend(reading: float, computing: float) -> Problem:
    k = reading / computing
    return Problem(k,
        f"Reading the weights takes {reading} ms for each pass, and computing takes {computing} ms for each new token. "
        "At how many new tokens are the two equal?",
        f"k · {computing} ms = {reading} ms at k = {reading} / {computing} = {short(k)}. Beyond it, each token is paid for.",
        Mistake("There the computing takes twice as long as the reading; they are equal before.", 2 * k),
        Mistake("This is upside down: it is the share of the reading that one token can fill.", 1 / k),
        Mistake("A product of two times is not a number of tokens.", reading * computing), unit="tokens")  # fmt: skip
