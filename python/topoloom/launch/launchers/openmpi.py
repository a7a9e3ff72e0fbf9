# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's mpirun, versions 4 and 5: a rankfile, or the sequential mapper.

A rankfile binds each rank to its cores or hardware threads. If a slot is a whole node,
or the command disables binding (``--bind-to none``, oversubscription), the sequential
mapper (``seq``) assigns ranks to hosts. The binding options of the command then remain
in effect.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.launch.command_line import (
    CommandLine,
    LauncherSyntax,
    Option,
    split_names,
)
from topoloom.launch.launcher import (
    EnvironmentOption,
    Launch,
    list_option_hosts,
    reject_options,
)
from topoloom.support.files import write_text

if TYPE_CHECKING:
    from topoloom.launch.host_placement import HostPlacement

NAME = "Open MPI"
NEEDS_SHARED_FILES = False
IS_LOCAL_BY_DEFAULT = True
BINDING = frozenset({"bind-to"})
ENVIRONMENT_OPTION = EnvironmentOption(
    "-x", is_joined=True, is_per_program=True, names=frozenset({"x"})
)

FILES = frozenset({"hostfile", "machinefile", "default-hostfile"})
LISTS = frozenset({"H", "host"})
OVERSUBSCRIBE = frozenset({"oversubscribe"})
PLACING_VALUES = {
    **dict.fromkeys(("rankfile", "rf", "rank-by", "N", "npernode", "npersocket"), 1),
    **dict.fromkeys(("ppr", "app", "tune", "cf", "cartofile", "add-hostfile"), 1),
    **dict.fromkeys(("cpu-list", "cpu-set", "cpus-per-proc", "cpus-per-rank"), 1),
    "add-host": 1,
}
PLACING_FLAGS = frozenset(
    {"bycore", "bynode", "byslot", "pernode", "nolocal", "bind-to-core"}
    | {"bind-to-socket", "nooversubscribe"}
)

SYNTAX = LauncherSyntax(
    values={
        **dict.fromkeys(("mca", "gmca", "omca", "prtemca", "gprtemca"), 2),
        **dict.fromkeys(("pmixmca", "gpmixmca", "pmca", "gpmca"), 2),
        **dict.fromkeys(("n", "np", "c", "x", "H", "host", *FILES), 1),
        **dict.fromkeys(("map-by", "bind-to", "wd", "wdir", "path", "prefix"), 1),
        **dict.fromkeys(("am", "debugger", "dvm-master-uri", "hnp", "dvm-uri"), 1),
        **dict.fromkeys(("launch-agent", "max-restarts", "max-vm-size"), 1),
        **dict.fromkeys(("ompi-server", "output-filename", "personality"), 1),
        **dict.fromkeys(("preload-files", "report-events", "report-uri", "stdin"), 1),
        **dict.fromkeys(("timeout", "spawn-timeout", "xml-file", "xterm"), 1),
        **dict.fromkeys(("display", "output", "runtime-options", "rtos", "pset"), 1),
        **dict.fromkeys(("set-env", "unset-env", "prepend-env", "append-env"), 1),
        **dict.fromkeys(("app-pmix-prefix", "app-prefix", "report-pid"), 1),
        **PLACING_VALUES,
    },
    flags=frozenset(
        split_names(
            "allow-run-as-root continuous d debug-devel debug debug-daemons "
            "debug-daemons-file disable-recovery display-allocation "
            "display-devel-allocation display-devel-map display-diffable-map "
            "display-map display-topo do-not-launch do-not-resolve dvm "
            "enable-instant-on-support enable-recovery fwd-mpirun-port "
            "get-stack-traces index-argv-by-rank "
            "leave-session-attached merge-stderr-to-stdout noprefix novm "
            "output-proctable q quiet report-bindings report-child-jobs-separately "
            "report-state-on-timeout s preload-binary set-cwd-to-session-dir "
            "show-progress tag-output timestamp-output tv use-hwthread-cpus "
            "use-regexp v verbose "
            "xml no-app-prefix stop-on-exec stop-in-init stop-in-app "
            "forward-signals no-ready-msg daemonize"
        )
    )
    | PLACING_FLAGS
    | OVERSUBSCRIBE,
    ranks=frozenset({"n", "np", "c"}),
)


