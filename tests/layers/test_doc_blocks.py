# SPDX-License-Identifier: BSD-3-Clause
"""Commands in the documentation print what its pages show."""

from __future__ import annotations

from pathlib import Path

import pytest
from doc_blocks.check import check_page
from doc_blocks.compare import is_same_output, renew_output
from doc_blocks.pages import find_blocks

ROOT = Path(__file__).resolve().parents[2]
#: Pages that take seconds; `make docs-blocks` runs all.
FAST_PAGES = [
    "README.md",
    "docs/collectives/binomial-orders.md",
    "docs/concepts/balancing.md",
    "docs/first-placement.md",
    *sorted(
        str(page.relative_to(ROOT)) for page in (ROOT / "docs/how-to/import").iterdir()
    ),
    "docs/how-to/machines/exchange-machines.md",
    "docs/how-to/machines/network-models.md",
    "docs/how-to/research/arrays.md",
    "docs/reference/tasks.md",
]
PAGE = """
Files of the reader:

```console
$ cat names.txt
ann
bob
$ wc -l names.txt
2 names.txt
$ sort -r names.txt && echo 3 candidates in 0.5 s
bob
...
3 candidates in 0.1 s
```

<!-- file: add.py -->
```python
print(1 + 1)
```

```console
$ number=$(python add.py)
$ echo $number
```

<!-- not run: needs a cluster -->
```sh
topoloom map names.txt
```

```sh
make all
```
"""


@pytest.mark.parametrize("page", FAST_PAGES)
def test_commands_print_what_the_page_shows(page: str) -> None:
    report = check_page(ROOT, ROOT / page)
    assert report.run
    assert not report.differences, "\n".join(report.differences)


def test_a_page_is_run_from_top_to_bottom_and_renewed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    report = check_page(tmp_path, page)
    assert report.run == 2
    assert report.not_run == [(27, "needs a cluster")]
    (difference,) = report.differences
    assert difference.startswith("page.md:23: $ echo $number")
    assert report.renewed == PAGE.replace("echo $number\n", "echo $number\n2\n")


def test_failing_commands_differ_unless_the_page_shows_the_error(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ false\n$ topoloom map a.npz -m torus:4\n...\n```\n")
    assert len(check_page(tmp_path, page).differences) == 2
    error = "topoloom: a.npz: No such file or directory"
    page.write_text(page.read_text().replace("...", error))
    assert len(check_page(tmp_path, page).differences) == 1


def test_a_script_fails_if_one_of_its_commands_does(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nfalse\ntopoloom list switches > x\n```\n")
    (difference,) = check_page(tmp_path, page).differences
    assert "status 1" in difference


def test_an_ellipsis_stands_for_any_lines() -> None:
    assert is_same_output(["a", "...", "c", "…"], ["a", "b", "b", "c"])
    assert is_same_output(["...", "b", "..."], ["a", "b"])
    assert not is_same_output(["...", "b", "a", "..."], ["a", "b"])
    assert not is_same_output(["a", "...", "a"], ["a"])


def test_renewed_output_keeps_its_ellipses() -> None:
    shown = ["...", "  time   1.5 us   +20 %", "..."]
    printed = ["head", "  size   3", "  time   12.25 us   -3 %", "tail"]
    assert renew_output(shown, printed) == ["...", printed[2], "..."]
    assert renew_output(["gone", "..."], printed) == printed
    assert renew_output(["1"], ["2", "3"]) == ["2", "3"]


def test_programs_with_output_below_are_run() -> None:
    program = "```python\nprint(1)\n```\n"
    assert not find_blocks(program)
    (block,) = find_blocks(f"{program}\n```text\n1\n```\n")
    assert block.commands[0].shown == ["1"]
