# SPDX-License-Identifier: BSD-3-Clause
"""Applications whose collectives are replaced from outside, beside MPI's own."""
