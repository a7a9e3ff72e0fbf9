# SPDX-License-Identifier: BSD-3-Clause
"""Commands on network models, one module each."""
