# SPDX-License-Identifier: BSD-3-Clause
"""Alltoalls of short messages: our schedule and order compared with MPI."""
