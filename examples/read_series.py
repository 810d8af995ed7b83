#!/usr/bin/env python3
"""Converts series.bho to CSV: one row per value. Written from docs/series-file.md; needs only Python.

usage: read_series.py FILE
"""

import csv
import json
import struct
import sys
import zlib

START, SOURCE, SERIES, VALUES, UNAVAILABLE, MARK, STATE = range(1, 8)
MASK = (1 << 64) - 1


class Payload:
    """The rest of the payload of a frame."""

    def __init__(self, data):
        self.data, self.at = data, 1

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & MASK
            shift += 7

    def signed(self):
        return unzigzag(self.varint())

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def text(self):
        length = self.varint()
        self.at += length
        return self.data[self.at - length : self.at].decode()


def unzigzag(value):
    return value >> 1 if value % 2 == 0 else -((value + 1) >> 1)


def signed64(value):
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def frames(file):
    """The payloads of all valid frames."""
    if file.read(8) != b"BHSERIES":
        sys.exit("not a series file")
    version = struct.unpack("<I", file.read(4))[0]
    if version != 1:
        sys.exit(f"version {version} is not supported")
    at = 12
    while head := file.read(8):
        length, crc = struct.unpack("<II", head) if len(head) == 8 else (0, 0)
        payload = file.read(length) if 0 < length <= 1 << 24 else b""
        if not payload or len(payload) < length or zlib.crc32(head[:4] + payload) != crc:
            print(f"the frame at byte {at} is incomplete or damaged: reading ends there", file=sys.stderr)
            return
        at += 8 + length
        yield payload


def read_series(path):
    """Yields rows (seconds, source, metric, labels, value); reasons and marks go to standard error."""
    sources, series, integers, time = [], [], [], 0
    with open(path, "rb") as file:
        for data in frames(file):
            kind, payload = data[0], Payload(data)
            if kind == START:
                print(json.loads(data[1:]), file=sys.stderr)
            elif kind == SOURCE:
                payload.varint()
                sources.append(payload.text())
            elif kind == SERIES:
                payload.varint()
                source, _, name, _ = payload.varint(), payload.byte(), payload.text(), payload.text()
                labels = [(payload.text(), payload.text()) for _ in range(payload.varint())]
                series.append((sources[source], name, ",".join(f'{key}="{value}"' for key, value in labels)))
                integers.append(0)
            elif kind in (VALUES, UNAVAILABLE, MARK, STATE):
                time = (time + payload.signed()) & MASK
                if kind == VALUES:
                    yield from values(payload, time / 1e9, series, integers)
                else:
                    source = sources[payload.varint()]
                    if kind == UNAVAILABLE:
                        print(f"{source}: {payload.text()} is unavailable: {payload.text()}", file=sys.stderr)
                    elif kind == MARK:
                        name, duration = payload.text(), payload.varint() / 1e9
                        print(f"{time / 1e9:.3f} s: {source}: {name}, {duration:.3f} s: {payload.text()}", file=sys.stderr)
                    else:
                        state = ("watching", "failed", "ended")[payload.byte()]
                        print(f"{time / 1e9:.3f} s: {source}: {state} {payload.text()}", file=sys.stderr)


def values(payload, seconds, series, integers):
    expected = 0
    while payload.at < len(payload.data):
        tag = payload.varint()
        number = expected + unzigzag(tag >> 1)
        expected = number + 1
        if tag % 2 == 0:
            value = integers[number] = signed64(integers[number] + payload.signed())
        else:
            value = struct.unpack_from("<d", payload.data, payload.at)[0]
            payload.at += 8
        yield (seconds, *series[number], value)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("seconds", "source", "metric", "labels", "value"))
    writer.writerows(read_series(sys.argv[1]))


if __name__ == "__main__":
    main()
