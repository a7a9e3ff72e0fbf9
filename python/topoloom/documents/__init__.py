# SPDX-License-Identifier: BSD-3-Clause
"""Types of the JSON documents that the commands print.

No command imports them: they serve type checkers and generate the JSON Schemas.
"""
