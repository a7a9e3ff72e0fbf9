# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom runs`: list, show, compare, summarize, export and remove stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topoloom.cli.options.files import AsJson, Figure, output_option
from topoloom.cli.options.runs import Store
from topoloom.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from topoloom.store.run_store import RunStore


def command(
    runs: Annotated[
        list[str] | None,
        Argument(
            metavar="RUN",
            help="Identifier of a run, or its beginning or end; by default, the last "
            "runs are listed.",
        ),
    ] = None,
    *,
    match: Annotated[
        str | None,
        Option(
            "--match",
            metavar="TEXT",
            help="Only runs whose program, user, partition, machine or kind is TEXT.",
        ),
    ] = None,
    last: Annotated[
        int, Option("--last", metavar="N", help="Number of runs to list.")
    ] = 20,
    summary: Annotated[
        str | None,
        Option(
            "--summary",
            metavar="user|program|partition",
            help="Summarize the runs: where placement would help most, and what it has "
            "gained.",
        ),
    ] = None,
    prune: Annotated[
        int | None,
        Option(
            "--prune",
            metavar="N",
            help="Remove the runs that started more than N days ago.",
        ),
    ] = None,
    store: Store = None,
    output: Annotated[
        Path | None,
        output_option("Write all runs that match: .csv, .json or .parquet."),
    ] = None,
    figure: Figure = None,
    as_json: AsJson = False,
) -> None:
    """List, show, compare and summarize the runs of the run store.

    'topoloom run' stores every run: with its recording if it was the first of its
    program, with its placement later. One RUN, such as 3f2a91c0, is shown in detail,
    with the files of its recording and placement; several are compared in a table.
    --figure draws the wall times of all runs of its program.

    A run in launcher order is 'recorded', or 'launcher' if it could not be recorded.
    Measured gains compare the wall times of runs of the same program with the same
    arguments that ended with status 0.

    \b
    Examples:
      topoloom runs --last 100
      topoloom runs --summary program
      topoloom runs --match lmp -o runs.csv
    """
    from topoloom._core import Error
    from topoloom.tasks.runs.stored_runs import check_export_name, open_store

    chosen = {
        "RUN": bool(runs),
        "--summary": summary is not None,
        "--prune": prune is not None,
    }
    if len(words := [word for word, is_given in chosen.items() if is_given]) > 1:
        raise Error(f"{words[0]} and {words[1]} cannot be combined; leave one out")
    if output is not None:
        if words:
            raise Error(f"-o writes listed runs; leave out {words[0]}")
        check_export_name(output)
    if match is not None and (runs or prune is not None):
        raise Error(f"--match has no effect with {words[0]}; leave one out")
    if figure is not None and len(runs or ()) != 1:
        raise Error("--figure shows the program of one RUN; name it")
    opened = open_store(store)
    if prune is not None:
        _prune(opened, prune, as_json)
    elif summary is not None:
        _summarize(opened, summary, match, as_json)
    elif runs:
        _show(opened, runs, figure, as_json)
    else:
        _list(opened, match, last, output, as_json)


def _list(
    store: RunStore, match: str | None, last: int, output: Path | None, as_json: bool
) -> None:
    from topoloom.cli.console import note, print_json
    from topoloom.cli.output.runs import print_runs
    from topoloom.tasks.runs.stored_runs import (
        export_runs,
        make_document,
        read_last_runs,
        select_runs,
    )

    if output is not None:
        export_runs(select_runs(store.read_runs().records, match), output)
    found, total, damaged = read_last_runs(store, last, match)
    shown = [make_document(record) for record in found]
    if as_json:
        print_json(
            {
                "store": str(store.root),
                "total": total,
                "damaged": damaged,
                "runs": shown,
                "output": None if output is None else str(output),
            }
        )
        return
    if shown:
        print_runs(shown, f"{len(shown):,} of {total:,} runs in {store.root}")
    else:
        _print_none(store, match)
    if damaged:
        note(f"topoloom: {damaged} unreadable entries of {store.root} are not shown")
    if output is not None:
        print(f"  written  {output}")


def _show(
    store: RunStore, names: list[str], figure: Path | None, as_json: bool
) -> None:
    from topoloom.cli.console import print_json
    from topoloom.cli.output.runs import print_run, print_runs
    from topoloom.store.run_store import find_run
    from topoloom.tasks.runs.gain_estimate import estimate_gain
    from topoloom.tasks.runs.stored_runs import draw_runs, make_document

    records = store.read_runs().records
    found = [make_document(find_run(records, name)) for name in names]
    if len(found) > 1:
        if as_json:
            document = {"store": str(store.root), "total": len(found), "damaged": 0}
            print_json({**document, "runs": found, "output": None})
        else:
            print_runs(found, "")
        return
    run = found[0]
    same = [r for r in records if r["id"] == run["id"] or r.get("key") == run["key"]]
    same = same if run["key"] else [r for r in same if r["id"] == run["id"]]
    gain = estimate_gain(same)
    if figure is not None:
        draw_runs(figure, same, run["program"], gain)
    recording = store.find_file(run["recording"] or run["placed_by"])
    placement = store.find_file(run["placement"])
    if as_json:
        print_json(
            {
                "store": str(store.root),
                "run": run,
                "recording_file": recording and str(recording),
                "placement_file": placement and str(placement),
                "gain": gain.document(),
            }
        )
        return
    print_run(run, recording, placement, gain.sentence())
    if figure is not None:
        print(f"  written  {figure}")


def _summarize(store: RunStore, by: str, match: str | None, as_json: bool) -> None:
    from topoloom.cli.console import print_json
    from topoloom.cli.output.runs import print_summary
    from topoloom.tasks.runs.stored_runs import select_runs
    from topoloom.tasks.runs.summary import summarize_runs

    groups = summarize_runs(select_runs(store.read_runs().records, match), by)
    if as_json:
        documents = [group.document() for group in groups]
        print_json({"store": str(store.root), "by": by, "groups": documents})
        return
    if groups:
        print_summary(groups, by)
    else:
        _print_none(store, match)


def _print_none(store: RunStore, match: str | None) -> None:
    """Say that no run is stored, or that none matches."""
    if match is None:
        print(f"no runs in {store.root}; 'topoloom run' stores them")
    else:
        print(f"no run in {store.root} matches '{match}'")


def _prune(store: RunStore, days: int, as_json: bool) -> None:
    from topoloom.cli.console import print_json
    from topoloom.support.units import counted
    from topoloom.tasks.runs.stored_runs import prune_runs

    runs, files = prune_runs(store, days)
    if as_json:
        removed = {"removed_runs": runs, "removed_files": files}
        print_json({"store": str(store.root), **removed})
        return
    print(f"removed {counted(runs, 'run')} and {counted(files, 'file')}")
