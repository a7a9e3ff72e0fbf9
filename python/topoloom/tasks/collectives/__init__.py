# SPDX-License-Identifier: BSD-3-Clause
"""What verbs do with the messages of collectives: schedules, steps, trees, lines."""
