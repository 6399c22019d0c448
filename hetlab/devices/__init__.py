"""What is in this machine, what is not, and why."""

from hetlab.devices.cpu import Cpu, this_cpu

__all__ = ["Cpu", "this_cpu"]
