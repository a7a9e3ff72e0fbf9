# SPDX-License-Identifier: BSD-3-Clause
"""Where launchers put ranks by their own rules."""
