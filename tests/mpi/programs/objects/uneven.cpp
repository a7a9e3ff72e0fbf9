// SPDX-License-Identifier: BSD-3-Clause
// A ring of objects with unequal computation: checks the measured loads and the result of each policy.
// `uneven FILE` writes the measured graph to FILE.
#include <algorithm>
#include <cstdio>
#include <string>
#include <topoloom_objects.hpp>
#include <vector>

namespace {

constexpr int objects = 12, heavy = 4, steps = 20;

struct Worker : topoloom::Object<Worker> {
    void work(int step) {
        const long turns = index().x < heavy ? 300000 : 3000;
        for (long i = 0; i < turns; ++i) value = value * 1.0000001 + 1e-9;
        if (step < steps) array()[(index().x + 1) % objects].send<&Worker::work>(step + 1);
    }
    void serialize(auto& archive) { archive(value); }
    using methods = topoloom::Methods<&Worker::work>;
    double value = 1;
};

/// Returns the maximum number of heavy objects on one rank.
int find_max_heavy_objects(const topoloom::Measurements& measured, int ranks) {
    std::vector<int> count(static_cast<std::size_t>(ranks));
    for (int i = 0; i < heavy; ++i) ++count[measured.rank[static_cast<std::size_t>(i)]];
    return *std::max_element(count.begin(), count.end());
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool is_right = argc > 1;
    {
        topoloom::Scheduler scheduler(MPI_COMM_WORLD);
        topoloom::Objects<Worker> workers(scheduler, {objects}, [](topoloom::Index) { return Worker(); });
        const auto measure = [&] {
            workers.for_each_local(
                [](Worker& worker) { worker.array()[worker.index()].send<&Worker::work>(0); });
            scheduler.run();
        };
        measure();
        scheduler.write_graph(argv[1]);
        const topoloom::Measurements all = scheduler.measurements();
        is_right &= all.objects() == objects && all.packed_bytes[5] == sizeof(double);
        // Initial blocks of indices: all heavy objects are on the first rank.
        is_right &= find_max_heavy_objects(all, scheduler.ranks()) == heavy;
        is_right &= scheduler.rebalance("none").moved == 0;
        for (const char* policy : {"greedy", "few-bytes", "alias", "diffusion", "repartition", "place"}) {
            measure();
            const topoloom::RebalanceResult done = scheduler.rebalance(policy, {.tolerance = 0.2});
            const bool is_better = done.busiest_after <= done.busiest_before * 1.0001 && done.average > 0;
            const bool is_spread = find_max_heavy_objects(scheduler.measurements(), scheduler.ranks()) <= 2;
            if (scheduler.rank() == 0 && !(is_better && is_spread)) std::printf("not so: %s\n", policy);
            is_right &= is_better && is_spread;
        }
        int here = 0, everywhere = 0;
        workers.for_each_local([&](Worker&) { ++here; });
        MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        is_right &= everywhere == objects;
        if (is_right && scheduler.rank() == 0) std::printf("rebalanced\n");
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
