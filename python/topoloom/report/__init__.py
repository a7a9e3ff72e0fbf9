# SPDX-License-Identifier: BSD-3-Clause
"""One page that shows a placement: what it gains, who talks to whom, which links."""
