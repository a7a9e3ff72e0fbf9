# SPDX-License-Identifier: BSD-3-Clause
"""Expands and writes Slurm host lists, such as ``n[001-064,070]``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from topoloom._core import Error
from topoloom.support.plain_text import check_characters

# Launchers take a leading hyphen for an option; files can be named after hosts.
_HOST = re.compile(r"(?!-|\.{1,2}\Z)[A-Za-z0-9_.\-]+")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_MAX_DIGITS = 18
#: More than any machine has: about 64 MiB; a few bytes of text can name any number.
_MAX_HOSTS = 500_000


def expand_hostlist(text: str, max_hosts: int = _MAX_HOSTS) -> list[str]:
    """Expand a host list; hosts stay in the listed order.

    ``n[08-10]`` becomes ``n08 n09 n10``; ``r[1-2]n[1,3]`` becomes
    ``r1n1 r1n3 r2n1 r2n3``; ``a,b[1-2]`` becomes ``a b1 b2``. Raises `topoloom.Error`
    if there are more than `max_hosts` hosts, before they fill memory.
    """
    check_characters(f"host list '{_shorten(text)}'", text)
    hosts: list[str] = []
    for item in _split_outside_brackets(text):
        hosts.extend(_expand_item(item, max_hosts))
        if len(hosts) > max_hosts:
            raise Error(f"host list '{_shorten(text)}' names over {max_hosts} hosts")
    return hosts


def is_host_name(name: str) -> bool:
    """Return whether a name can appear in a host list."""
    return _HOST.fullmatch(name) is not None


def compress_hostlist(hosts: Iterable[str]) -> str:
    """Write hosts, in order, as one host list; the inverse of `expand_hostlist`.

    Neighbors that differ in one number share a bracket: ``n08 n09 n10`` becomes
    ``n[08-10]``, ``r1n1 r1n2 r2n1`` becomes ``r1n[1-2],r2n1``.
    """
    items: list[_HostRange] = []
    for host in hosts:
        if not is_host_name(host):
            raise Error(f"host list: '{_shorten(host)}' is not a host name")
        if not (items and items[-1].try_append(host)):
            items.append(_HostRange(host))
    return ",".join(item.format() for item in items)


class _HostRange:
    """An item of a host list: hosts that differ in at most one number."""

    def __init__(self, host: str) -> None:
        # Pieces with even index are text, pieces with odd index are numbers.
        self.pieces = re.split(r"([0-9]+)", host)
        self.place = -1
        self.numbers: list[str] = []

    def try_append(self, host: str) -> bool:
        pieces = re.split(r"([0-9]+)", host)
        if len(pieces) != len(self.pieces):
            return False
        pairs = enumerate(zip(self.pieces, pieces, strict=True))
        places = [i for i, (mine, other) in pairs if mine != other and i != self.place]
        if self.place < 0:
            if len(places) != 1 or places[0] % 2 == 0:
                return False
            place = places[0]
            if max(len(self.pieces[place]), len(pieces[place])) > _MAX_DIGITS:
                return False
            self.place, self.numbers = place, [self.pieces[place]]
        elif places or len(pieces[self.place]) > _MAX_DIGITS:
            return False
        self.numbers.append(pieces[self.place])
        return True

    def format(self) -> str:
        if self.place < 0:
            return "".join(self.pieces)
        ranges = ",".join(_format_ranges(self.numbers))
        before, behind = self.pieces[: self.place], self.pieces[self.place + 1 :]
        return "".join([*before, f"[{ranges}]", *behind])


def _format_ranges(numbers: list[str]) -> Iterator[str]:
    first = last = numbers[0]
    for number in numbers[1:]:
        # All numbers of a range are zero-padded like the first number.
        if number == f"{int(last) + 1:0{len(first)}d}":
            last = number
            continue
        yield first if first == last else f"{first}-{last}"
        first = last = number
    yield first if first == last else f"{first}-{last}"


def _split_outside_brackets(text: str) -> list[str]:
    items, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        if depth not in (0, 1):
            break
        if letter == "," and depth == 0:
            items.append(text[start:position])
            start = position + 1
    if depth != 0:
        raise Error(f"host list '{_shorten(text)}': brackets do not match")
    items.append(text[start:])
    return [item.strip() for item in items]


def _expand_item(item: str, max_hosts: int) -> list[str]:
    # Pieces with odd index are inside brackets, pieces with even index outside.
    pieces = re.split(r"[\[\]]", item)
    if len(pieces) == 3:  # Most lists; numbers and hosts together take more memory.
        before, inside, after = pieces
        numbers = _expand_ranges(inside, item, max_hosts)
        hosts = [f"{before}{number}{after}" for number in numbers]
    else:
        hosts = _expand_pieces(pieces, item, max_hosts)
    # Checking one host is enough, because all have the same text around the digits.
    if not is_host_name(hosts[0]):
        raise Error(f"host list: '{_shorten(item)}' is not a host name")
    return hosts


def _expand_pieces(pieces: list[str], item: str, max_hosts: int) -> list[str]:
    choices: list[list[str]] = []
    total = 1
    for index, piece in enumerate(pieces):
        choice = [*_expand_ranges(piece, item, max_hosts)] if index % 2 else [piece]
        total *= len(choice)
        if total > max_hosts:
            raise Error(f"host list '{_shorten(item)}' names over {max_hosts} hosts")
        choices.append(choice)
    return ["".join(parts) for parts in itertools.product(*choices)]


def _expand_ranges(inside: str, item: str, max_hosts: int) -> Iterator[str]:
    """Yield the numbers of ranges, with leading zeros."""
    count = 0
    for part in inside.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise Error(
                f"host list '{_shorten(item)}': '{_shorten(part)}' is not a range"
            )
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise Error(
                f"host list '{_shorten(item)}': range {first}-{last} is descending"
            )
        count += int(last) - int(first) + 1
        if count > max_hosts:
            raise Error(f"host list '{_shorten(item)}' names over {max_hosts} hosts")
        width = len(first)
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{width}d}"


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
