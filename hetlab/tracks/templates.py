"""The texts that hetlab writes into other people's folders, kept as files under ``templates/``."""

from __future__ import annotations

import re
from importlib.resources import files

from ..errors import UnknownName

__all__ = ["filled", "template"]

_FIELD = re.compile(r"\{\{(\w+)\}\}")


def template(name: str) -> str:
    """The text of the template of that name, a path under ``templates/``."""
    return files(__package__).joinpath("templates", *name.split("/")).read_text(encoding="utf-8")


def filled(text: str, values: dict[str, str]) -> str:
    """Put values in the places written ``{{key}}``."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in values:
            raise UnknownName("value for the template field", found[1], values)
        return values[found[1]]

    return _FIELD.sub(value, text)
