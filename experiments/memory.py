"""Peak memory of a run, as the operating system counts it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["peak_memory_mib", "reset_peak_memory"]

CLEAR = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")

RESET_PEAK = "5"
"""What Linux takes, since 4.0, for setting the peak to the present size [proc(5), clear_refs]."""

KIB_PER_MIB = 1024.0


def reset_peak_memory() -> bool:
    """Set this process's peak to its present size; return whether the system can."""
    try:
        CLEAR.write_text(RESET_PEAK, encoding="ascii")
    except OSError:
        return False
    return True


def peak_memory_mib() -> float | None:
    """Return the largest resident size of this process since the last reset, in MiB.

    Returns
    -------
    float or None
        None where the system does not tell it (only Linux does).
    """
    try:
        lines = STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    peaks = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(peaks[0]) / KIB_PER_MIB if peaks else None
