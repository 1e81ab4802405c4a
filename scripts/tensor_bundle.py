"""Reads the variables of a TensorFlow SavedModel, and writes safetensors, with Python's standard library alone.

A tensor bundle is variables.index, a table in LevelDB's format (sorted keys in blocks, each key without what it shares
with the one before) from names to messages of protocol buffers, and variables.data-00000-of-00001, where the bytes lie
as the messages say: https://www.tensorflow.org/guide/saved_model,
https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

import array
import json
import struct
import sys

TABLE_MAGIC = 0xDB4775248B80FB57
FOOTER_BYTES = 48
DT_FLOAT = 1


def varint(data, at):
    """The number at `at` and where the next one begins."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def block(data, offset, size):
    """Keys and values of one block of a table."""
    if data[offset + size] != 0:
        raise ValueError("a compressed block in variables.index")
    restarts = struct.unpack_from("<I", data, offset + size - 4)[0]
    at, end, key = offset, offset + size - 4 * (restarts + 1), b""
    while at < end:
        shared, at = varint(data, at)
        unshared, at = varint(data, at)
        length, at = varint(data, at)
        key = key[:shared] + data[at:at + unshared]
        at += unshared
        yield key, data[at:at + length]
        at += length


def table(data):
    """All keys and values of a table."""
    footer = len(data) - FOOTER_BYTES
    if footer < 0 or struct.unpack_from("<Q", data, footer + 40)[0] != TABLE_MAGIC:
        raise ValueError("variables.index is no table of LevelDB's format")
    _, at = varint(data, footer)  # where the index of other things lies
    _, at = varint(data, at)
    offset, at = varint(data, at)
    size, at = varint(data, at)
    for _, handle in block(data, offset, size):
        inner, at = varint(handle, 0)
        inner_size, _ = varint(handle, at)
        yield from block(data, inner, inner_size)


def fields(message):
    """Numbers and values of a message of protocol buffers."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(message, at)
        elif kind == 2:
            length, at = varint(message, at)
            value, at = message[at:at + length], at + length
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
            value, at = message[at:at + length], at + length
        else:
            raise ValueError(f"a field of kind {kind} in variables.index")
        yield tag >> 3, value


def variables(index):
    """{name: (shape, offset, size)} of the float32 variables; `index` is the bytes of variables.index."""
    found = {}
    for key, value in table(index):
        if not key:
            continue  # the bundle's own header
        dtype, shape, offset, size = 0, [], 0, 0
        for number, field in fields(value):
            if number == 1:
                dtype = field
            elif number == 2:
                shape = [dict(fields(dim)).get(1, 0) for which, dim in fields(field) if which == 2]
            elif number == 4:
                offset = field
            elif number == 5:
                size = field
        if dtype == DT_FLOAT:
            found[key.decode()] = (shape, offset, size)
    return found


def transposed(data, rows, columns):
    """The bytes of a float32 matrix [rows, columns] as [columns, rows]."""
    source = array.array("f")
    source.frombytes(data)
    result = array.array("f", bytes(len(data)))
    for row in range(rows):
        result[row::rows] = source[row * columns:(row + 1) * columns]
    return result.tobytes()


def write_safetensors(path, tensors):
    """`tensors` are (name, shape, function that gives the float32 bytes), written one after the other."""
    if sys.byteorder != "little":
        raise ValueError("safetensors are written on little-endian machines only")
    header, offset = {}, 0
    for name, shape, _ in tensors:
        size = 4
        for dimension in shape:
            size *= dimension
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, _, read in tensors:
            data = read()
            begin, end = header[name]["data_offsets"]
            if len(data) != end - begin:
                raise ValueError(f"{name} has {len(data)} bytes instead of {end - begin}")
            file.write(data)
