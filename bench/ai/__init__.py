# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of AI: our groups beside the frameworks', and what compiled programs send."""
