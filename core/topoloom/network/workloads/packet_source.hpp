// SPDX-License-Identifier: BSD-3-Clause
// Random packet creation times, with one random stream per node for reproducibility.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "topoloom/base/rng.hpp"
#include "topoloom/network/workloads/injection.hpp"

namespace topoloom {

/// The cycles in which a node makes packets, whether or not the network takes them: those that wait are not stored, as the
/// stream says when they were made. A closed loop makes them as `bernoulli` does, and holds them back elsewhere.
class PacketSource {
   public:
    /// Throws Error for loads outside of (0, 1], packets without flits, and loads that bursts do not come to.
    PacketSource(const Injection& injection, double load, std::uint32_t packet, std::uint64_t seed,
                 std::uint32_t node);

    /// The cycle in which the packet was made, or will be, that has not been taken yet.
    [[nodiscard]] std::uint64_t next() const { return next_; }
    void take() {
        if (kind_ == Injection::Kind::poisson) {
            time_ += std::log1p(-rng_.uniform()) / -chance_;
            next_ = static_cast<std::uint64_t>(time_);
        } else if (kind_ == Injection::Kind::on_off) {
            next_ += burst_gap();
        } else {
            next_ += gap(log_none_);
        }
    }
    [[nodiscard]] Rng& rng() { return rng_; }

   private:
    /// Cycles until something happens that has the same chance in each, of which 1 is the first.
    [[nodiscard]] std::uint64_t gap(double log_none) {
        if (std::isinf(log_none)) return 1;
        return 1 + static_cast<std::uint64_t>(std::log1p(-rng_.uniform()) / log_none);
    }
    /// Only the cycles of bursts count for the chance of a packet.
    [[nodiscard]] std::uint64_t burst_gap() {
        std::uint64_t gone = 0, on = gap(log_none_);
        while (on > left_) {
            on -= left_;
            gone += left_ + gap(log_stays_off_);
            left_ = gap(log_stays_on_);
        }
        left_ -= on;
        return gone + on;
    }

    Rng rng_;
    Injection::Kind kind_;
    double chance_;    // of a packet in a cycle, in bursts
    double log_none_;  // of the chance of none
    double log_stays_on_ = 0, log_stays_off_ = 0;
    std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();  // cycles of the burst
    double time_ = 0;
    std::uint64_t next_ = 0;
};

}  // namespace topoloom
