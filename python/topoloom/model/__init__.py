# SPDX-License-Identifier: BSD-3-Clause
"""Network models: files of them, those that ship, and fits to measured times."""
