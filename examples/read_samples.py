#!/usr/bin/env python3
"""Reads samples.bhs, the record of a Busyhour run, and prints its samples as CSV.

    python3 read_samples.py RUN/samples.bhs > samples.csv

The format is described in docs/samples-file.md. Needs Python 3.8 and no package.
"""

import csv
import json
import struct
import sys
import zlib

MAGIC, VERSION = b"BHSAMPLE", 1
NAMES, LABELS, SAMPLES = 1, 2, 3
TRANSACTION, SUB_RESULT, LISTENERS_ONLY = 1, 2, 32
U64 = (1 << 64) - 1


class Reader:
    """Reads numbers and texts from the bytes of a segment."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        value = self.varint()
        return value >> 1 if value % 2 == 0 else -((value + 1) >> 1)

    def bytes(self, length):
        self.at += length
        return self.data[self.at - length : self.at]

    def text(self):
        head = self.varint()
        if head % 2 == 0:
            return self.bytes(head // 2).decode()
        back, self.at = self.at, head // 2
        text = self.text()
        self.at = back
        return text


def segments(file):
    """Yields kind and payload of the complete segments."""
    if file.read(8) != MAGIC:
        raise ValueError("not a record of samples")
    (version,) = struct.unpack("<I", file.read(4))
    if version != VERSION:
        raise ValueError(f"version {version} of the format; this program reads version {VERSION}")
    while len(head := file.read(12)) == 12:
        kind, length, crc = struct.unpack("<III", head)
        payload = file.read(length)
        if len(payload) < length or zlib.crc32(head[:8] + payload) != crc:
            return
        yield kind, payload


def batch(payload, labels, names):
    """Yields the samples of a batch."""
    reader = Reader(payload)
    core = reader.varint()
    reader = Reader(payload[reader.at :])
    start = 0
    while reader.at < len(reader.data):
        flags, label, group, user = (reader.varint() for _ in range(4))
        start = (start + reader.signed()) & U64
        intended = (start - reader.signed()) & U64
        end = (start + reader.signed()) & U64
        connect, latency, idle = (reader.varint() for _ in range(3))
        state = reader.byte()
        received, sent, group_users, all_users, samples, errors, _listeners = (reader.varint() for _ in range(7))
        code, message, encoding, failure, url = (reader.text() for _ in range(5))
        variables = [reader.text() for _ in range(reader.varint())]
        sample = {
            "core": core,
            "kind": "transaction" if flags & TRANSACTION else "sub-result" if flags & SUB_RESULT else "request",
            "label": labels[label],
            "group": names["groups"][group]["name"] if group < len(names["groups"]) else "",
            "user": user,
            "intended_start_ns": intended,
            "actual_start_ns": start,
            "end_ns": end,
            "response_ns": max(0, max(0, end - intended) - idle),
            "service_ns": max(0, max(0, end - start) - idle),
            "connect_ns": connect,
            "latency_ns": latency,
            "idle_ns": idle,
            "success": "true" if state & 4 else "false",
            "code": code,
            "message": message,
            "failure_message": failure,
            "data_type": ["", "text", "bin", ""][state & 3],
            "encoding": encoding,
            "bytes": received,
            "sent_bytes": sent,
            "group_users": group_users,
            "all_users": all_users,
            "samples": samples,
            "errors": errors,
            "url": url,
        }
        sample.update(zip(names["variables"], variables))
        if not flags & LISTENERS_ONLY:
            yield sample


def read_samples(path):
    """Yields the samples of a record as dictionaries."""
    labels, names = {}, {"groups": [], "variables": []}
    with open(path, "rb") as file:
        for kind, payload in segments(file):
            if kind == NAMES:
                names = json.loads(payload)
            elif kind == LABELS:
                reader = Reader(payload)
                first, count = reader.varint(), reader.varint()
                for number in range(first, first + count):
                    labels[number] = reader.bytes(reader.varint()).decode()
            elif kind == SAMPLES:
                yield from batch(payload, labels, names)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: read_samples.py FILE")
    writer = None
    for row in read_samples(sys.argv[1]):
        if writer is None:
            writer = csv.DictWriter(sys.stdout, row.keys(), lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)


if __name__ == "__main__":
    main()
