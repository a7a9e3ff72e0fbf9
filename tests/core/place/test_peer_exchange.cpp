// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of ranks toward their peers: no objective on links rises, and results depend only on the seed.
#include "topoloom/place/links/peer_exchange.hpp"

#include <doctest.h>

#include <string>

#include "topoloom/machine/allocations/fragments.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

TEST_CASE("exchanges toward peers never raise the objective, and lower it from random placements") {
    for (const std::string text :
         {"torus:4x4x2,bandwidth=1GB/s,latency=1us+node:4", "dragonfly:5x4,nodes=2,bandwidth=9GB/s+node:2:2",
          "fattree:4:4,up=1:2,bandwidth=2GB/s+node:3,startup=2us"}) {
        for (const std::string objective : {"congestion", "time", "weighted(time=1,hop-bytes=1)"}) {
            CAPTURE(text);
            CAPTURE(objective);
            const Machine machine = make_machine(text);
            const Allocation allocation = fragmented_allocation(machine, 10, 3, 2);
            const CommGraph graph = random_geometric(allocation.slot_count() - 3, Bytes{100'000}, 4, 6);
            const Problem problem =
                Problem(graph, allocation, 7, 1).with_objective(parse_objective(objective), {}, {});
            const Placement start = place(problem, "random").placement;
            const auto run = [&](std::uint32_t sweeps) {
                Meter meter{Budget{}};
                return links::exchange_toward_peers(problem, start, meter, {.sweeps = sweeps});
            };
            CHECK(run(0) == start);
            const Placement found = run(20);
            CHECK(problem.key(found.slots()) < problem.key(start.slots()));
            CHECK(found == run(20));
        }
    }
}
