"""A line that says what a cell waits for."""

from time import sleep

from specdec_lab.show import progress_line


def test_a_line_behind_with_counts_the_seconds_until_its_cell_has_ended(monkeypatch):
    said, line, cell = [], progress_line.OneLine("Loading …"), type("Shell", (), {"execution_count": 1})
    line._shell, line._show = cell, said.append
    monkeypatch.setattr(progress_line, "TICK", 0.02)
    with line:
        sleep(0.2)
        cell.execution_count, counted = 2, len(said)
        sleep(0.2)
    assert said[:2] == ["Loading …", "Loading … (0 s)"] and len(said) <= counted + 1
