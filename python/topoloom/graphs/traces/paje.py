# SPDX-License-Identifier: BSD-3-Clause
"""Reads Pajé traces whose links are messages between ranks, as of ``smpirun -trace``.

The header defines the fields of each event. A link starts in the sender's container and
ends, with the same key, in the receiver's. SimGrid's keys are sender, receiver, tag and
a number. With ``tracing/smpi/internals``, all messages are traced when they are sent.
SimGrid 3.32 also writes some links when the call begins, with a wrong receiver for
MPI_Sendrecv. The last link within a call that sends one message is therefore used.

The order of calls and of the ends of links gives the phases of the messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from topoloom._core import Error
from topoloom.graphs.traces.message_phases import (
    MessageOrder,
    SentMessage,
    number_phases,
)
from topoloom.graphs.traces.trace import Trace
from topoloom.graphs.traces.trace_files import read_content
from topoloom.support.files import prefix_errors
from topoloom.support.plain_text import is_number

HEAD = re.compile(rb"(?:#[^\n]*\n)*%EventDef\b")
_NUMBER = re.compile(r"([0-9]{1,7})\D*$")
_SIMGRID_KEY = re.compile(r"[0-9]+_(-?[0-9]{1,9})_-?[0-9]+_[0-9]+")
_SIMGRID_STEM = "rank-"
_ONE_MESSAGE = re.compile(r"PMPI_(?:I?[sbr]?send|Sendrecv\w*)", re.IGNORECASE)
#: Calls whose messages are wrong or missing without ``tracing/smpi/internals``.
_NEEDS_INTERNALS = re.compile(
    r"PMPI_\w*(?:sendrecv|bcast|reduce|all|gather|scatter|scan)", re.IGNORECASE
)
_COLLECTIVE = re.compile(
    r"P?MPI_(?:I|Neighbor_)?(?:barrier|bcast|reduce|all(?:reduce|gather|toall)|gather|"
    r"scatter|scan|exscan)\w*",
    re.IGNORECASE,
)
_WORD = re.compile(r'"([^"]*)"|(\S+)')
_CONTAINER, _VALUE = "PajeCreateContainer", "PajeDefineEntityValue"
_PUSH, _POP = "PajePushState", "PajePopState"
_START, _END = "PajeStartLink", "PajeEndLink"
_EVENTS = (_CONTAINER, _VALUE, _PUSH, _POP, _START, _END)


class _Event(NamedTuple):
    name: str
    fields: list[str]


class _Start(NamedTuple):
    """The start of a link: its key, the sender's container and its bytes.

    `number` counts the starts with this key.
    """

    key: str
    number: int
    sender: str
    bytes: int


class _Link(NamedTuple):
    """A message: its start, and the container of the receiver."""

    start: _Start
    receiver: str


@dataclass
class _Content:
    """The contents of a file.

    `values` are the names of states by alias, `calls` the current state of each
    container. `last` is the index in `starts` of the link of the current call, for each
    container whose call sends one message. `order` has messages by key and number.
    """

    is_simgrid: bool = False
    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    starts: list[_Start] = field(default_factory=list)
    ends: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    order: MessageOrder = field(default_factory=MessageOrder)
    started: Counter[str] = field(default_factory=Counter)

    def add(self, event: str, values: dict[str, str]) -> None:
        """Add an event; raises KeyError or ValueError if its fields are wrong."""
        if event == _CONTAINER:
            self.names[values.get("Alias", values["Name"])] = values["Name"]
        elif event == _VALUE:
            self.values[values.get("Alias", values["Name"])] = values["Name"]
        elif event in (_PUSH, _POP):
            container = values["Container"]
            name = values["Value"] if event == _PUSH else ""
            call = self.values.get(name, name)
            self.calls[container] = call
            self.last.pop(container, None)
            self.order.begin_call(container, _COLLECTIVE.fullmatch(call) is not None)
        elif event == _START:
            key, sender = values["Key"], values["StartContainer"]
            if not is_number(values["Size"]):
                raise ValueError(values["Size"])
            number = self.started[key]
            self._add_start(_Start(key, number, sender, int(values["Size"])))
            self.order.send(sender, (key, number))
            self.started[key] += 1
        else:
            key, receiver = values["Key"], values["EndContainer"]
            ends = self.ends.setdefault(key, [])
            self.order.receive(receiver, (key, len(ends)))
            ends.append(receiver)

    def _add_start(self, start: _Start) -> None:
        sends_one = self.is_simgrid and _ONE_MESSAGE.fullmatch(
            self.calls.get(start.sender, "")
        )
        at = self.last.get(start.sender) if sends_one else None
        if at is not None:
            self.starts[at] = start
            return
        if sends_one:
            self.last[start.sender] = len(self.starts)
        self.starts.append(start)


def read_paje(files: Sequence[Path]) -> Trace:
    """Read the trace of one run; the numbers of containers order the ranks."""
    if len(files) > 1:
        raise Error(f"{files[1]}: give only one Pajé trace")
    with prefix_errors(files[0]):
        text = read_content(files[0]).decode(errors="replace")
        content = _read_events(text)
        links, lost = (_join_simgrid if content.is_simgrid else _join_links)(content)
        ranks = _find_ranks(content, links)
        trace = Trace(len(ranks))
        trace.seen |= set(ranks.values())
        _add_messages(trace, links, ranks, content.order)
    if lost:
        trace.add_loss(f"{lost} messages without a sender or a receiver were left out")
    has_internals = any("_-" in start.key for start in content.starts)
    if content.is_simgrid and not has_internals:
        needed = filter(_NEEDS_INTERNALS.match, content.values.values())
        if (call := next(needed, None)) is not None:
            trace.add_loss(
                f"the messages of {call.removeprefix('P')} are wrong or missing; trace "
                "with --cfg=tracing/smpi/internals:yes"
            )
    return trace


def _add_messages(
    trace: Trace, links: Sequence[_Link], ranks: Mapping[str, int], order: MessageOrder
) -> None:
    levels = order.find_levels()
    messages = [
        SentMessage(
            levels[start.key, start.number],
            ranks[start.sender],
            ranks[receiver],
            start.bytes,
        )
        for start, receiver in links
    ]
    for each, phase in zip(messages, number_phases(messages), strict=True):
        trace.send(each.source, each.target, each.bytes, phase=phase)


def _read_events(text: str) -> _Content:
    events: dict[str, _Event] = {}
    event: _Event | None = None
    content = _Content()
    for number, line in enumerate(_split_lines(text), 1):
        if line.startswith("#"):
            content.is_simgrid = content.is_simgrid or "SimGrid" in line
        if line.startswith("%"):
            event = _read_definition(line[1:].split(), event, events)
            continue
        known = events.get(line.partition(" ")[0])
        if known is None:
            continue
        try:
            words = _split_words(line)[1:]
            content.add(known.name, dict(zip(known.fields, words, strict=False)))
        except KeyError as missing:
            raise Error(_describe_missing(number, known, missing.args[0])) from None
        except ValueError:
            raise Error(f"line {number} is not a Pajé event") from None
    return content


def _split_lines(text: str) -> Iterator[str]:
    """Yield the lines; a list of them would take many times the memory of the text."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _split_words(line: str) -> list[str]:
    """Split a line into words, of which some are in quotes."""
    if '"' not in line:
        return line.split()
    words = _WORD.findall(line)
    if any('"' in bare for _, bare in words):
        raise ValueError("a quote is not closed")
    return [quoted or bare for quoted, bare in words]


