// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/cost/combining_cost.hpp"

#include <bit>
#include <cmath>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

/// The numbers derived from the rank count that the equations use.
struct EquationRanks {
    double ranks;
    double side;    // side of the smallest square or cube that has room for the ranks
    bool holes;     // whether the square or cube has empty cells
    double rounds;  // floor(log2 ranks)
};

EquationRanks find_equation_ranks(CombiningStrategy strategy, std::size_t ranks) {
    if (ranks == 0) fail("combining: no ranks; there must be 1 or more");
    std::size_t side = 1;
    const auto cells = [&] { return strategy == CombiningStrategy::grid ? side * side * side : side * side; };
    while (cells() < ranks) ++side;
    const bool full =
        strategy == CombiningStrategy::hypercube ? std::has_single_bit(ranks) : cells() == ranks;
    return {static_cast<double>(ranks), static_cast<double>(side), !full,
            static_cast<double>(std::bit_width(ranks) - 1)};
}

}  // namespace

double alltoall_time(CombiningStrategy strategy, std::size_t ranks, double bytes, const CombiningCosts& costs,
                     FormulaVariant variant) {
    const auto [p, side, holes, rounds] = find_equation_ranks(strategy, ranks);
    const double byte = bytes * costs.beta;
    const double copied = bytes * (costs.beta + costs.gamma);
    switch (strategy) {
        case CombiningStrategy::mesh:
            return 2 * (side - 1) * costs.alpha + (holes ? 2 * p : 2 * (side - 1) * side) * byte;
        case CombiningStrategy::grid:
            if (!holes) return 3 * (side - 1) * (costs.alpha + side * side * byte);
            return 3 * side * costs.alpha + (3 * p + side * side) * byte;
        case CombiningStrategy::hypercube:
            if (!holes) return rounds * (costs.alpha + p / 2 * copied);
            if (variant == FormulaVariant::printed) return std::log2(p) * (2 * costs.alpha + p * copied);
            return (rounds + 2) * costs.alpha + (rounds * p + 2 * (p - 1)) * copied;
        default:
            return (p - 1) * (costs.alpha + byte);
    }
}

double allgather_time(CombiningStrategy strategy, std::size_t ranks, double bytes,
                      const CombiningCosts& costs, FormulaVariant variant) {
    const auto [p, side, holes, rounds] = find_equation_ranks(strategy, ranks);
    const double byte = bytes * costs.beta;
    const double copied = bytes * (costs.beta + costs.gamma);
    switch (strategy) {
        case CombiningStrategy::mesh:
            return 2 * (side - 1) * costs.alpha + (holes ? p + 1 : p - 1) * byte;
        case CombiningStrategy::grid:
            if (!holes) return 3 * (side - 1) * costs.alpha + (p - 1) * byte;
            return 3 * side * costs.alpha + (p + 2 * side) * byte;
        case CombiningStrategy::hypercube:
            if (!holes) return rounds * costs.alpha + (p - 1) * copied;
            if (variant == FormulaVariant::printed)
                return (std::log2(p) + 1) * costs.alpha + 2 * (p - 1) * copied;
            return (rounds + 2) * costs.alpha + (p + 2 * (std::exp2(rounds) - 1)) * copied;
        default:
            return (p - 1) * (costs.alpha + byte);
    }
}

double nic_allgather_time(CombiningStrategy strategy, std::size_t ranks, double bytes,
                          const CombiningCosts& costs, unsigned direct, FormulaVariant variant) {
    const auto [p, side, holes, rounds] = find_equation_ranks(strategy, ranks);
    const double from_nic = bytes * costs.beta_em;
    const double staged = bytes * costs.delta;
    const bool as_printed = variant == FormulaVariant::printed;
    switch (strategy) {
        case CombiningStrategy::mesh:
            if (as_printed) return 2 * std::sqrt(p) * costs.alpha + p * from_nic + std::sqrt(p) * staged;
            return 2 * (side - 1) * costs.alpha + (holes ? p + 1 : p - 1) * from_nic + (side + 1) * staged;
        case CombiningStrategy::grid:
            if (as_printed) return 3 * std::cbrt(p) * costs.alpha + p * from_nic + std::cbrt(p * p) * staged;
            return 3 * (holes ? side : side - 1) * costs.alpha + (holes ? p + 2 * side : p - 1) * from_nic +
                   (side * side + side + 1) * staged;
        case CombiningStrategy::hypercube: {
            const double others = std::exp2(direct) - 1;
            const double gathered = p / std::exp2(direct);
            return (std::log2(p) - direct) * costs.alpha +
                   (gathered - 1) * bytes * (costs.beta + costs.gamma) +
                   others * (costs.alpha + gathered * from_nic) + gathered * staged +
                   (as_printed ? (p - 1) * bytes * costs.gamma : 0);
        }
        default:
            return (p - 1) * (costs.alpha + from_nic) + staged;
    }
}

double relay_allgather_time(std::size_t ranks, std::size_t k, double bytes, const CombiningCosts& costs) {
    if (k == 0) fail("combining: a relay forwards blocks to 1 rank or more, not to 0");
    const double p = find_equation_ranks(CombiningStrategy::direct, ranks).ranks;
    if (k == 1) return (p - 1) * (costs.alpha + bytes * costs.beta);
    return (p - 1) * (costs.alpha + bytes * costs.beta_em) +
           std::ceil(p / static_cast<double>(k)) * bytes * costs.delta;
}

double many_to_many_time(CombiningStrategy strategy, std::size_t ranks, double degree, double bytes,
                         const CombiningCosts& costs, FormulaVariant variant) {
    const double p = find_equation_ranks(strategy, ranks).ranks;
    const double byte = degree * bytes * costs.beta;
    const double moved = variant == FormulaVariant::printed ? 1 : 0.5;
    switch (strategy) {
        case CombiningStrategy::mesh:
            return 2 * std::sqrt(p) * costs.alpha + 2 * byte;
        case CombiningStrategy::grid:
            return 3 * std::cbrt(p) * costs.alpha + 3 * byte;
        case CombiningStrategy::hypercube:
            return std::log2(p) * (costs.alpha + moved * byte);
        default:
            return degree * costs.alpha + byte;
    }
}

}  // namespace topoloom
