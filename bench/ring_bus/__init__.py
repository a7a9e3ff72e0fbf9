# SPDX-License-Identifier: BSD-3-Clause
"""Named affinities of the Cell for the patterns of Sudheer 2012, ch. 4."""
