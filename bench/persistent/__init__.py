# SPDX-License-Identifier: BSD-3-Clause
"""Persistent collectives on real ranks, compared with one-shot calls and MPI."""
