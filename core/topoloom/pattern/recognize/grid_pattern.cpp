// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/recognize/grid_pattern.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/base/parallel.hpp"

namespace topoloom {

namespace {

/// Lists the communication partners of cells.
class PartnerLists {
   public:
    struct Partner {
        std::uint32_t cell;
        std::uint32_t of_class;
    };

    explicit PartnerLists(const GridPattern& pattern)
        : pattern_(pattern), stride_(strides_of(pattern.axes)), at_(pattern.axes.size()) {}

    const std::vector<Partner>& list_of(std::uint32_t cell) {
        std::uint32_t rest = cell;
        for (std::size_t i = 0; i < at_.size(); ++i) {
            at_[i] = rest / stride_[i];
            rest %= stride_[i];
        }
        found_.clear();
        if (pattern_.shape == StencilShape::star) {
            for (std::uint32_t i = 0; i < at_.size(); ++i) {
                for_each_along(i, cell, [&](std::uint32_t to) { found_.push_back({to, i}); });
            }
        } else {
            found_.push_back({cell, 0});
            for (std::uint32_t i = 0; i < at_.size(); ++i) {
                const std::size_t before = found_.size();
                for (std::size_t k = 0; k < before; ++k) {
                    const Partner from = found_[k];
                    for_each_along(i, from.cell, [&](std::uint32_t to) {
                        found_.push_back({to, from.of_class | 1U << i});
                    });
                }
            }
            found_.erase(found_.begin());
        }
        return found_;
    }

   private:
    template <class Use>
    void for_each_along(std::uint32_t i, std::uint32_t from, const Use& use) const {
        const auto [extent, kind] = pattern_.axes[i];
        const std::uint32_t x = at_[i];
        const std::uint32_t first = from - x * stride_[i];
        if (kind == AxisKind::apart) return;
        if (kind == AxisKind::clique) {
            for (std::uint32_t y = 0; y < extent; ++y) {
                if (y != x) use(first + y * stride_[i]);
            }
            return;
        }
        if (x > 0) use(from - stride_[i]);
        if (x + 1 < extent) use(from + stride_[i]);
        if (kind == AxisKind::ring && x == 0) use(first + (extent - 1) * stride_[i]);
        if (kind == AxisKind::ring && x + 1 == extent) use(first);
    }

    const GridPattern& pattern_;
    std::vector<std::uint32_t> stride_;
    std::vector<std::uint32_t> at_;
    std::vector<Partner> found_;
};

/// Statistics of the bytes per message of one class.
struct ClassSum {
    std::int64_t bytes = 0;
    std::int64_t count = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = 0;

    void add(std::int64_t b) {
        bytes += b;
        ++count;
        least = std::min(least, b);
        most = std::max(most, b);
    }
    void add(const ClassSum& other) {
        bytes += other.bytes;
        count += other.count;
        least = std::min(least, other.least);
        most = std::max(most, other.most);
    }
};

/// Returns the sums per class of the cells [begin, end), or an empty list if the partners of a rank do not
/// match the pattern.
std::vector<ClassSum> check_and_sum_cells(const CommGraph& graph, const GridPattern& pattern, Chunk cells) {
    std::vector<ClassSum> sums(pattern.class_count());
    PartnerLists partners(pattern);
    for (std::size_t cell = cells.begin; cell < cells.end; ++cell) {
        const Rank u = pattern.rank_of_cell[cell];
        const auto peers = graph.peers(u);
        const auto bytes = graph.bytes(u);
        const auto& expected = partners.list_of(static_cast<std::uint32_t>(cell));
        if (expected.size() != peers.size()) return {};
        for (const auto& [to, of_class] : expected) {
            const Rank v = pattern.rank_of_cell[to];
            const auto found = std::lower_bound(peers.begin(), peers.end(), v);
            if (found == peers.end() || *found != v) return {};
            sums[of_class].add(bytes[static_cast<std::size_t>(found - peers.begin())].value);
        }
    }
    return sums;
}

}  // namespace

Extents extents_of(std::span<const PatternAxis> axes) {
    Extents extents;
    for (const PatternAxis& axis : axes) extents.push_back(axis.extent);
    return extents;
}

Extents strides_of(std::span<const PatternAxis> axes) { return row_major_strides(extents_of(axes)); }

bool measure(const CommGraph& symmetric, GridPattern& pattern, int threads) {
    const Chunks chunks(symmetric.rank_count(), 4096);
    std::vector<std::vector<ClassSum>> parts(chunks.size());
    parallel_for(chunks.size(), threads,
                 [&](std::size_t c, int) { parts[c] = check_and_sum_cells(symmetric, pattern, chunks[c]); });
    std::vector<ClassSum> sums(pattern.class_count());
    for (const auto& part : parts) {
        if (part.empty()) return false;
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i].add(part[i]);
    }
    pattern.uniform = true;
    pattern.weight.clear();
    for (const ClassSum& sum : sums) {
        const bool used = sum.count > 0;
        pattern.weight.push_back(used ? static_cast<double>(sum.bytes) / static_cast<double>(sum.count) : 0);
        pattern.uniform = pattern.uniform && (!used || sum.least == sum.most);
    }
    return true;
}

std::string GridPattern::text() const {
    const auto all = [&](auto test) { return std::all_of(axes.begin(), axes.end(), test); };
    const auto count = [&](AxisKind kind) {
        return std::count_if(axes.begin(), axes.end(), [&](const PatternAxis& a) { return a.kind == kind; });
    };
    if (axes.size() == 1 && axes[0].kind == AxisKind::ring)
        return "ring of " + std::to_string(axes[0].extent);
    if (axes.size() == 1 && axes[0].kind == AxisKind::path)
        return "path of " + std::to_string(axes[0].extent);
    if (axes.size() == 1) return "alltoall of " + std::to_string(axes[0].extent);
    if (axes[0].kind == AxisKind::apart && axes.size() == 2)
        return std::to_string(axes[0].extent) + " groups of " + std::to_string(axes[1].extent);
    if (shape == StencilShape::star && all([](const PatternAxis& a) { return a.extent == 2; }))
        return "hypercube of " + std::to_string(axes.size()) + " dimensions";
    std::string text =
        format_extents(extents_of(axes)) + (shape == StencilShape::star ? " star grid" : " box grid");
    if (count(AxisKind::ring) > 0 || count(AxisKind::clique) > 0) {
        text += ", axes ";
        for (const PatternAxis& axis : axes) text += "|oc."[static_cast<std::size_t>(axis.kind)];
    }
    return text;
}

}  // namespace topoloom
