# SPDX-License-Identifier: BSD-3-Clause
"""Persistent collectives on real ranks, beside one-shot ones and MPI's own."""
