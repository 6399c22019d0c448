"""Cards on the PCI bus, which tell of a GPU even when its driver is missing."""

from __future__ import annotations

from hetlab.devices.sources import Sources

__all__ = ["PCI_AMD", "PCI_INTEL", "PCI_NVIDIA", "cards"]

# Vendor numbers of the PCI Special Interest Group.
PCI_AMD, PCI_INTEL, PCI_NVIDIA = "0x1002", "0x8086", "0x10de"
# Class codes: display controllers (VGA, 3D, other), and processing accelerators.
_CLASSES = ("0x03", "0x12")


def cards(sources: Sources, vendor: str) -> list[str] | None:
    """Addresses of a maker's display and accelerator cards.

    Returns
    -------
    list of str or None
        None when the bus cannot be read here, which is not the same as no card.
    """
    if not sources.exists("/sys/bus/pci/devices"):
        return None
    return [
        folder.name
        for folder in sources.glob("/sys/bus/pci/devices/*")
        if sources.read(folder / "vendor") == vendor
        and (sources.read(folder / "class") or "").startswith(_CLASSES)
    ]
