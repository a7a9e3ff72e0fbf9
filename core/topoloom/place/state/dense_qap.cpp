// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/state/dense_qap.hpp"

#include <cmath>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"
#include "topoloom/qap/qap_tabu.hpp"

namespace topoloom {

void require_dense_memory(std::string_view mapper, std::size_t order, std::size_t searches) {
    const double needed = qap::QapContext::bytes(order) * static_cast<double>(searches + 1);
    if (needed <= 0.5 * static_cast<double>(usable_memory())) return;
    fail(mapper, " keeps all distances between the ", order, " slots and would need ",
         std::llround(needed / 1e9), " GB of memory; use a smaller allocation or another mapper");
}

qap::Qap dense_qap(const MovablePart& part) {
    const std::size_t order = part.positions().size();
    std::vector<std::int64_t> linear = part.linear();
    if (!linear.empty()) linear.resize(order * order);
    return {order, part.bytes(order), part.distances(), std::move(linear)};
}

qap::Permutation assignment_of(const MovablePart& part, const Placement& placement) {
    qap::Permutation p;
    std::vector<char> used(part.positions().size(), false);
    for (const Position x : part.extract(placement)) {
        p.push_back(x.value);
        used[x.value] = true;
    }
    for (std::uint32_t x = 0; x < used.size(); ++x) {
        if (!used[x]) p.push_back(x);
    }
    return p;
}

Placement placement_of(const MovablePart& part, std::span<const std::uint32_t> assignment) {
    std::vector<Position> slots;
    for (const std::uint32_t x : assignment.first(part.ranks().size())) slots.emplace_back(x);
    return part.complete(slots);
}

}  // namespace topoloom
