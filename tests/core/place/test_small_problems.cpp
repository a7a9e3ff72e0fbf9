// SPDX-License-Identifier: BSD-3-Clause
// auto finds and proves the best of all placements of few ranks, for any objective and machine.
#include <doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "bound/bound_cases.hpp"
#include "topoloom/machine/network_view.hpp"
#include "topoloom/metric/hop_bytes.hpp"
#include "topoloom/pattern/generators/ring.hpp"
#include "topoloom/place/mapper.hpp"

using namespace topoloom;

namespace {

constexpr std::uint32_t case_count = 60;
constexpr std::uint32_t max_slots = 5;

const std::vector<std::string> objectives{
    "hop-bytes",
    "congestion",
    "congestion-soft",
    "time",
    "weighted(hop-bytes=1,congestion=2)",
    "weighted(time=1,hop-bytes=0.5,congestion-soft=0.2)",
};

/// Machines without and with bandwidths, startups and several slots per node.
std::vector<std::string> list_machines() {
    std::vector<std::string> texts = machine_texts();
    texts.insert(texts.end(),
                 {"torus:2x3,nodes=2,bandwidth=1GB/s,latency=1us+node:2",
                  "mesh:3x2,bandwidth=1GB/s,latency=20us+node:2,startup=1us",
                  "dragonfly:5x4,nodes=2,cards=2,bandwidth=25GB/s,latency=1us+node:2,memory=20GB/s",
                  "hyperx:3x2,bandwidth=10GB/s,bandwidth.host=2GB/s+node:4,distance=3",
                  "fattree:2:4,up=1:2,bandwidth=12GB/s+node:2:2,distance=1:2,bandwidth=5GB/s,startup=2us",
                  "tree:2:4,bandwidth=10GB/s:2GB/s+node:4,memory=5GB/s,memory-startup=5us",
                  "rails:2:2:4,bandwidth=50GB/s,bandwidth.nvlink=450GB/s",
                  "ring:6,rings=2,bandwidth=25.6GB/s", "torus:2x3+node:3:2,distance=1:2:5"});
    return texts;
}

/// A random job of at most max_slots ranks.
struct SmallJob {
    Machine machine;
    Allocation allocation;
    CommGraph graph;
    CommGraph second;
    std::vector<double> background;
    std::string objective;

    SmallJob(const std::string& text, std::uint32_t number, Rng& rng)
        : machine(make_machine(text)),
          allocation(draw_allocation(machine, rng)),
          graph(draw_pattern(rng)),
          second(random_pattern(graph.rank_count(), 2 * graph.rank_count(), rng)),
          objective(objectives[number % objectives.size()]) {
        if (!machine.has_bandwidths() && objective.find("time") != std::string::npos)
            objective = "congestion";
        if (rng.below(4) > 0) return;
        for (std::size_t link = 0; link < machine.link_count(); ++link)
            background.push_back(rng.below(2) == 0 ? 0 : rng.below(1U << 20));
    }

    [[nodiscard]] Problem problem(Rng& rng) const {
        const Problem plain(graph, allocation, 1, 1);
        if (objective == "hop-bytes") return plain;
        std::vector<const CommGraph*> phases;
        if (rng.below(3) == 0) phases = {&graph, &second};
        return plain.with_objective(parse_objective(objective), phases, background);
    }

   private:
    static Allocation draw_allocation(const Machine& machine, Rng& rng) {
        const Allocation whole = Allocation::whole(machine);
        std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
        if (rng.below(2) == 0) rng.shuffle(std::span(slots));
        slots.resize(std::min<std::size_t>(slots.size(), 2 + rng.below(max_slots - 1)));
        return Allocation::of_slots(machine, slots);
    }
    [[nodiscard]] CommGraph draw_pattern(Rng& rng) const {
        const auto slots = static_cast<std::uint32_t>(allocation.slot_count());
        const std::size_t ranks = slots - rng.below(slots) / 2;
        if (rng.below(5) == 0) return ring(ranks, Bytes{rng.below(1U << 20)});
        return random_pattern(ranks, ranks * (1 + rng.below(4)), rng);
    }
};

/// Enumerates the placements of ranks on slots with these distances, and keeps the fewest hop-bytes.
class HopBytesEnumeration {
   public:
    HopBytesEnumeration(const CommGraph& graph, const Allocation& allocation)
        : graph_(graph), allocation_(allocation), at_(graph.rank_count()) {
        place_from(0);
    }
    [[nodiscard]] std::int64_t least() const { return least_; }

   private:
    void place_from(std::uint32_t rank) {
        if (rank == at_.size()) {
            least_ = std::min(least_, hop_bytes(graph_, allocation_.machine(), at_, 1));
            return;
        }
        for (const Slot slot : allocation_.slots()) {
            if (std::find(at_.begin(), at_.begin() + rank, slot) != at_.begin() + rank) continue;
            at_[rank] = slot;
            place_from(rank + 1);
        }
    }

    const CommGraph& graph_;
    const Allocation& allocation_;
    std::vector<Slot> at_;  // by rank
    std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

TEST_CASE("auto finds and proves the fewest hop-bytes of few ranks on many slots") {
    std::uint32_t number = 0;
    for (const std::string text : {"torus:5x4", "mesh:3x3x2+node:2,distance=2", "tree:3:3:2",
                                   "dragonfly:5x4,nodes=2", "hyperx:5x5", "torus:7x3,wrap=10"}) {
        for (const std::size_t ranks : {2, 3}) {
            Rng rng(++number);
            CAPTURE(text);
            const Machine machine = make_machine(text);
            const Allocation whole = Allocation::whole(machine);
            std::vector<Slot> slots(whole.slots().begin(), whole.slots().end());
            if (number % 2 == 0) rng.shuffle(std::span(slots));
            slots.resize(18);
            const Allocation allocation = Allocation::of_slots(machine, slots);
            const CommGraph graph = random_pattern(ranks, 4 * ranks, rng);
            const PlaceResult found = place(Problem(graph, allocation, 1, 1), "auto(effort=fast)");
            const std::int64_t least = HopBytesEnumeration(graph, allocation).least();
            CHECK(hop_bytes(graph, machine, found.placement.slots(), 1) == least);
            REQUIRE(found.proven);
            CHECK(*found.proven == static_cast<double>(least));
        }
    }
}

TEST_CASE("auto finds and proves the best of all placements of few ranks") {
    const std::vector<std::string> machines = list_machines();
    for (std::uint32_t number = 0; number < case_count; ++number) {
        Rng rng(number);
        const std::string& text = machines[rng.below(static_cast<std::uint32_t>(machines.size()))];
        if (make_machine(text).max_distance() > 60'000) continue;  // some nodes cannot reach others
        const SmallJob job(text, number, rng);
        const Problem problem = job.problem(rng);
        CAPTURE(number);
        CAPTURE(text);
        CAPTURE(job.objective);
        double least = std::numeric_limits<double>::infinity();
        for_each_placement(job.allocation, job.graph.rank_count(), [&](const Placement& placement) {
            least = std::min(least, problem.objective_value(placement.slots()));
        });
        const PlaceResult found = place(problem, "auto(effort=fast)");
        CHECK(problem.objective_value(found.placement.slots()) <= least * (1 + 1e-9));
        if (NetworkView(job.machine.topology()).is_adaptive()) continue;
        REQUIRE(found.proven);
        CHECK(*found.proven == doctest::Approx(least).epsilon(1e-9));
    }
}
