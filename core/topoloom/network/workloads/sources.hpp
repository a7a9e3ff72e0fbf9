// SPDX-License-Identifier: BSD-3-Clause
// When nodes make packets: each in its own random stream, whatever threads there are.
#pragma once

#include <cmath>
#include <cstdint>

#include "topoloom/base/rng.hpp"

namespace topoloom {

/// A node makes a packet in any cycle with the same chance (Bernoulli), whether or not the network takes it: those that wait
/// are not stored, as the stream says when they were made.
class Source {
   public:
    /// `chance` is that of a packet in a cycle, in (0, 1].
    Source(double chance, std::uint64_t seed, std::uint32_t node)
        : rng_(seed, node), log_none_(std::log1p(-chance)) {
        next_ = gap() - 1;
    }
    /// The cycle in which the packet was made, or will be, that has not been taken yet.
    [[nodiscard]] std::uint64_t next() const { return next_; }
    void take() { next_ += gap(); }
    [[nodiscard]] Rng& rng() { return rng_; }

   private:
    [[nodiscard]] std::uint64_t gap() {
        if (std::isinf(log_none_)) return 1;
        return 1 + static_cast<std::uint64_t>(std::log1p(-rng_.uniform()) / log_none_);
    }

    Rng rng_;
    double log_none_;
    std::uint64_t next_ = 0;
};

}  // namespace topoloom
