// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/place/problem.hpp"

#include <memory>

#include "topoloom/metric/hop_bytes.hpp"

namespace topoloom {

Problem::Problem(const CommGraph& graph, const Allocation& allocation, std::uint64_t seed, int threads,
                 const Sharing& sharing)
    : graph_(graph),
      allocation_(allocation),
      room_(graph, allocation, sharing),
      seed_(seed),
      threads_(threads) {
    require_exact_hop_bytes(graph, allocation.machine());
}

Problem Problem::with_seed(std::uint64_t seed) const {
    Problem other = *this;
    other.seed_ = seed;
    other.threads_ = 1;
    return other;
}

const CommGraph& Problem::symmetric() const {
    if (!symmetric_) symmetric_ = std::make_shared<const CommGraph>(graph_.symmetric());
    return *symmetric_;
}

}  // namespace topoloom
