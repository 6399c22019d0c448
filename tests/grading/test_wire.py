"""Values cross as JSON and raw bytes, whole and unharmed; nothing else gets through."""

import socket
import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from hetlab.grading import wire

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters())
    | st.binary(max_size=50),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers() | st.booleans(), inner, max_size=4)
    ),
    max_leaves=12,
)
dtypes = (
    nps.integer_dtypes(endianness="?")
    | nps.unsigned_integer_dtypes()
    | nps.floating_dtypes(sizes=(16, 32, 64))
    | nps.complex_number_dtypes()
    | nps.boolean_dtypes()
    | nps.datetime64_dtypes()
)
arrays = dtypes.flatmap(lambda d: nps.arrays(d, nps.array_shapes(min_dims=0, min_side=0)))


def there_and_back(value):
    header, blobs = wire.encode(value)
    return wire.decode(header, memoryview(b"".join(blobs)))


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack(">d", a) == struct.pack(">d", b) or (a != a and b != b)
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@given(plain)
def test_plain_values_arrive_as_they_left(value):
    assert same(value, there_and_back(value))


@given(arrays)
def test_arrays_arrive_to_the_bit_and_can_be_written(value):
    got = there_and_back(value)
    assert type(got) is type(value) and got.dtype == value.dtype and got.shape == value.shape
    assert got.tobytes() == value.tobytes()
    assert got.flags.writeable


def test_views_and_structured_arrays_arrive():
    a = np.arange(24.0).reshape(4, 6)[::2, ::-3]
    assert np.array_equal(there_and_back(a), a)
    s = np.zeros(3, [("x", "f4"), ("y", "i8", (2,))])
    s["y"][1] = 7, 8
    assert there_and_back(s).tobytes() == s.tobytes()


class Grenade:
    def __reduce__(self):
        raise AssertionError("a value was pickled")

    def __repr__(self):
        raise RuntimeError("no repr either")


def test_a_value_that_cannot_cross_arrives_as_its_type_and_runs_nothing():
    got = there_and_back([Grenade(), np.array([object()]), (i for i in ())])
    assert [g.type for g in got] == ["Grenade", "ndarray", "generator"]


def test_a_list_inside_itself_ends():
    loop = []
    loop.append(loop)
    header, _ = wire.encode(loop)
    assert len(header) < 2000


@pytest.fixture
def pair():
    a, b = socket.socketpair()
    yield a, b
    a.close()
    b.close()


def test_a_large_message_crosses_a_socket(pair):
    big = np.arange(3_000_000)
    thread = threading.Thread(target=wire.send, args=(pair[0], big))
    thread.start()
    assert np.array_equal(wire.recv(pair[1], 30), big)
    thread.join()


def test_a_message_above_the_limit_is_refused_on_both_sides(pair):
    with pytest.raises(wire.TooLarge):
        wire.send(pair[0], np.zeros(1000), limit=100)
    pair[0].sendall(struct.pack(">QQ", 2**60, 0))
    with pytest.raises(wire.TooLarge):
        wire.recv(pair[1], 1)


def test_silence_is_a_time_out_and_a_hang_up_is_closed(pair):
    pair[0].sendall(b"\0" * 5)
    with pytest.raises(wire.TimedOut):
        wire.recv(pair[1], 0.05)
    pair[0].close()
    with pytest.raises(wire.Closed):
        wire.recv(pair[1], 1)


HOSTILE = {
    "no message": [b"", b"null", b"[]", b"{}", b"\xff", b'{"v": 1}', b'{"b": [], "v": [1]}'],
    "blobs that do not fit": [
        b'{"v": 1, "b": [5]}',
        b'{"v": 1, "b": [-1, 1]}',
        b'{"v": 1, "b": [true]}',
    ],
    "tags": [b'{"v": {"t": "list"}, "b": []}', b'{"v": {"x": 1}, "b": []}'],
    "an array without bytes": [
        b'{"v": {"t": "array", "d": "<f8", "s": [9], "n": null, "scalar": false}, "b": []}'
    ],
    "an array of objects": [
        b'{"v": {"t": "array", "d": "O", "s": [0], "n": null, "scalar": false}, "b": []}'
    ],
    "a negative shape": [
        b'{"v": {"t": "array", "d": "<f8", "s": [-1], "n": null, "scalar": false}, "b": []}'
    ],
    "deep": [b'{"v": ' + b"[" * 100_000 + b"]" * 100_000 + b', "b": []}'],
}


@pytest.mark.parametrize("text", [t for texts in HOSTILE.values() for t in texts], ids=repr)
def test_what_is_no_message_is_refused_as_a_whole(text):
    with pytest.raises(wire.Garbled):
        wire.decode(text, memoryview(b""))


def test_a_blob_is_handed_out_once():
    one = '{"t": "bytes", "n": 0}'
    text = '{"v": {"t": "list", "x": [' + f"{one}, {one}" + ']}, "b": [3]}'
    with pytest.raises(wire.Garbled):
        wire.decode(text.encode(), memoryview(b"abc"))


def test_an_integer_too_long_to_write_down_is_only_named():
    assert isinstance(there_and_back(1 << 400_000), wire.Opaque)


@given(st.binary(max_size=200), st.binary(max_size=20))
def test_any_bytes_are_a_message_or_garbled(text, body):
    try:
        wire.decode(text, memoryview(body))
    except wire.Garbled:
        pass


def test_a_header_above_its_own_limit_is_refused_before_it_is_read():
    here, there = socket.socketpair()
    with here, there:
        wire.send(here, "x" * 2000)
        with pytest.raises(wire.TooLarge):
            wire.recv(there, 1.0, limit=1 << 20, header=1000)
