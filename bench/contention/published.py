# SPDX-License-Identifier: BSD-3-Clause
"""What was published: C. D. Sudheer, *Topology and Routing Aware Mapping*, 2012."""

#: Table 7.1, Mesh: by ranks, the load of the busiest link by default and by LocalOpt.
MESH = {
    4: (97, 62),
    8: (144, 87),
    16: (168, 115),
    32: (307, 149),
    64: (576, 193),
    100: (473, 181),
    128: (481, 227),
    144: (481, 221),
    192: (567, 277),
    200: (622, 201),
    216: (567, 256),
}
