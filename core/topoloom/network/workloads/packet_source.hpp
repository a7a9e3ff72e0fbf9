// SPDX-License-Identifier: BSD-3-Clause
// Random packet creation times, with one random stream per node for reproducibility.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "topoloom/base/rng.hpp"
#include "topoloom/network/workloads/injection.hpp"

namespace topoloom {

/// Generates the creation cycles of a node's packets, independently of the network. Waiting packets are not
/// stored, because the random stream reproduces their creation cycles. Closed-loop injection uses the
/// `bernoulli` process; ClosedLoop holds packets back.
class PacketSource {
   public:
    /// Throws Error for loads outside (0, 1], packets without flits, and loads that on-off bursts cannot
    /// reach.
    PacketSource(const Injection& injection, double load, std::uint32_t packet, std::uint64_t seed,
                 std::uint32_t node);

    /// The creation cycle of the first packet that the network has not taken.
    [[nodiscard]] std::uint64_t next() const { return next_; }
    void take() {
        if (kind_ == Injection::Kind::poisson) {
            time_ += std::log1p(-rng_.uniform()) / -chance_;
            next_ = static_cast<std::uint64_t>(time_);
        } else if (kind_ == Injection::Kind::on_off) {
            next_ += draw_burst_gap();
        } else {
            next_ += draw_gap(log_none_);
        }
    }
    [[nodiscard]] Rng& rng() { return rng_; }

   private:
    /// Draws the number of cycles, at least 1, until an event that has the same probability in each cycle.
    /// `log_none` is the logarithm of the probability of no event.
    [[nodiscard]] std::uint64_t draw_gap(double log_none) {
        if (std::isinf(log_none)) return 1;
        return 1 + static_cast<std::uint64_t>(std::log1p(-rng_.uniform()) / log_none);
    }
    /// Draws the cycles to the next packet of an on-off source: packets are created only in the cycles of
    /// bursts.
    [[nodiscard]] std::uint64_t draw_burst_gap() {
        std::uint64_t gone = 0, on = draw_gap(log_none_);
        while (on > left_) {
            on -= left_;
            gone += left_ + draw_gap(log_stays_off_);
            left_ = draw_gap(log_stays_on_);
        }
        left_ -= on;
        return gone + on;
    }

    Rng rng_;
    Injection::Kind kind_;
    double chance_;    // probability of a packet per cycle (on-off: in bursts)
    double log_none_;  // log of the probability of no packet
    double log_stays_on_ = 0, log_stays_off_ = 0;
    std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();  // remaining cycles of the burst
    double time_ = 0;
    std::uint64_t next_ = 0;
};

}  // namespace topoloom
