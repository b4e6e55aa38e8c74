import sys

import numpy as np
import pytest

from experiments import memory
from experiments.memory import peak_memory_mib, reset_peak_memory

MIB = 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process its peak")
def test_the_peak_is_seen_and_can_be_reset():
    assert reset_peak_memory()
    before = peak_memory_mib()
    block = np.ones(64 * MIB, dtype=np.uint8)
    del block
    assert peak_memory_mib() >= before + 60
    assert reset_peak_memory()
    assert peak_memory_mib() < before + 30


def test_a_system_that_does_not_tell_gives_none(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "CLEAR", tmp_path / "no" / "clear_refs")
    monkeypatch.setattr(memory, "STATUS", tmp_path / "status")
    assert not reset_peak_memory()
    assert peak_memory_mib() is None
    (tmp_path / "status").write_text("Name: python\nVmHWM:\t    2048 kB\n")
    assert peak_memory_mib() == 2.0
