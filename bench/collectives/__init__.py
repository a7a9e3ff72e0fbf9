# SPDX-License-Identifier: BSD-3-Clause
"""All-to-alls of short messages: our schedule and order compared with MPI."""
