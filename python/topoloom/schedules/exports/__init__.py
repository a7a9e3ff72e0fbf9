# SPDX-License-Identifier: BSD-3-Clause
"""Writers of decisions and schedules in formats of other programs."""
