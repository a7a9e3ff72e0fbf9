// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/balance/diffusion.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "topoloom/balance/balancer.hpp"
#include "topoloom/balance/machine_neighbors.hpp"
#include "topoloom/balance/target_loads.hpp"

namespace topoloom {

namespace {

std::vector<std::int64_t> compute_excess(std::span<const std::int64_t> loads) {
    std::vector<std::int64_t> excess = target_loads(loads);
    for (std::size_t i = 0; i < loads.size(); ++i) excess[i] = loads[i] - excess[i];
    return excess;
}

/// For each pair, the fraction of its load difference that flows in one step.
std::vector<double> compute_flow_fractions(const RankNetwork& network) {
    std::vector<double> shares;
    for (const auto& [low, high] : network.pairs)
        shares.push_back(1.0 / (1 + std::max(network.degree[low], network.degree[high])));
    return shares;
}

/// Upper bound on the fraction of a difference that remains after a step: the second largest eigenvalue of
/// the diffusion matrix, by power iteration.
double estimate_decay(const RankNetwork& network, const std::vector<double>& shares) {
    std::vector<double> iterate(network.ranks);
    for (std::size_t i = 0; i < iterate.size(); ++i)
        iterate[i] = std::cos(3.0 * static_cast<double>(i) / static_cast<double>(iterate.size())) +
                     (i % 2 ? 0.1 : -0.1);
    double decay = 0;
    std::vector<double> next;
    for (int power = 0; power < 100; ++power) {
        double mean = 0;
        for (const double value : iterate) mean += value / static_cast<double>(iterate.size());
        double norm = 0;
        for (double& value : iterate) {
            value -= mean;
            norm += value * value;
        }
        if (norm == 0) return decay;
        for (double& value : iterate) value /= std::sqrt(norm);
        next = iterate;
        for (std::size_t p = 0; p < shares.size(); ++p) {
            const auto [low, high] = network.pairs[p];
            const double flow = shares[p] * (iterate[low] - iterate[high]);
            next[low] -= flow;
            next[high] += flow;
        }
        norm = 0;
        for (const double value : next) norm += value * value;
        decay = std::sqrt(norm);
        iterate.swap(next);
    }
    return std::min(decay, 1 - 1e-9);
}

}  // namespace

Plan diffusion_plan(std::span<const std::int64_t> loads, const RankNetwork& network, std::uint32_t order,
                    std::uint32_t steps) {
    const std::vector<std::int64_t> excess = compute_excess(loads);
    const std::vector<double> shares = compute_flow_fractions(network);
    std::vector<double> residual_excess(excess.begin(), excess.end());
    std::vector<double> step(shares.size(), 0);  // flow of the previous step
    Flow flow(shares.size(), 0);
    const double decay = order == 2 ? estimate_decay(network, shares) : 0;
    const double beta = 2 / (1 + std::sqrt(1 - decay * decay));
    const auto is_within_half = [](double e) { return std::abs(e) < 0.5; };
    for (std::uint32_t done = 0; done < steps && !std::ranges::all_of(residual_excess, is_within_half);
         ++done) {
        const std::vector<double> before = residual_excess;
        const bool is_second_order = order == 2 && done > 0;
        for (std::size_t p = 0; p < shares.size(); ++p) {
            const auto [low, high] = network.pairs[p];
            const double levelled = shares[p] * (before[low] - before[high]);
            step[p] = is_second_order ? beta * levelled + (beta - 1) * step[p] : levelled;
            flow[p] += step[p];
            residual_excess[low] -= step[p];
            residual_excess[high] += step[p];
        }
    }
    return convert_flow_to_plan(network, flow, excess);
}

Plan integer_diffusion_plan(std::span<const std::int64_t> loads, const RankNetwork& network,
                            std::uint32_t steps) {
    std::vector<std::int64_t> load(loads.begin(), loads.end());
    std::vector<std::int64_t> flow(network.pairs.size(), 0);
    const auto move = [&](std::size_t pair, std::int64_t tasks) {
        flow[pair] += tasks;
        load[network.pairs[pair].low] -= tasks;
        load[network.pairs[pair].high] += tasks;
        return tasks != 0;
    };
    bool moves = true;
    for (std::uint32_t done = 0; done < steps && moves; ++done) {
        moves = false;
        const std::vector<std::int64_t> before = load;
        for (std::size_t p = 0; p < flow.size(); ++p) {
            const auto [low, high] = network.pairs[p];
            const std::int64_t share = 1 + std::max(network.degree[low], network.degree[high]);
            moves |= move(p, (before[low] - before[high]) / share);  // towards zero
        }
        if (moves) continue;
        for (std::size_t p = 0; p < flow.size(); ++p)
            moves |= move(p, (load[network.pairs[p].low] - load[network.pairs[p].high]) / 2);
    }
    return convert_flow_to_plan(network, std::move(flow));
}

Plan laplacian_plan(std::span<const std::int64_t> loads, const RankNetwork& network) {
    const std::vector<std::int64_t> excess = compute_excess(loads);
    std::vector<double> residual(excess.begin(), excess.end());
    std::vector<double> potential(network.ranks, 0);
    std::vector<double> direction = residual;
    std::vector<double> image(network.ranks);
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum;
    };
    double square = dot(residual, residual);
    const double enough = 1e-12 * square;
    // Exact arithmetic would need at most as many iterations as ranks; after these, rounding errors of flows
    // are larger than the residual.
    for (std::size_t done = 0; done < std::min<std::size_t>(network.ranks, 1000) && square > enough; ++done) {
        std::ranges::fill(image, 0);
        for (const auto& [low, high] : network.pairs) {
            const double difference = direction[low] - direction[high];
            image[low] += difference;
            image[high] -= difference;
        }
        const double length = square / dot(direction, image);
        for (std::size_t i = 0; i < network.ranks; ++i) {
            potential[i] += length * direction[i];
            residual[i] -= length * image[i];
        }
        const double before = square;
        square = dot(residual, residual);
        for (std::size_t i = 0; i < network.ranks; ++i)
            direction[i] = residual[i] + square / before * direction[i];
    }
    Flow flow;
    for (const auto& [low, high] : network.pairs) flow.push_back(potential[low] - potential[high]);
    return convert_flow_to_plan(network, flow, excess);
}

