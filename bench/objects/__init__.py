# SPDX-License-Identifier: BSD-3-Clause
"""Objects: what a message costs, migrations under traffic, and what overlap gains."""
