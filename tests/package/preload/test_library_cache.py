# SPDX-License-Identifier: BSD-3-Clause
"""Only libraries that no other user can have written are preloaded."""

from __future__ import annotations

import logging
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from topoloom import Error
from topoloom.preload.shim import build_library_without_mpi, library_cache
from topoloom.preload.shim.library_cache import (
    find_cache,
    find_foreign_access,
    make_private_folders,
)

COMPILER = """\
#!/bin/sh
[ "$1" = --version ] && exec echo 1.0
echo compiled >>"$0.log"
while [ "$1" != -o ]; do shift; done
echo library >"$2"
"""
OTHER_USER = 12345
need_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can chown")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.chdir(home)
    library_cache._warn_once.cache_clear()
    yield home
    library_cache._make_temporary_folder.cache_clear()


@pytest.fixture
def compiler(tmp_path: Path) -> Path:
    program = tmp_path / "cc"
    program.write_text(COMPILER)
    program.chmod(0o755)
    return program


def build(compiler: Path) -> Path:
    return build_library_without_mpi("nccl/profiler", "lib.so", compiler)


def count_compilations(compiler: Path) -> int:
    return len(Path(f"{compiler}.log").read_text().splitlines())


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o770, 0o707, 0o777])
@pytest.mark.parametrize("depth", range(4))
def test_a_folder_is_used_unless_others_can_write_to_a_part(
    tmp_path: Path, mode: int, depth: int
) -> None:
    parts = [tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c", tmp_path / "a/b/c/d"]
    for each in parts:
        each.mkdir(mode=0o700)
    parts[depth].chmod(mode)
    reason = find_foreign_access(parts[-1])
    assert (reason is not None) == bool(mode & 0o022)
    if reason:
        assert f"other users can write to {parts[depth]} " in reason
    # Nobody else can rename what is in a sticky folder.
    parts[depth].chmod(mode | stat.S_ISVTX)
    assert find_foreign_access(parts[-1]) is None


def test_links_are_checked_like_their_targets(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    (tmp_path / "shared" / "mine").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("shared")
    (tmp_path / "two").symlink_to(tmp_path / "link" / "mine")
    for path in (tmp_path / "link", tmp_path / "link/mine", tmp_path / "two"):
        assert "other users can write to" in str(find_foreign_access(path / "x"))
    (tmp_path / "loop").symlink_to("loop")
    assert find_foreign_access(tmp_path / "loop/x") is None


@pytest.mark.parametrize("mask", [0, 0o022, 0o277, 0o777])
def test_created_folders_are_private_whatever_the_umask(
    tmp_path: Path, mask: int
) -> None:
    old = os.umask(mask)
    try:
        make_private_folders(tmp_path / "x/y/z")
    finally:
        os.umask(old)
    for each in ("x", "x/y", "x/y/z"):
        assert stat.S_IMODE((tmp_path / each).stat().st_mode) == 0o700


def test_a_shared_cache_is_not_used(
    tmp_path: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    with caplog.at_level(logging.WARNING):
        assert find_cache() == find_cache() == home / ".cache/topoloom"
    assert caplog.messages == [
        f"topoloom: the cache {shared}/topoloom is not used: other users can write to "
        f"{shared} (chmod go-w prevents it); libraries to preload are kept in "
        f"{home}/.cache/topoloom"
    ]
    (home / ".cache").chmod(0o775)
    temporary = find_cache()
    assert temporary.parent == home
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o700
    assert "are compiled for this run only" in caplog.messages[-1]
    home.chmod(0o777)
    with pytest.raises(Error, match="set XDG_CACHE_HOME to a folder that only you can"):
        find_cache()


@need_root
def test_files_of_other_users_are_not_used(
    tmp_path: Path, home: Path, compiler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = build(compiler)
    os.chown(library, OTHER_USER, OTHER_USER)
    assert build(compiler) == library
    assert library.stat().st_uid == os.geteuid()
    assert count_compilations(compiler) == 2
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o755)
    os.chown(cache, OTHER_USER, OTHER_USER)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert find_cache() == home / ".cache/topoloom"


def test_a_relative_cache_is_ignored(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert find_cache() == home / ".cache/topoloom"
    assert "XDG_CACHE_HOME=relative is ignored" in caplog.text
    assert not (home / "relative").exists()


def test_damaged_entries_are_compiled_again(compiler: Path) -> None:
    library = build(compiler)
    intact = library.read_bytes()
    assert build(compiler) == library
    assert count_compilations(compiler) == 1
    flipped = bytes([intact[0] ^ 1]) + intact[1:]
    other = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xb7\x00"  # of aarch64
    damages = [b"", intact[:-1], intact[:20], intact + b"\0", flipped, other]
    for count, damage in enumerate(damages, start=2):
        library.write_bytes(damage)
        assert build(compiler).read_bytes() == intact
        assert count_compilations(compiler) == count
    library.chmod(0o777)
    build(compiler)
    assert count_compilations(compiler) == len(damages) + 2
    assert stat.S_IMODE(library.stat().st_mode) == 0o700


def test_a_prebuilt_installation_is_used(
    tmp_path: Path, compiler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = build(compiler)
    package = tmp_path / "topoloom"
    monkeypatch.setattr(
        library_cache, "__file__", str(package / "preload/shim/library_cache.py")
    )
    installed = package / "libraries" / library.parent.name
    installed.parent.mkdir(parents=True)
    shutil.copytree(library.parent, installed)
    shutil.rmtree(library.parent)
    assert build(compiler) == installed / "lib.so"
    assert count_compilations(compiler) == 1
    installed.chmod(0o777)
    assert build(compiler) == library