namespace {

enum class Neighbors { machine, ring, hypercube };

struct FlowOptions {
    Neighbors neighbors = Neighbors::machine;
    void visit(auto& field) {
        field(
            "neighbors", neighbors, Choices{"machine", "ring", "hypercube"},
            "ranks between which tasks move; machine: ranks on adjacent nodes of a torus or mesh, else ranks "
            "that differ in one bit of their position in the machine; ring: adjacent ranks; hypercube: ranks "
            "that differ in one bit");
    }
};

/// Computes a plan on the network that the options name.
template <class MakeFlowPlan>
Plan make_plan_on_network(const BalanceProblem& problem, const FlowOptions& options,
                          const MakeFlowPlan& make) {
    const std::size_t ranks = problem.loads.size();
    if (options.neighbors != Neighbors::machine || problem.machine == nullptr)
        return make(
            problem.loads,
            make_rank_network(
                options.neighbors == Neighbors::ring ? NeighborRule::ring : NeighborRule::hypercube, ranks));
    const NumberedNetwork near = join_machine_neighbors(*problem.machine, problem.slots);
    std::vector<std::int64_t> loads;
    for (const std::uint32_t rank : near.rank_of_number) loads.push_back(problem.loads[rank]);
    Plan plan = make(loads, near.network);
    for (TaskMove& move : plan)
        move = {Rank{near.rank_of_number[move.from.value]}, Rank{near.rank_of_number[move.to.value]},
                move.tasks};
    return make_plan(std::move(plan));
}

constexpr Range step_range{1, 1e6};

struct IntegerDiffusionOptions : FlowOptions {
    std::uint32_t steps = 1000;
    void visit(auto& field) {
        FlowOptions::visit(field);
        field("steps", steps, step_range, "maximum number of diffusion steps");
    }
};

struct DiffusionOptions : IntegerDiffusionOptions {
    std::uint32_t order = 1;
    void visit(auto& field) {
        IntegerDiffusionOptions::visit(field);
        field("order", order, Range{1, 2},
              "1: a step depends on loads only; 2: a step also repeats part of the previous step");
    }
};

Plan run_diffusion(const BalanceProblem& problem, const DiffusionOptions& options) {
    return make_plan_on_network(problem, options, [&](const auto& loads, const RankNetwork& network) {
        return diffusion_plan(loads, network, options.order, options.steps);
    });
}

Plan run_integer_diffusion(const BalanceProblem& problem, const IntegerDiffusionOptions& options) {
    return make_plan_on_network(problem, options, [&](const auto& loads, const RankNetwork& network) {
        return integer_diffusion_plan(loads, network, options.steps);
    });
}

Plan run_laplacian(const BalanceProblem& problem, const FlowOptions& options) {
    return make_plan_on_network(problem, options, [](const auto& loads, const RankNetwork& network) {
        return laplacian_plan(loads, network);
    });
}

}  // namespace

Balancer diffusion_balancer() {
    return balancer<run_diffusion>(
        {.name = "diffusion",
         .summary = "neighbors reduce their load difference, step by step",
         .source = "Cybenko 1989; second order: Muthukrishnan, Ghosh, Schultz 1998",
         .forwards_tasks = true});
}

Balancer integer_diffusion_balancer() {
    return balancer<run_integer_diffusion>(
        {.name = "integer-diffusion",
         .summary = "diffusion of whole tasks, until neighbors differ by at most one",
         .source = "Sudheer 2012, ch. 5",
         .forwards_tasks = true});
}

Balancer laplacian_balancer() {
    return balancer<run_laplacian>({.name = "laplacian",
                                    .summary = "tasks follow the least-squares flow between neighbors",
                                    .source = "Hu, Blake, Emerson 1998",
                                    .forwards_tasks = true});
}

}  // namespace topoloom
