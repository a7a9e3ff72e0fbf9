// SPDX-License-Identifier: BSD-3-Clause
// A fat tree built from digits of vertex labels, as in its papers: the reference for FatTree.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "topoloom/machine/topologies/fat_tree.hpp"

/// A vertex of level l has one digit for each of the h levels: digit j is below up[j] for j < l, otherwise
/// below arity[j]. Vertices of levels l and l + 1 are joined if all digits except digit l agree (Öhring et
/// al. 1995), by parallel[l] cables (Zahavi 2010).
class LabeledFatTree {
   public:
    using Digits = std::vector<std::uint32_t>;
    struct Cable {
        std::uint32_t from;
        std::uint32_t to;
        std::uint32_t number;  // number among parallel cables
        friend auto operator<=>(const Cable&, const Cable&) = default;
    };

    explicit LabeledFatTree(const topoloom::FatTreeSpec& spec) : spec_(spec) {
        for (std::size_t level = 0; level <= spec.arity.size(); ++level) {
            // Enumerates labels. The digits of the roots vary fastest, then those of the subtrees, each from
            // the lowest digit up.
            Digits digits(spec.arity.size(), 0);
            do {
                vertex_[{level, digits}] = static_cast<std::uint32_t>(vertex_.size());
            } while (advance_digits(level, digits));
        }
    }

    [[nodiscard]] std::size_t vertex_count() const { return vertex_.size(); }

    /// All cables, with the lower end first.
    [[nodiscard]] std::vector<Cable> cables() const {
        std::vector<Cable> all;
        for (const auto& [label, vertex] : vertex_) {
            const auto& [level, digits] = label;
            if (level == spec_.arity.size()) continue;
            Digits above = digits;
            for (above[level] = 0; above[level] < spec_.up[level]; ++above[level]) {
                for (std::uint32_t number = 0; number < spec_.parallel[level]; ++number)
                    all.push_back({vertex, vertex_.at({level + 1, above}), number});
            }
        }
        return all;
    }

    /// Zahavi's routing. The port up from level l towards x is floor(x / (up[0] * ... * up[l-1])) modulo the
    /// number of ports; port q is cable q / up[l] to parent q mod up[l]. The way down mirrors the way up. x
    /// is the target (d-mod-k) or the source (s-mod-k).
    [[nodiscard]] std::vector<Cable> route(std::uint32_t a, std::uint32_t b, std::uint32_t x) const {
        Digits at = node(a);
        const Digits end = node(b);
        std::vector<Cable> route;
        std::vector<std::uint32_t> numbers;
        std::size_t level = 0;
        while (!std::equal(at.begin() + static_cast<std::ptrdiff_t>(level), at.end(),
                           end.begin() + static_cast<std::ptrdiff_t>(level))) {
            const std::uint32_t port = x % (spec_.up[level] * spec_.parallel[level]);
            x /= spec_.up[level];
            numbers.push_back(port / spec_.up[level]);
            const std::uint32_t from = vertex_.at({level, at});
            at[level] = port % spec_.up[level];
            route.push_back({from, vertex_.at({++level, at}), numbers.back()});
        }
        while (level > 0) {
            const std::uint32_t from = vertex_.at({level, at});
            --level;
            at[level] = end[level];
            route.push_back({from, vertex_.at({level, at}), numbers[level]});
        }
        return route;
    }

    /// Routing of SimGrid 3.32: by target, but down on the cable of the first port that leads to the required
    /// child. Port c * arity + i of a switch is cable c to its child i. The search starts at cable a mod
    /// parallel, continues in the next switch at the next port, and restarts at the last port.
    [[nodiscard]] std::vector<Cable> simgrid_route(std::uint32_t a, std::uint32_t b) const {
        std::vector<Cable> way = route(a, b, b);
        const Digits end = node(b);
        std::size_t level = way.size() / 2;
        while (level > 0) {
            std::uint32_t port = a % spec_.parallel[level - 1] * spec_.arity[level - 1];
            for (; level > 0 && port < spec_.arity[level - 1] * spec_.parallel[level - 1]; ++port) {
                if (port % spec_.arity[level - 1] != end[level - 1]) continue;
                way[way.size() - level].number = port / spec_.arity[level - 1];
                --level;
            }
        }
        return way;
    }

   private:
    [[nodiscard]] Digits node(std::uint32_t number) const {
        Digits digits;
        for (const std::uint32_t arity : spec_.arity) {
            digits.push_back(number % arity);
            number /= arity;
        }
        return digits;
    }
    bool advance_digits(std::size_t level, Digits& digits) const {
        for (std::size_t j = 0; j < digits.size(); ++j) {
            if (++digits[j] < (j < level ? spec_.up[j] : spec_.arity[j])) return true;
            digits[j] = 0;
        }
        return false;
    }

    topoloom::FatTreeSpec spec_;
    std::map<std::pair<std::size_t, Digits>, std::uint32_t> vertex_;
};
