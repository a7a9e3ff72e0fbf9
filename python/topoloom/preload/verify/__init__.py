# SPDX-License-Identifier: BSD-3-Clause
"""Verifies that a running program's ranks are on their planned hosts and CPUs."""

from __future__ import annotations

from topoloom.preload.verify.affinity_report import AffinityReport, RankAffinity
from topoloom.preload.verify.verify_agent import VerifyAgent

__all__ = ["AffinityReport", "RankAffinity", "VerifyAgent"]
