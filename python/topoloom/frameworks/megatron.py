# SPDX-License-Identifier: BSD-3-Clause
"""Megatron-Core jobs: supported axis orders and their process groups.

One order applies to two meshes over the same ranks. The attention mesh has tp, cp, dp
and pp; the expert mesh has etp, ep, edp and pp. In an order, tp also means etp, and dp
means edp. Expert axes therefore do not increase the number of ranks, and the position
of ep does not affect tp, cp or dp. Until 0.9, experts divided only dp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import ClassVar

from topoloom._core import Error
from topoloom.frameworks.job import Job
from topoloom.graphs.layouts import Layout, View
from topoloom.support.name_lookup import describe_unknown_name

#: Axes of an order, in Megatron's default order.
AXES = ("tp", "cp", "ep", "dp", "pp")

_DEFAULT = "-".join(AXES)

#: Besides the default, the only order that a flag of Megatron-LM selects.
_FLAGGED_ORDER = "tp-cp-ep-pp-dp"

#: Default release.
NEWEST = (0, 16)

#: First release with an expert mesh, and first release that requires pp last.
_EXPERT_MESH_SINCE, _PP_LAST_SINCE = (0, 10), (0, 11)


@dataclass(frozen=True)
class MegatronJob(Job):
    """A job of a Megatron-Core release, defined by the sizes of its axes.

    Attributes
    ----------
    tp, cp, dp, pp
        Axes whose product is the number of ranks.
    ep
        Number of ranks that share the experts of a layer.
    etp
        Number of ranks that each expert is split over; None: `tp`.
    release
        Release of Megatron-Core, such as ``(0, 16)``.
    """

    tp: int = 1
    cp: int = 1
    dp: int = 1
    pp: int = 1
    ep: int = 1
    etp: int | None = None
    release: tuple[int, int] = NEWEST

    framework: ClassVar[str] = "megatron"

    def __post_init__(self) -> None:
        for axis, size in {
            **self.mesh,
            "ep": self.ep,
            "etp": self._effective_etp,
        }.items():
            if size < 1:
                raise Error(f"{axis} = {size}; it must be at least 1")
        if self._has_expert_mesh:
            divisor, what = self._effective_etp * self.ep * self.pp, "etp x ep x pp"
            if self.ranks % divisor:
                other = "choose another ep or etp"
                if self.etp is None and self.ranks % (self.ep * self.pp) == 0:
                    other = f"etp is tp = {self.tp} unless given; etp=1 fits"
                raise Error(
                    f"{self.ranks} ranks are not a multiple of {what} = {divisor}; "
                    f"{other}"
                )
            return
        if self._effective_etp != self.tp:
            raise Error(
                f"Megatron-Core {self._release_text} splits experts over tp = "
                f"{self.tp} ranks, not etp = {self._effective_etp}; etp requires 0.10"
            )
        if self.dp % self.ep:
            raise Error(
                f"dp = {self.dp} is not a multiple of ep = {self.ep}, which "
                f"Megatron-Core {self._release_text} requires"
            )

    @property
    def mesh(self) -> dict[str, int]:
        """Sizes of the axes whose product is the number of ranks."""
        return {"tp": self.tp, "cp": self.cp, "dp": self.dp, "pp": self.pp}

    @property
    def axes(self) -> dict[str, int]:
        """Sizes of all axes; expert axes are last."""
        return {
            **self.mesh,
            "etp": self._effective_etp,
            "ep": self.ep,
            "edp": self._effective_edp,
        }

    def layout(self, name: str) -> Layout:
        """Make the layout of an order such as ``tp-cp-ep-dp-pp``.

        Raises
        ------
        topoloom.Error
            If Megatron does not support the order, or the order repeats an axis.
        """
        order = name.split("-")
        for axis in order:
            if axis not in AXES:
                raise Error(describe_unknown_name("axis of Megatron", axis, AXES))
            if order.count(axis) > 1:
                raise Error(f"order '{name}' names {axis} twice")
        attention = self._make_view(name, dict(tp="tp", cp="cp", dp="dp", pp="pp"))
        if self._has_expert_mesh:
            experts = self._make_view(name, dict(tp="etp", ep="ep", dp="edp", pp="pp"))
            self._check_stage_ranks(name, attention, experts)
        else:
            if "ep" in order and not re.search("ep-dp|dp-ep", name):
                raise Error(
                    f"order '{name}' separates ep and dp; Megatron-Core "
                    f"{self._release_text} requires them to be adjacent"
                )
            experts = self._make_view(
                name, dict(tp="etp", cp="cp", ep="ep", dp="edp", pp="pp")
            )
        return Layout(name, (attention, experts))

    def layouts(self) -> list[Layout]:
        """List the distinct layouts, Megatron's default first.

        Next are layouts with the default order of attention axes. If several orders
        have equal groups, only the order closest to the default is listed.
        """
        layouts: dict[tuple[View, ...], Layout] = {}
        for order in sorted(permutations(AXES), key=_compute_order_distance):
            try:
                layout = self.layout("-".join(order))
            except Error:
                continue
            groups = tuple(
                tuple(axis for axis in view if axis[1] > 1) for view in layout.views
            )
            layouts.setdefault(groups, layout)
        return list(layouts.values())

    def settings(self, name: str) -> list[str]:
        """List this job's Megatron-LM flags, and Python code where no flag exists."""
        flags = [
            f"--{words}-parallel-size {size}"
            for words, size in (
                ("tensor-model", self.tp),
                ("context", self.cp),
                ("pipeline-model", self.pp),
                ("expert-model", self.ep),
            )
            if size > 1
        ]
        if self._effective_etp != self.tp:
            flags.append(f"--expert-tensor-parallel-size {self._effective_etp}")
        if name == _FLAGGED_ORDER:
            flags.append("--use-tp-pp-dp-mapping")
        lines = [" ".join(flags)] if flags else []
        if name not in (_FLAGGED_ORDER, _DEFAULT):
            lines.append(f'initialize_model_parallel(..., order="{name}")')
        return lines

    def variants(self) -> list[MegatronJob]:
        """Return this job and, if etp is unspecified, jobs with other values of etp.

        The values of etp are the divisors of tp.
        """
        if self.etp is not None or not self._has_expert_mesh or self.ep == 1:
            return [self]
        smaller = [etp for etp in range(self.tp - 1, 0, -1) if self.tp % etp == 0]
        return [self, *(replace(self, etp=etp) for etp in smaller)]

    @property
    def _effective_etp(self) -> int:
        return self.tp if self.etp is None else self.etp

    @property
    def _effective_edp(self) -> int:
        if self._has_expert_mesh:
            return self.ranks // (self._effective_etp * self.ep * self.pp)
        return self.dp // self.ep

    @property
    def _has_expert_mesh(self) -> bool:
        return self.release >= _EXPERT_MESH_SINCE

    @property
    def _release_text(self) -> str:
        return "{}.{}".format(*self.release)

    def _make_view(self, name: str, axis_names: dict[str, str]) -> View:
        """Order the axes of a view; `axis_names` maps names used in `order` to axes."""
        order = [axis for axis in name.split("-") if axis in axis_names]
        for axis, own in axis_names.items():
            if axis in order:
                continue
            if self.axes[own] > 1:
                raise Error(
                    f"order '{name}' does not name {axis}, and {own} has "
                    f"{self.axes[own]} ranks"
                )
            order.append(axis)
        return tuple((axis_names[axis], self.axes[axis_names[axis]]) for axis in order)

    def _check_stage_ranks(self, name: str, attention: View, experts: View) -> None:
        last = name.endswith("pp") or self.pp == 1 or self._effective_edp == self.dp
        if self.release >= _PP_LAST_SINCE and not last:
            raise Error(
                f"order '{name}' does not end with pp, which Megatron-Core "
                f"{self._release_text} requires because edp = {self._effective_edp} "
                f"differs from dp = {self.dp}"
            )
        if self.pp > 1 and _compute_pipeline_stride(
            attention
        ) != _compute_pipeline_stride(experts):
            raise Error(
                f"order '{name}' assigns different ranks to the attention and expert "
                "parts of a pipeline stage; put pp last"
            )


