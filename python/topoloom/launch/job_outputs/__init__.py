# SPDX-License-Identifier: BSD-3-Clause
"""Output of jobs that says where their ranks are."""
