// SPDX-License-Identifier: BSD-3-Clause
// Loads of the links of a torus from many messages, in O(axes) a message instead of O(hops).
#pragma once

#include "topoloom/machine/torus.hpp"

namespace topoloom {

/// Puts the bytes of messages on the links of their routes. Along a line of links only the first and the one
/// behind the last are touched, by add(index, difference); and the messages that one node sends share the runs in
/// which their routes begin alike. Exact while sums stay below 2^53. Complete when destroyed.
template <std::size_t Width>
template <class Add>
class BasicTorus<Width>::Deposits {
   public:
    Deposits(const BasicTorus& torus, Add add) : torus_(torus), add_(std::move(add)) {}
    ~Deposits() { put_down(0); }
    Deposits(const Deposits&) = delete;
    Deposits& operator=(const Deposits&) = delete;

    void from(const Point& a) {
        put_down(0);
        from_ = to_ = a;
        bytes_.fill(0);
    }
    void to(const Point& b, double bytes) {
        const auto& order = torus_.spec_.order;
        std::size_t same = 0;
        while (same < order.size() && b.at[order[same]] == to_.at[order[same]]) bytes_[same++] += bytes;
        put_down(same);
        for (std::size_t k = same; k < order.size(); ++k) {
            to_.at[order[k]] = b.at[order[k]];
            bytes_[k] = bytes;
        }
    }

   private:
    /// Adds the runs along the k-th axis of the order and those after it.
    void put_down(std::size_t k) {
        const auto& order = torus_.spec_.order;
        Point at = from_;
        for (std::size_t i = 0; i < k; ++i) at.at[order[i]] = to_.at[order[i]];
        for (; k < order.size(); ++k) {
            const std::uint32_t axis = order[k];
            if (at.at[axis] == to_.at[axis]) continue;
            torus_.segments(axis, at.at[axis], to_.at[axis],
                            [&](const Segment& s) { put_down(s, at, bytes_[k]); });
            at.at[axis] = to_.at[axis];
        }
    }
    void put_down(const Segment& s, const Point& at, double bytes) {
        const Lines& lines = torus_.lines_[s.axis];
        const std::size_t first = torus_.line(s.axis, s.sign, at);
        const std::size_t step = lines.step[s.axis];
        const std::uint32_t end = s.start + s.length;
        const double amount = bytes * s.share;
        add_(first + s.start * step, amount);
        if (end < lines.length) add_(first + end * step, -amount);
        if (end > lines.length) {  // the run passes the end of the ring
            add_(first, amount);
            add_(first + (end - lines.length) * step, -amount);
        }
    }

    const BasicTorus& torus_;
    Add add_;
    Point from_;
    Point to_;
    std::array<double, Width> bytes_{};  // by position in the order
};

}  // namespace topoloom
