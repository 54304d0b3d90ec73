"""The numbers of shards, where several processes write into one folder and some of them die."""

import os
import platform
import subprocess
import sys
import time

from specdec_lab.train.shards import DAY, file_of, read_shards, reserve, work_folder

# Takes 40 numbers as soon as it is told to, and stays alive until its input ends.
WRITER = """
import pathlib, shutil, sys, time
from specdec_lab.train.shards import file_of, reserve, work_folder
folder, taken = pathlib.Path(sys.argv[1]), []
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    taken.append(reserve(folder))
    time.sleep(0.001)
    file_of(folder, taken[-1], "text").touch()
    shutil.rmtree(work_folder(folder, taken[-1]))
print(*taken, flush=True)
sys.stdin.readline()
"""


def test_no_two_writers_take_the_same_number(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen(command, **pipes) for _ in range(3)]
    try:
        assert [w.stdout.readline() for w in writers] == ["ready\n"] * 3
        for w in writers:
            w.stdin.write("go\n")
            w.stdin.flush()
        taken = [int(n) for w in writers for n in w.stdout.readline().split()]
    finally:
        for w in writers:
            w.communicate()
    assert len(taken) == len(set(taken)) == 120
    assert len(list(tmp_path.iterdir())) == 120  # no mark is left


def test_a_killed_writer_blocks_nothing(tmp_path):
    """Neither its number, nor the reading of the folder; and its half-written files are gone."""
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    mark = tmp_path / f"unfinished-0000.{platform.node()}.{sleeper.pid}"
    mark.mkdir()
    file_of(mark, 0, "last").write_bytes(b"half")
    assert reserve(tmp_path) == 1
    assert mark.exists()
    sleeper.kill()
    sleeper.wait()
    assert read_shards(tmp_path) == []
    assert reserve(tmp_path) == 0
    assert not mark.exists()


def test_a_writer_on_another_machine_is_believed_for_a_day(tmp_path):
    mark = tmp_path / f"unfinished-0000.elsewhere.example.{os.getpid()}"
    mark.mkdir()
    assert reserve(tmp_path) == 1
    os.utime(mark, (time.time() - DAY - 60,) * 2)
    assert reserve(tmp_path) == 0


def test_a_written_number_is_not_taken_again(tmp_path):
    """Not even by the process that a restarted container gives the same id."""
    left = work_folder(tmp_path, 0)
    left.mkdir()
    file_of(left, 0, "last").write_bytes(b"half")
    assert reserve(tmp_path) == 0
    file_of(tmp_path, 0, "text").touch()
    assert reserve(tmp_path) == 1
    assert not left.exists()
