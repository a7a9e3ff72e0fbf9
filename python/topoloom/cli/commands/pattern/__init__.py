# SPDX-License-Identifier: BSD-3-Clause
"""Commands on communication graphs, one module each."""
