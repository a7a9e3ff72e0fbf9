// SPDX-License-Identifier: BSD-3-Clause
// Places eight threads on the elements of a ring bus, in an order selected by name.
#include "topoloom/base/error.hpp"
#include "topoloom/base/rng.hpp"
#include "topoloom/metric/bus_elements.hpp"
#include "topoloom/place/mapper_entry.hpp"

namespace topoloom::simple {

namespace {

Choices affinity_names() {
    Choices names;
    for (const NamedAffinity& affinity : named_affinities()) names.emplace_back(affinity.name);
    names.emplace_back("random");
    return names;
}

struct AffinityOptions {
    std::uint32_t named = 0;
    void visit(auto& field) {
        field("named", named, affinity_names(), "which of those of Sudheer 2012, ch. 4, or any");
    }
};

BusAffinity choose_affinity(std::uint32_t named, std::uint64_t seed) {
    if (named < named_affinities().size()) return named_affinities()[named].element_of_thread;
    BusAffinity any = named_affinities()[0].element_of_thread;
    Rng(seed).shuffle(std::span<std::uint8_t>(any));
    return any;
}

Placement place_by_affinity(const Problem& problem, Meter& meter, const AffinityOptions& options) {
    if (problem.rank_count() != bus_elements)
        fail("affinity is for the 8 ranks of one bus, not for ", problem.rank_count(),
             "; split those of a blade between its processors first");
    meter.spend(bus_elements);
    const auto elements = find_element_stations(problem.allocation());
    std::vector<Slot> slots;
    for (const std::uint8_t at : choose_affinity(options.named, problem.seed())) {
        for (const Slot slot : problem.allocation().slots()) {
            if (problem.machine().node(slot) != elements[at]) continue;
            slots.push_back(slot);
            break;
        }
    }
    return {problem.allocation(), std::move(slots)};
}

}  // namespace

MapperEntry affinity_mapper() {
    return mapper_entry<place_by_affinity>(
        {.name = "affinity",
         .summary = "eight threads on the elements of a ring bus, as named",
         .source = "Sudheer 2012, ch. 4",
         .needs = "eight ranks on a ring bus"});
}

}  // namespace topoloom::simple
