"""smaller(png): the same picture with a palette of 256 colours, a third as large. For pictures of pages, with few colours.

Reads what Chromium writes: eight bits of RGB or RGBA, not interlaced. https://www.w3.org/TR/png-3/
"""

import struct
import zlib
from collections import Counter

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def smaller(png: bytes) -> bytes:
    width, height, size, data = read(png)
    rows = [pixels[0::size] and list(zip(pixels[0::size], pixels[1::size], pixels[2::size])) for pixels in unfiltered(data, width * size, height, size)]
    counts = Counter(colour for row in rows for colour in row)
    palette = [colour for colour, _ in counts.most_common(256)]
    index = {colour: number for number, colour in enumerate(palette)}
    for colour in counts:
        if colour not in index:
            index[colour] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
    lines = b"".join(b"\0" + bytes(index[colour] for colour in row) for row in rows)
    return SIGNATURE + b"".join((
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        chunk(b"PLTE", bytes(part for colour in palette for part in colour)),
        chunk(b"IDAT", zlib.compress(lines, 9)),
        chunk(b"IEND", b"")))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def read(png: bytes) -> tuple:
    """(width, height, bytes of a pixel, unpacked data)"""
    assert png.startswith(SIGNATURE), "no PNG"
    at, packed, head = len(SIGNATURE), b"", b""
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        data = png[at + 8:at + 8 + length]
        packed += data if kind == b"IDAT" else b""
        head = data if kind == b"IHDR" else head
        at += 12 + length
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    assert depth == 8 and colours in (2, 6) and not interlaced, (depth, colours, interlaced)
    return width, height, 3 if colours == 2 else 4, zlib.decompress(packed)


def unfiltered(data: bytes, length: int, height: int, size: int):
    """The lines of the picture."""
    above = bytearray(length)
    for row in range(height):
        start = row * (length + 1)
        how, line = data[start], bytearray(data[start + 1:start + 1 + length])
        for i in range(length) if how else ():
            left, up, corner = line[i - size] if i >= size else 0, above[i], above[i - size] if i >= size else 0
            if how == 1:
                guess = left
            elif how == 2:
                guess = up
            elif how == 3:
                guess = (left + up) // 2
            else:
                distance = {left: abs(up - corner), up: abs(left - corner), corner: abs(left + up - 2 * corner)}
                guess = min((left, up, corner), key=lambda value: distance[value])
            line[i] = line[i] + guess & 255
        yield line
        above = line
