# SPDX-License-Identifier: BSD-3-Clause
"""One adapter per peer: reads an instance's folder and writes an answer."""
