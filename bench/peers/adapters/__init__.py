# SPDX-License-Identifier: BSD-3-Clause
"""One file for each peer: from an instance's folder to an answer."""
