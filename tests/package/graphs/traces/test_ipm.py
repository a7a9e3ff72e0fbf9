# SPDX-License-Identifier: BSD-3-Clause
"""IPM's XML has the bytes that each rank sent to each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from topoloom import Error
from topoloom.graphs.profile import KINDS
from topoloom.graphs.traces.trace_formats import (
    IncompleteTraceError,
    TraceContent,
    detect_trace_format,
    read_trace,
)

#: Lines as IPM 2.0.6 writes them with IPM_LOG=full: src/report_xml.c.
ENTRY = (
    '<hent key="0" call="MPI_{}" bytes="{}" orank="{}" region="1" callsite="0" '
    'count="{}" tid="0" >1.0e-03 1.0e-03 1.0e-03</hent>\n'
)


def format_job(*ranks: str) -> str:
    tasks = "".join(
        f'<task ipm_version="2.0.6" mpi_rank="{rank}" mpi_size="{len(ranks)}">\n'
        f'<hash nlog="9" nkey="{len(re.findall("<hent", hashed))}" >\n{hashed}</hash>\n'
        "</task>\n"
        for rank, hashed in enumerate(ranks)
    )
    head = '<?xml version="1.0" encoding="iso-8859-1"?>\n'
    return f"{head}<ipm_job_profile>\n{tasks}</ipm_job_profile>\n"


JOB = format_job(
    ENTRY.format("Send", 100, 1, 5) + ENTRY.format("Isend", 8, 2, 2),
    ENTRY.format("Sendrecv", 40, 2, 3) + ENTRY.format("Recv", 100, 2, 5),
    ENTRY.format("Sendrecv", 50, 1, 3) + ENTRY.format("Comm_rank", 0, 0, 1),
)


def read(text: str, folder: Path, partial: bool = False) -> TraceContent:
    path = folder / "job.ipm.xml"
    path.write_text(text)
    assert detect_trace_format(path) == "ipm"
    return read_trace(path, partial=partial)


def list_sends(content: TraceContent) -> list[list[int]]:
    """Return source, target, bytes and messages."""
    rows = content.profile.traffic.tolist()
    assert {KINDS[row[1]] for row in rows} == {"send"}
    return sorted(row[2:6] for row in rows)


def test_sends_are_counted_by_peer_and_size(tmp_path: Path) -> None:
    content = read(JOB, tmp_path)
    assert content.losses == []
    assert list_sends(content) == [
        [0, 1, 500, 5],
        [0, 2, 16, 2],
        [1, 2, 120, 3],
        [2, 1, 150, 3],
    ]


def test_what_ipm_does_not_note_is_counted(tmp_path: Path) -> None:
    text = format_job(
        ENTRY.format("Send", 1, 1, 1) + ENTRY.format("Allreduce", 8, 0, 7),
        ENTRY.format("Send", 1, 0, 4)
        + ENTRY.format("Start", 0, 0, 2)
        + ENTRY.format("Allreduce", 16, 0, 1),
    )
    expected = [
        "8 calls of MPI_Allreduce, whose communicator IPM does not note, left out",
        "2 calls of MPI_Start, whose receiver IPM does not note, left out",
        "4 messages to rank 0 may be to MPI_PROC_NULL, which IPM writes alike",
    ]
    with pytest.raises(IncompleteTraceError, match="8 calls of MPI_Allreduce"):
        read(text, tmp_path)
    content = read(text, tmp_path, partial=True)
    assert content.losses == expected
    assert list_sends(content) == [[0, 1, 1, 1], [1, 0, 4, 4]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('mpi_rank="1"', 'mpi_rank="0"'), "rank 0 appears twice"),
        (('mpi_rank="1"', 'mpi_rank="7"'), "rank 7 of a job of 3 ranks"),
        (('orank="1"', 'orank="9"'), "orank 9 of a job of 3 ranks"),
        (('count="5"', 'count="x"'), 'count="x" is not an integer'),
        (('bytes="100"', 'b="100"'), "lacks its 'bytes'"),
        (("hash", "x"), "no <hash>, which IPM writes with IPM_LOG=full"),
        (('nkey="2"', 'nkey="3"'), "rank 0 has 2 of 3 entries"),
        (("hent", "x"), "rank 0 has 0 of 2 entries"),
        (('"MPI_Send"', '"MPI_Xsend"'), "5 calls of MPI_Xsend, which is not known"),
    ],
)
def test_damaged_files_are_noticed(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    assert change[0] in JOB
    with pytest.raises(Error, match=message):
        read(JOB.replace(*change), tmp_path)
