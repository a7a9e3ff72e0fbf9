# SPDX-License-Identifier: BSD-3-Clause
"""Valid and invalid numbers, texts and file names for random calls."""

import math

MACHINES = (
    "torus:4x4",
    "torus:4x4+down:0",
    "mesh:3+down:0-1",
    "mesh:4x4",
    "torus:2x3x2+node:2:2,distance=1:3",
    "mesh:5+down:2",
    "fattree:4:4",
    "tree:4:4,bandwidth=1GB/s:2GB/s,latency=1us",
    "dragonfly:3x2,nodes=2,routing=ugal,bandwidth=10GB/s",
    "graph:4+1:0-4,1-4,2>4,4>2,3-4,0-1",
    "ring:8",
    "rails:2:2:2,bandwidth=50GB/s,bandwidth.nvlink=450GB/s",
    "dragonfly:3x2,nodes=2+down:v0",
    "dragonflyplus:3x2x2,nodes=2",
    "graph:2+2:0-2,1-3,2-3,routing=ecmp,table=2:ba,table=3:ab",
)
SMALL = (-2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17)
HUGE = (2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**64, 2**70, -(2**63))
FLOATS = (0.0, 0.5, 1.0, 5.9, -0.5, 1e-300, 1e300, math.nan, math.inf, -math.inf)
TEXTS = (
    "",
    "auto",
    "torus:4x4",
    "time",
    "congestion",
    "allgather",
    "a\nb",
    "\0",
    "ü",
)
FILES = (
    *("g.npz", "p.json", "q.dat", "q.sln", "m.toml", "a.txt"),
    *("junk", "empty", "folder", "none/x"),
)
