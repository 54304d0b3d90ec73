"""Mutation testing: small mistakes are put into the package, one at a time, and the tests must notice each.

    make mutants                                                every file that has tests
    make mutants ARGS="specdec_lab/engine/verify.py --show"     one file, and its survivors as they are found

Cosmic Ray (https://cosmic-ray.readthedocs.io) makes the mistakes. Its own way of running them starts Python for each, and torch
alone takes seconds to import. Here each mutant is a fork of a process that has imported all of that; only this package
is imported anew, with one file changed in memory. So nothing on the disk changes, and a mutant takes about a second.
(mutmut forks as well, but leaves properties and module level alone, and much of what counts here is a property.)
"""

import argparse
import contextlib
import gc
import importlib.machinery
import itertools
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from operators import Mutant, mutants
from table import files, tests_of

ROOT = Path(__file__).parents[2]
REAL = {"lab", "loaded_once", "writer", "written"}  # fixtures that load or save a model: not for each mutant
# Seconds of the processor: slower tests are left out, and of the others the slowest, until all take so long.
SLOW, ALL = 1.0, 10.0
PATIENCE = 2  # a mutant that takes so many times longer than all its tests hangs, which counts as noticed
ASLEEP = 180.0  # seconds by the clock, after which one that only waits is ended, too


class Chosen:
    """What runs, the quickest first, and what it took."""

    def __init__(self, seconds: dict[str, float] | None):
        self.seconds, self.took = seconds, defaultdict(float)

    def pytest_collection_modifyitems(self, items):
        if self.seconds is None:
            items[:] = [i for i in items if not REAL & set(i.fixturenames)]
        else:
            items[:] = sorted((i for i in items if i.nodeid in self.seconds), key=lambda i: self.seconds[i.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        begin = time.process_time()  # by the clock it would depend on what else the machine does
        done = yield
        self.took[item.nodeid] += time.process_time() - begin
        return done

    def pytest_runtest_logreport(self, report):
        self.took[report.nodeid] += float("inf") if report.failed else 0.0


def run(path: Path, source: str, tests: list[str], seconds: dict[str, float] | None) -> tuple[int, dict[str, float]]:
    """In a fork: the tests with `source` for what the file holds. Returns pytest's exit status and seconds a test."""
    get_code = importlib.machinery.SourceFileLoader.get_code

    def changed(self, name):
        if Path(self.path) != path:
            return get_code(self, name)
        return compile(source, self.path, "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.get_code = changed
    chosen = Chosen(seconds)
    if seconds is not None:
        most = int(5 + PATIENCE * sum(seconds.values()))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o", "tmp_path_retention_policy=none"]
    if seconds is not None:
        options.append("-x")
    with tempfile.TemporaryDirectory() as folder:
        status = pytest.main([*options, f"--basetemp={folder}/t", *tests], plugins=[chosen])
    return int(status), dict(chosen.took)


def forked(work, *args) -> tuple[int, int]:
    """(process id, where its answer can be read) of a fork that does `work`, and says nothing else."""
    out, into = os.pipe()
    pid = os.fork()
    if pid:
        os.close(into)
        return pid, out
    answer = None
    with contextlib.suppress(BaseException):
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        answer = work(*args)
    with os.fdopen(into, "w") as pipe:
        json.dump(answer, pipe)
    os._exit(0)


def answer_of(pid: int, out: int) -> tuple[int, dict[str, float]]:
    with os.fdopen(out) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text not in ("", "null") else (-1, {})


def survivors(path: Path, candidates: list[Mutant], tests: list[str], jobs: int, show: bool) -> list[Mutant]:
    """Those that no test notices."""
    unchanged = path.read_text(encoding="utf-8")
    status, seconds = answer_of(*forked(run, path, unchanged, tests, None))
    seconds = dict(sorted(seconds.items(), key=lambda item: item[1]))
    within = itertools.accumulate(seconds.values())
    quick = {test: took for (test, took), total in zip(seconds.items(), within) if took < SLOW and total < ALL}
    if status or answer_of(*forked(run, path, unchanged, tests, quick))[0]:
        failed = [test for test, took in seconds.items() if took == float("inf")]
        sys.exit(f"The tests of {path.relative_to(ROOT)} fail without any mutant: {failed}")
    found, todo, running = [], list(reversed(candidates)), {}
    while todo or running:
        while todo and len(running) < jobs:
            mutant = todo.pop()
            pid, out = forked(run, path, mutant.source, tests, quick)
            running[pid] = mutant, out, time.monotonic()
        for pid, (mutant, out, since) in list(running.items()):
            done, _ = os.waitpid(pid, os.WNOHANG)
            if not done and time.monotonic() - since < ASLEEP:
                continue
            if not done:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            with os.fdopen(out) as pipe:
                text = pipe.read() if done else ""
            del running[pid]
            if text and text != "null" and json.loads(text)[0] == 0:
                found.append(mutant)
                if show:
                    print(f"  {mutant.line}: {mutant.before}\n      {mutant.after}", flush=True)
        time.sleep(0.01)
    return sorted(found, key=lambda m: m.line)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="make mutants", description="Which small mistakes would the tests not notice?"
    )
    parser.add_argument(
        "files", nargs="*", default=files(), help="files of the packages (default: all that have tests)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth mutant, for a first look")
    parser.add_argument("--show", action="store_true", help="print survivors as they are found")
    args = parser.parse_args()
    if strange := [f for f in args.files if not tests_of(f)]:
        sys.exit(f"No test imports from {strange[0]}.")
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "exercises")]
    warm_up()
    total = Counter()
    for file in args.files:
        candidates = list(mutants(ROOT / file))[:: args.every]
        begin = time.monotonic()
        alive = survivors(ROOT / file, candidates, tests_of(file), args.jobs, args.show)
        n, killed = len(candidates), len(candidates) - len(alive)
        share = f"{killed:4} of {n:4} noticed ({100 * killed / max(1, n):5.1f} %)"
        print(f"{file:42} {share}, {time.monotonic() - begin:.0f} s", flush=True)
        for mutant in () if args.show else alive:
            print(f"  {mutant.line}: {mutant.before}\n      {mutant.after}")
        total.update(killed=killed, all=n)
    print(f"{total['killed']} of {total['all']} noticed ({100 * total['killed'] / max(1, total['all']):.1f} %)")


def warm_up() -> None:
    """Import all that is not this package, as its tests will need it."""
    import torch

    import specdec_lab.lab
    import specdec_lab.show.report  # noqa: F401

    torch.set_num_threads(1)
    for name in [name for name in sys.modules if name.split(".")[0] in ("specdec_lab", "specdec_grader")]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()  # each fork would look through all of this


if __name__ == "__main__":
    main()
