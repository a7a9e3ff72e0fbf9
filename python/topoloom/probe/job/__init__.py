# SPDX-License-Identifier: BSD-3-Clause
"""The job that measures, and what it has measured."""