def make_megatron_job(
    mesh: dict[str, int], experts: dict[str, int], release: tuple[int, int] = NEWEST
) -> MegatronJob:
    """Make a job from axis sizes, such as ``{"tp": 2, "dp": 8}`` and ``{"ep": 4}``.

    Raises
    ------
    topoloom.Error
        If Megatron lacks an axis, or the expert sizes do not divide the number of
        ranks.
    """
    if "ep" in mesh or "etp" in mesh:
        raise Error(
            "ep and etp are not axes of Megatron's mesh, because experts share the "
            "ranks of the other axes; pass them as experts"
        )
    for given, known in ((mesh, ("tp", "cp", "dp", "pp")), (experts, ("ep", "etp"))):
        for axis in given:
            if axis not in known:
                what = "the experts" if given is experts else "the mesh"
                raise Error(
                    describe_unknown_name(f"axis of {what} in Megatron", axis, known)
                )
    return MegatronJob(**mesh, **experts, release=release)


def _compute_order_distance(order: tuple[str, ...]) -> tuple[int, int]:
    """Count inversions of the default order, in attention axes and in all axes."""
    pairs = [
        pair
        for pair in combinations(order, 2)
        if AXES.index(pair[0]) > AXES.index(pair[1])
    ]
    return sum("ep" not in pair for pair in pairs), len(pairs)


def _compute_pipeline_stride(view: View) -> int:
    """Return the rank distance between consecutive pipeline stages."""
    stride = 1
    for axis, size in view:
        if axis == "pp":
            break
        stride *= size
    return stride
