# SPDX-License-Identifier: BSD-3-Clause
"""What the order of a training job's axes is worth on machines for AI."""