def _read_definition(
    words: Sequence[str], event: _Event | None, events: dict[str, _Event]
) -> _Event | None:
    """Read a line of the header; return the event whose fields follow."""
    if words[:1] == ["EventDef"] and len(words) == 3:
        event = _Event(words[1], [])
        if event.name in _EVENTS:
            events[words[2]] = event
    elif event is not None and len(words) == 2:
        event.fields.append(words[0])
    return event


def _describe_missing(number: int, event: _Event, field: str) -> str:
    if field == "Size":
        return (
            f"line {number}: the message has no size; for SimGrid, trace with "
            "--cfg=tracing/smpi/display-sizes:yes"
        )
    return f"line {number}: {event.name} has no {field}"


def _join_links(content: _Content) -> tuple[list[_Link], int]:
    """Join starts and ends of links with the same key, in file order.

    Also returns the number of links without a start or an end.
    """
    ends = content.ends
    links = []
    for start in content.starts:
        receivers = ends.get(start.key, ())
        if start.number < len(receivers):
            links.append(_Link(start, receivers[start.number]))
    lost = len(content.starts) + sum(map(len, ends.values())) - 2 * len(links)
    return links, lost


def _join_simgrid(content: _Content) -> tuple[list[_Link], int]:
    """Read receivers from SimGrid's keys: links to MPI_ANY_SOURCE have no end."""
    links, lost = [], 0
    for start in content.starts:
        found = _SIMGRID_KEY.fullmatch(start.key)
        if found is None:
            lost += 1
        elif int(found[1]) > 0:  # else MPI_PROC_NULL
            links.append(_Link(start, found[1]))
    return links, lost


def _find_ranks(content: _Content, links: Sequence[_Link]) -> dict[str, int]:
    """Find the ranks of containers: the last number in each name, minus the lowest.

    A container without messages is a rank if its name differs only in the number from
    those of containers with messages.
    """
    names = content.names
    linked = {each for link in links for each in (link.start.sender, link.receiver)}
    if unknown := linked - names.keys():
        raise Error(f"a link names the unknown container '{min(unknown)[:20]}'")
    stems = {_NUMBER.sub("", names[alias]) for alias in linked}
    if content.is_simgrid:
        stems.add(_SIMGRID_STEM)
    elif not linked:
        raise Error("has no links between containers: no messages were traced")
    found: dict[str, int] = {}
    for alias, name in names.items():
        if _NUMBER.sub("", name) in stems:
            number = _NUMBER.search(name)
            if number is None:
                raise Error(f"the container '{name[:20]}' has no number for its rank")
            found[alias] = int(number[1])
    if len(stems) > 1 or len(set(found.values())) < len(found):
        some = ", ".join(f"'{stem[:20]}'" for stem in sorted(stems)[:3])
        raise Error(f"containers of several kinds send messages: {some}")
    if not found:
        raise Error("has no ranks")
    lowest = min(found.values())
    return {alias: number - lowest for alias, number in found.items()}