def parse_version(text: str) -> tuple[int, ...] | None:
    """Parse ``mpirun (Open MPI) 5.0.11`` or ``mpirun.openmpi (OpenRTE) 4.1.4``."""
    if "(PRRTE)" in text:  # prterun, the launcher of Open MPI 5
        return (5, 0, 0)
    match = re.search(r"\((?:Open MPI|OpenRTE)\) ([0-9]+)\.([0-9]+)\.([0-9]+)", text)
    return tuple(map(int, match.groups())) if match else None


def list_hosts(command: CommandLine) -> list[str] | None:
    """List the hosts in the options ``--hostfile`` or ``--host``."""
    return list_option_hosts(command, FILES, LISTS)


def apply(
    command: CommandLine,
    placement: HostPlacement,
    directory: Path,
    version: tuple[int, ...],
) -> Launch:
    """Apply a placement by rankfile to bind ranks, else by sequential mapper."""
    from topoloom.launch.exports import openmpi_rankfile, slurm_hostfile
    from topoloom.launch.host_placement import PU

    reject_options(command, {*PLACING_VALUES, *PLACING_FLAGS})
    if placement.bind is not None:
        reject_options(command, BINDING)
    modifiers = _parse_mapping_modifiers(command)
    if placement.shares_slots and "OVERSUBSCRIBE" not in modifiers:
        modifiers.append("OVERSUBSCRIBE")
    bound = placement.slots_per_host * placement.cores_per_slot > 1 and not (
        "OVERSUBSCRIBE" in modifiers or _disables_binding(command)
    )
    command = _set_thread_variables(command, placement, bound)
    used = placement.drop_unused_hosts()
    plan = directory / ("rankfile" if bound else "hosts-of-ranks")
    text = openmpi_rankfile.write(used) if bound else slurm_hostfile.write(used)
    write_text(plan, text)
    without = FILES | LISTS | OVERSUBSCRIBE | {"map-by"}
    threads = bound and placement.bind == PU
    if version >= (5,):
        if threads:
            modifiers.append("hwtcpus")
        # With --bind-to, version 5.0 takes any "pe" in --map-by, also in the name of a
        # file, for a list of CPUs. The sequential mapper also reads the hostfile.
        hosts, policy = plan, ["seq"]
        if bound:  # a rankfile requires a hostfile that declares the slots
            hosts, policy = directory / "hostfile", ["rankfile", f"file={plan}"]
            write_slot_hostfile(hosts, used)
        extra = ["--hostfile", str(hosts), "--map-by", ":".join([*policy, *modifiers])]
    else:
        extra = ["--rankfile", str(plan)]
        if threads:
            extra.insert(0, "--use-hwthread-cpus")
        if not bound:
            extra = ["--hostfile", str(plan), "--map-by", "seq"]
        if "OVERSUBSCRIBE" in modifiers:
            extra.append("--oversubscribe")
    exact = bound or placement.fills_in_rank_order()
    loss = None if exact else "ranks are on their hosts, but not bound to their cores"
    return Launch(command.build(without, extra, placement.rank_count), loss=loss)


def _set_thread_variables(
    command: CommandLine, placement: HostPlacement, is_bound: bool
) -> CommandLine:
    from topoloom.launch.hybrid_ranks import find_thread_settings

    pairs = find_thread_settings(placement, is_bound, command).items()
    settings = [f"{name}={value}" for name, value in pairs]
    return command.with_options(
        [Option("x", (setting,), ("-x", setting)) for setting in settings]
    )


def write_slot_hostfile(path: Path, placement: HostPlacement) -> None:
    """Write a hostfile that declares all cores of each host."""
    slots = placement.slots_of_host * placement.cores_per_slot
    pairs = zip(placement.hosts, slots.tolist(), strict=True)
    write_text(path, "".join(f"{host} slots={each}\n" for host, each in pairs))


def _parse_mapping_modifiers(command: CommandLine) -> list[str]:
    """Return the modifiers of ``--map-by :OVERSUBSCRIBE``; reject a mapping policy."""
    found = ["OVERSUBSCRIBE"] if command.find_options(OVERSUBSCRIBE) else []
    for option in command.find_options({"map-by"}):
        policy, *modifiers = option.values[0].split(":")
        if policy:
            reject_options(command, {"map-by"})
        found += [m.upper() if "=" not in m else m for m in modifiers if m]
    return list(dict.fromkeys(found))


def _disables_binding(command: CommandLine) -> bool:
    return any(
        option.values[0] == "none" for option in command.find_options({"bind-to"})
    )
