# SPDX-License-Identifier: BSD-3-Clause
"""Print SimGrid's routes on a platform as JSON: [from, to, links].

The script runs in a Python that has SimGrid, not in the Python of the tests.
"""

import json
import sys

import simgrid

engine = simgrid.Engine(["routes", "--log=root.thres:error"])
engine.load_platform(sys.argv[1])
hosts = sorted(engine.all_hosts, key=lambda host: int(host.name.removeprefix("n")))
routes = [
    [a, b, [link.name for link in here.route_to(there)[0]]]
    for a, here in enumerate(hosts)
    for b, there in enumerate(hosts)
    if a != b
]
json.dump(routes, sys.stdout)
