# SPDX-License-Identifier: BSD-3-Clause
"""Topoloom and other mappers on the same instances, scored by one evaluator."""
