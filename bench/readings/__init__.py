# SPDX-License-Identifier: BSD-3-Clause
"""Alternative readings of contradictory models, compared with measurements."""
