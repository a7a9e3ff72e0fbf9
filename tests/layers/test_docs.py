# SPDX-License-Identifier: BSD-3-Clause
"""Documentation names only existing commands, mappers, options and links."""

from __future__ import annotations

import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from theme.copied_commands import extract_commands

import topoloom
from topoloom import tasks
from topoloom.cli.app import (
    COMMANDS,
    SECTIONS,
    Group,
    command_names,
    find_command,
)
from topoloom.launch.exports.launch_formats import FORMATS as LAUNCH_FORMATS
from topoloom.machines.machine_file import load_machine
from topoloom.machines.machine_names import zoo_names
from topoloom.machines.topology_forms import section_forms

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FRONT_PAGES = ("README", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT")
PAGES = sorted(
    [
        *DOCS.rglob("*.md"),
        *(ROOT / f"{name}.md" for name in FRONT_PAGES),
    ]
)
TOPICS = sorted((ROOT / "python/topoloom/cli/topics").glob("*.txt"))
#: Commands and functions that readers of the examples in docs/develop write.
WRITTEN_BY_READERS = {"peers", "count_peers"}
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def find_code_blocks(page: Path, *languages: str) -> Iterator[str]:
    for language, body in BLOCK.findall(page.read_text()):
        if language in languages:
            yield body


def list_printed_commands() -> list[tuple[str, list[str]]]:
    """List the `topoloom` commands in the pages, as location and words."""
    found = []
    for page in PAGES:
        for body in find_code_blocks(page, "sh", "console"):
            console = any(line.startswith("$ ") for line in body.splitlines())
            for line in body.replace("\\\n", " ").splitlines():
                if console and not line.startswith("$ "):
                    continue
                words = shlex.split(line.removeprefix("$ "), comments=True)
                if words[:1] == ["topoloom"] and not WRITTEN_BY_READERS & {*words}:
                    found.append((str(page.relative_to(ROOT)), words[1:]))
    for page in TOPICS:
        for line in re.findall(r"(?:  |: )(topoloom .*)$", page.read_text(), re.M):
            found.append((page.name, shlex.split(line)[1:]))
    return found


@pytest.mark.parametrize(("page", "words"), list_printed_commands())
def test_a_printed_command_has_a_real_name_and_real_options(
    page: str, words: list[str]
) -> None:
    length = 2 if isinstance(COMMANDS.get(words[0]), Group) else 1
    name, rest = " ".join(words[:length]), words[length:]
    assert name in {*command_names(), *COMMANDS}, page
    command = find_command(name)
    known = {option for p in command.params for option in [*p.opts, *p.secondary_opts]}
    ours = rest[: rest.index("--")] if "--" in rest else rest
    used = {word.partition("=")[0] for word in ours if re.match(r"--?[a-z]", word)}
    assert used <= known | {"-h", "--help"}, page


def test_the_docs_contain_commands() -> None:
    assert len(list_printed_commands()) > 20


def test_the_front_page_lists_all_commands_in_the_sections_of_the_help() -> None:
    overview = (DOCS / "index.md").read_text()
    sections = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)+)", overview, re.M))
    for title, entries in SECTIONS.items():
        listed = re.findall(r"`topoloom ([\w -]+)`(?=.*\|)", sections[title])
        expected = [
            name for name in command_names() if name.partition(" ")[0] in entries
        ]
        assert sorted(listed) == sorted(expected)


def test_the_mapper_tables_match_the_registry(tmp_path: Path) -> None:
    page = DOCS / "reference" / "mappers.md"
    renewed = tmp_path / "mappers.md"
    renewed.write_text(page.read_text())
    subprocess.run(
        [sys.executable, DOCS / "tables" / "mapper_reference.py", renewed], check=True
    )
    assert page.read_text() == renewed.read_text()
    for mapper in topoloom.mappers():
        assert f"| `{mapper['name']}` | {mapper['kind']} |" in renewed.read_text()


def test_the_docs_measure_only_existing_mappers() -> None:
    page = (DOCS / "reference" / "mappers.md").read_text()
    chains = re.findall(r"^\| `([\w+-]+)(?:\(.*\))?` \|.* ms \|$", page, re.MULTILINE)
    listed = {name for chain in chains for name in chain.split("+")}
    assert listed
    assert listed <= {mapper["name"] for mapper in topoloom.mappers()}


def test_the_schedule_tables_match_the_registry() -> None:
    made = subprocess.run(
        [sys.executable, DOCS / "tables" / "schedule_table.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    page = (DOCS / "reference" / "schedules.md").read_text()
    tables = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
    assert "\n".join(tables) == made.stdout


def test_the_topology_page_matches_the_core() -> None:
    made = subprocess.run(
        [sys.executable, DOCS / "tables" / "topology_table.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (DOCS / "reference" / "topologies.md").read_text() == made.stdout


def test_the_python_names_in_the_docs_exist() -> None:
    for page in PAGES:
        for name in re.findall(r"\btopoloom(?:\.[a-zA-Z_]\w*)+", page.read_text()):
            written = name.rpartition(".")[2] in WRITTEN_BY_READERS
            if not written and not name.endswith(".h"):
                pkgutil.resolve_name(name)


def test_the_docs_list_every_launcher_format_topology_and_machine() -> None:
    exports = (DOCS / "how-to" / "run" / "export.md").read_text()
    machines = (DOCS / "how-to" / "machines" / "describe-a-machine.md").read_text()
    for entry in LAUNCH_FORMATS:
        assert f"| `{entry.name}` |" in exports
    for name in section_forms():
        assert name in machines
    described = (DOCS / "reference" / "machines.md").read_text()
    for name in zoo_names():
        assert f"| `{name}` |" in described


def test_the_machines_in_the_docs_are_valid(tmp_path: Path) -> None:
    page = DOCS / "how-to" / "machines" / "describe-a-machine.md"
    rows = re.findall(r"^\| `([a-z]+:[^`]+)`", page.read_text(), re.MULTILINE)
    assert len(rows) > 10
    for text in rows:
        load_machine(text)
    for number, body in enumerate(find_code_blocks(page, "toml")):
        file = tmp_path / f"{number}.toml"
        file.write_text(body)
        load_machine(file)


def test_the_page_of_tasks_names_every_task() -> None:
    page = (DOCS / "reference" / "tasks.md").read_text()
    functions = [name for name in dir(tasks) if name[0].islower()]
    assert not [name for name in functions if f"`{name}`" not in page]


def list_pages_with_files() -> list[Path]:
    """List the pages whose examples print a file with `cat`."""
    return [
        page
        for page in PAGES
        if any(body.startswith("$ cat ") for body in find_code_blocks(page, "console"))
    ]


def test_copying_a_console_block_copies_its_commands() -> None:
    block = "$ topoloom map a.npz \\\n    -m torus:4\nwritten\n$ echo 1 > x\n1\n"
    assert (
        extract_commands(block) == "topoloom map a.npz \\\n    -m torus:4\necho 1 > x"
    )
    for page in PAGES:
        for body in find_code_blocks(page, "console"):
            assert extract_commands(body).count("\n") < body.count("\n"), page


def test_every_page_on_importing_machines_prints_a_file() -> None:
    pages = set(DOCS.glob("how-to/import/*.md")) | {
        DOCS / "how-to/machines/exchange-machines.md"
    }
    assert pages <= set(list_pages_with_files())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_have_existing_targets(page: Path) -> None:
    prose = BLOCK.sub("", page.read_text())
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), target
