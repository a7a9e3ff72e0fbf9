// SPDX-License-Identifier: BSD-3-Clause
// Link loads of a torus from many messages, in O(axes) per message instead of O(hops).
#pragma once

#include "topoloom/machine/topologies/torus.hpp"

namespace topoloom {

/// Adds the bytes of messages to the links of their routes. For a run of links along an axis, calls
/// add(index, difference) only for the first link and for the link after the last. Messages of one node share
/// the first runs of their routes. Exact for sums below 2^53. The destructor completes the differences;
/// BasicTorus::convert_sums() then computes the loads.
template <std::size_t Width>
template <class Add>
class BasicTorus<Width>::LoadDifferences {
   public:
    LoadDifferences(const BasicTorus& torus, Add add) : torus_(torus), add_(std::move(add)) {}
    ~LoadDifferences() { flush(0); }
    LoadDifferences(const LoadDifferences&) = delete;
    LoadDifferences& operator=(const LoadDifferences&) = delete;

    void set_source(const Point& a) {
        flush(0);
        from_ = to_ = a;
        bytes_.fill(0);
    }
    void add_message_to(const Point& b, double bytes) {
        const auto& order = torus_.spec_.order;
        std::size_t same = 0;
        while (same < order.size() && b.at[order[same]] == to_.at[order[same]]) bytes_[same++] += bytes;
        flush(same);
        for (std::size_t k = same; k < order.size(); ++k) {
            to_.at[order[k]] = b.at[order[k]];
            bytes_[k] = bytes;
        }
    }

   private:
    /// Adds the runs along the k-th and later axes of the routing order.
    void flush(std::size_t k) {
        const auto& order = torus_.spec_.order;
        Point at = from_;
        for (std::size_t i = 0; i < k; ++i) at.at[order[i]] = to_.at[order[i]];
        for (; k < order.size(); ++k) {
            const std::uint32_t axis = order[k];
            const std::int32_t x = at.at[axis];
            const std::int32_t y = to_.at[axis];
            if (x == y) continue;
            const AxisLinks& lines = torus_.lines_[axis];
            const std::size_t step = lines.step[axis];
            const std::size_t line = torus_.index_among_links(lines, at) - static_cast<std::size_t>(x) * step;
            const AxisRoute route = torus_.route_along(lines, x, y);
            const double amount = route.split ? 0.5 * bytes_[k] : bytes_[k];
            const auto put = [&](bool minus) {  // the index of a link is its lower end
                add_run(lines, step, lines.first[minus ? 1 : 0] + line,
                        static_cast<std::uint32_t>(minus ? y : x), route.length, amount);
            };
            put(route.minus);
            if (route.split) [[unlikely]]
                put(true);
            at.at[axis] = to_.at[axis];
        }
    }
    /// Adds `amount` to `length` consecutive links of the line whose first link is `first`, starting at
    /// position `start`.
    void add_run(const AxisLinks& lines, std::size_t step, std::size_t first, std::uint32_t start,
                 std::uint32_t length, double amount) {
        const std::uint32_t end = start + length;
        add_(first + start * step, amount);
        if (end < lines.length) add_(first + end * step, -amount);
        if (end > lines.length) {  // the run crosses the end of the ring
            add_(first, amount);
            add_(first + (end - lines.length) * step, -amount);
        }
    }

    const BasicTorus& torus_;
    Add add_;
    Point from_;
    Point to_;
    std::array<double, Width> bytes_{};  // by position in the routing order
};

}  // namespace topoloom
