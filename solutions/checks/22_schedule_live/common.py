"""Checks of lesson 22, schedule live.

Specifications follow the definition, slowly.  The last task runs in virtual time on machines that
go wrong; what really runs in the notebook never scores.
"""


def drawn_devices(rng, count):
    """Devices with what they still have to do, and how fast they were last seen."""
    speeds = (1.0, 0.5, 0.25)
    return {
        f"d{i}": {"free": int(rng.integers(0, 20)), "speed": speeds[int(rng.integers(3))]}
        for i in range(count)
    }


def drawn_costs(rng, tasks, devices, missing=0.15):
    """Seconds of each task on the devices that can run it; the first can run all."""
    found = {}
    for i in range(tasks):
        able = [d for n, d in enumerate(devices) if n == 0 or rng.random() > missing]
        found[f"t{i}"] = {d: int(rng.integers(1, 30)) for d in able}
    return found
