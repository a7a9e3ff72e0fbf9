# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified applications with replaced collectives, compared with MPI."""
