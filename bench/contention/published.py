# SPDX-License-Identifier: BSD-3-Clause
"""Values published by C. D. Sudheer, *Topology and Routing Aware Mapping*, 2012."""

from contention.measure import DEFAULT, EMAHD_ON_LINKS, RIVAL

NEAR_WAYS = (DEFAULT, "gge", "mahd", "emahd", "grasp")
LINK_WAYS = (DEFAULT, "gge", "mahd", "grasp", EMAHD_ON_LINKS, RIVAL)

#: Table 6.1, Mesh: hops per byte by ranks, in the columns of `NEAR_WAYS`.
HOPS_PER_BYTE = {
    8: (2.22, 2.18, 1.83, 1.48, 1.43),
    16: (5.36, 3.88, 4.02, 3.76, 2.98),
    32: (5.88, 5.19, 4.3, 4.05, 2.94),
    64: (8.19, 6.04, 5.43, 4.72, 4.34),
    100: (3.84, 3.86, 3.16, 2.74, 2.56),
    128: (3.49, 4.21, 3.51, 2.91, 2.92),
    144: (4.25, 4.16, 3.22, 2.61, 2.73),
    192: (5.12, 5.37, 4.06, 3.56, 3.73),
    200: (4.3, 4.05, 2.83, 2.77, 3.14),
    216: (2.99, 2.83, 1.9, 1.73, 1.84),
    250: (5.5, 5.37, 3.45, 3.39, 3.66),
    300: (5.66, 5.16, 3.73, 3.29, 3.42),
}

#: Table 7.1, Mesh: load of the busiest link by ranks, in the columns of `LINK_WAYS`.
BUSIEST_LINK = {
    4: (97, 73, 62, 73, 62, 62),
    8: (144, 104, 162, 151, 113, 87),
    16: (168, 233, 144, 170, 128, 115),
    32: (307, 267, 285, 338, 228, 149),
    64: (576, 413, 634, 484, 396, 193),
    100: (473, 679, 501, 514, 376, 181),
    128: (481, 457, 455, 522, 406, 227),
    144: (481, 449, 510, 481, 377, 221),
    192: (567, 565, 538, 560, 449, 277),
    200: (622, 576, 457, 416, 300, 201),
    216: (567, 575, 632, 632, 464, 256),
}
