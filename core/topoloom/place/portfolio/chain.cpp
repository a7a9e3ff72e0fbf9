// SPDX-License-Identifier: BSD-3-Clause
// Parses a chain of mappers and runs it.
#include <algorithm>
#include <optional>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/place/mapper.hpp"
#include "topoloom/place/portfolio/fixed_rank_repair.hpp"
#include "topoloom/place/shared/fitting.hpp"

namespace topoloom {

namespace {

struct ChainStage {
    const MapperEntry* mapper;
    OptionValues options;
};

const MapperEntry& find_mapper(std::string_view name) {
    if (name.find(',') != std::string_view::npos)
        fail("mapper '", name, "': join the stages with +, as in gge+swap");
    std::vector<std::string> names;
    for (const MapperEntry& entry : mappers()) {
        if (entry.name == name) return entry;
        names.emplace_back(entry.name);
    }
    throw Error(unknown_name_message("mapper", name, names));
}

ChainStage parse_stage(std::string_view text) {
    NamedOptions named = read_named_options("mapper", text);
    return {&find_mapper(named.name), std::move(named.options)};
}

std::vector<ChainStage> parse_chain(std::string_view chain) {
    std::vector<ChainStage> stages;
    for (const std::string_view part : split_outside_parentheses(chain, '+'))
        stages.push_back(parse_stage(part));
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const MapperEntry& mapper = *stages[i].mapper;
        if (i == 0 && !mapper.is_constructor()) {
            fail("mapper '", mapper.name, "' improves a placement; put a constructor before it, as in block+",
                 mapper.name);
        }
        if (i > 0 && mapper.is_constructor()) {
            fail("mapper '", mapper.name, "' creates a placement from scratch; it can only come first in '",
                 chain, "'");
        }
    }
    return stages;
}

/// Throws Error if a mapper does not support the slot occupancy of the problem.
void check_occupancy(const Problem& problem, const std::vector<ChainStage>& stages) {
    const bool alone = problem.capacity().one_rank_per_slot();
    for (const ChainStage& stage : stages) {
        const Occupancy occupancy = stage.mapper->occupancy;
        if (occupancy == Occupancy::both || occupancy == (alone ? Occupancy::alone : Occupancy::shared))
            continue;
        fail("mapper '", stage.mapper->name,
             alone
                 ? "' is for ranks that share slots; here each has one of its own, so use swap or anneal"
                 : "' gives each rank a slot of its own; for ranks that share slots use auto, multisection, "
                   "refine or block");
    }
}

/// Puts fixed ranks on their slots, whatever the mapper did with them. Throws Error if ranks that share slots
/// then no longer fit.
Placement require_fixed_ranks(const Problem& problem, Placement placement) {
    std::optional<Placement> restored = portfolio::restore_fixed_ranks(problem, std::move(placement));
    if (!restored) shared::fail_to_fit();
    return *std::move(restored);
}

/// Compares true values. Searches treat distances as symmetric, which those of user-defined routes may not
/// be.
bool is_no_worse(const Problem& problem, SearchObjective objective, const Placement& placement,
                 const Placement& than) {
    switch (objective) {
        case SearchObjective::hop_bytes:
            return problem.value(placement.slots()) <= problem.value(than.slots());
        case SearchObjective::objective:
            return problem.key(placement.slots()) <= problem.key(than.slots());
        case SearchObjective::links:
            return true;  // searches on links compare true values themselves
    }
    return false;
}

}  // namespace

Placement place(const Problem& problem, std::string_view chain, Meter& meter) {
    const std::vector<ChainStage> stages = parse_chain(chain);
    check_occupancy(problem, stages);
    struct ImproveStep {
        Improver improve;
        SearchObjective minimizes;
    };
    std::vector<ImproveStep> steps;  // built first, so that invalid options are found before any work
    for (std::size_t i = 1; i < stages.size(); ++i) {
        const MapperEntry& mapper = *stages[i].mapper;
        steps.push_back({mapper.make_improver(mapper.name, stages[i].options), mapper.minimizes});
    }
    const Constructor construct =
        stages.front().mapper->make_constructor(stages.front().mapper->name, stages.front().options);
    Placement placement = require_fixed_ranks(problem, construct(problem, meter));
    for (const auto& [improve, minimizes] : steps) {
        Placement better = require_fixed_ranks(problem, improve(problem, placement, meter));
        if (better != placement && is_no_worse(problem, minimizes, better, placement))
            placement = std::move(better);
    }
    return placement;
}

PlaceResult place(const Problem& problem, std::string_view chain, const Budget& budget) {
    Meter meter(budget);
    Placement placement = place(problem, chain, meter);
    return {std::move(placement), meter.work_done(), meter.is_exhausted(), meter.lower_bound(),
            meter.rejection()};
}

}  // namespace topoloom
