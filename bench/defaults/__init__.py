# SPDX-License-Identifier: BSD-3-Clause
"""What our defaults gain beside the launcher's order, Scotch and hop-bytes."""
