"""JSON in and out, and the day a number was taken."""

from __future__ import annotations

import datetime
import json

from hetlab.errors import InvalidValue

__all__ = ["dump", "load", "now"]


def now() -> str:
    """This moment in UTC, to the second, in ISO 8601."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def dump(kind: str, data: dict) -> str:
    """JSON text with the kind of record in front."""
    return json.dumps({"hetlab": kind, **data}, ensure_ascii=False)


def load(kind: str, text: str | bytes) -> dict:
    """Read JSON text of one kind of record.

    Raises
    ------
    InvalidValue
        When the text is not JSON, or is another kind of record.
    """
    try:
        data = json.loads(text)
    except (TypeError, ValueError) as error:
        raise InvalidValue("text", f"the JSON of a {kind}", text, where=str(error)) from error
    if not isinstance(data, dict) or data.get("hetlab") != kind:
        found = data.get("hetlab", "no hetlab record") if isinstance(data, dict) else type(data)
        raise InvalidValue("text", f"the JSON of a {kind}", found)
    return {key: value for key, value in data.items() if key != "hetlab"}


def fields(kind: str, data: dict, names: tuple[str, ...]) -> list:
    """The named fields in order; InvalidValue names the first that is missing."""
    for name in names:
        if name not in data:
            raise InvalidValue(
                f"the JSON of a {kind}", f"a record with the field {name!r}", sorted(data)
            )
    return [data[name] for name in names]
