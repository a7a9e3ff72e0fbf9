// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/choose/axis_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/choose/layout_evaluator.hpp"
#include "topoloom/place/grid/slot_lines.hpp"
#include "topoloom/place/parallel_search.hpp"

namespace topoloom {

namespace {

using Pieces = AxisPieces;
using Flags = AxisFlags;

constexpr std::size_t max_axes = 8;
constexpr std::size_t max_lines = 16;
constexpr std::size_t lines_to_split_on = 4;
constexpr std::size_t starts_on_line = 8;         // number of starting orders for the exchange of pieces
constexpr std::size_t layouts_to_split = 4;       // on a line
constexpr std::size_t starts_on_layout = 2;       // must be starts_on_line / layouts_to_split
constexpr std::size_t max_messages = 50'000'000;  // limit of messages measured on a line

/// Searches for fast orders of pieces along one line of slots.
class LineSearch {
   public:
    struct Found {
        std::size_t layout;
        double seconds;
        Pieces pieces;
        Flags back_and_forth;
    };

    /// `has_row_rings`: whether a group may have a ring along each dimension of the network.
    LineSearch(const LayoutEvaluator& mesh, grid::SlotLine line, bool has_row_rings)
        : mesh_(&mesh), line_(std::move(line)), has_row_rings_(has_row_rings), known_(mesh.traffic_count()) {}

    /// The order of these pieces, or of the axes as the rank numbering has them.
    [[nodiscard]] Found make_given_order(std::size_t layout, Meter& meter,
                                         std::span<const AxisPiece> pieces = {}) {
        const auto& extents = mesh_->layouts()[layout].extents;
        Found found{layout, 0, {pieces.begin(), pieces.end()}, Flags(extents.size(), false)};
        for (std::uint32_t axis = 0; pieces.empty() && axis < extents.size(); ++axis)
            found.pieces.push_back({axis, extents[axis]});
        found.seconds = measure_seconds(found, meter);
        return found;
    }

    /// The `keep` best orders of whole axes, fastest first. Tries all orders that the budget allows, but at
    /// least one.
    [[nodiscard]] std::vector<Found> find_best_unsplit_orders(std::size_t layout, std::size_t keep,
                                                              Meter& meter) {
        const auto& extents = mesh_->layouts()[layout].extents;
        std::vector<std::uint32_t> axes;
        for (std::uint32_t axis = 0; axis < extents.size(); ++axis) {
            if (extents[axis] > 1) axes.push_back(axis);
        }
        std::vector<Found> all;
        do {
            Found found{layout, 0, {}, Flags(extents.size(), false)};
            for (const std::uint32_t axis : axes) found.pieces.push_back({axis, extents[axis]});
            found.seconds = measure_seconds(found, meter);
            all.push_back(std::move(found));
        } while (!meter.is_exhausted() && std::ranges::next_permutation(axes).found);
        std::ranges::stable_sort(all, {}, &Found::seconds);
        if (all.size() > keep) all.resize(keep);
        return all;
    }

    /// Splits axes into prime factors and exchanges pairs of factors until no exchange reduces the time.
    [[nodiscard]] Found exchange_axis_factors(Found found, Meter& meter) {
        if (mesh_->layouts()[found.layout].solid) return found;
        found.pieces = split_into_primes(found.pieces);
        choose_back_and_forth(found, meter);
        for (bool better = true; better;) {
            better = false;
            for (std::size_t i = 0; i < found.pieces.size(); ++i) {
                for (std::size_t j = i + 1; j < found.pieces.size(); ++j) {
                    if (found.pieces[i] == found.pieces[j]) continue;
                    if (measured_ > max_messages || meter.is_exhausted()) return found;
                    Found other = found;
                    std::swap(other.pieces[i], other.pieces[j]);
                    other.seconds = measure_seconds(other, meter);
                    choose_back_and_forth(other, meter);
                    if (!is_less(other.seconds, found.seconds)) continue;
                    found = std::move(other);
                    better = true;
                }
            }
        }
        return found;
    }

    [[nodiscard]] AxisOrder make_axis_order(const Found& found) {
        AxisOrder order{{},
                        found.back_and_forth,
                        mesh_->place_ranks(found.layout, line_, found.pieces, found.back_and_forth),
                        {},
                        {}};
        for (const AxisPiece& piece : found.pieces) {
            if (!order.pieces.empty() && order.pieces.back().axis == piece.axis) {
                order.pieces.back().size *= piece.size;
            } else {
                order.pieces.push_back(piece);
            }
        }
        for (std::size_t t = 0; t < known_.size(); ++t) {
            const TrafficTime& time = measure_traffic(t, found);
            order.seconds.push_back(time.seconds);
            order.ring_shapes.push_back(time.ring_shape);
        }
        return order;
    }

    /// Compares with a tolerance: values that differ only by rounding count as equal.
    static bool is_less(double a, double b) { return a < b * (1 - 1e-12); }

   private:
    struct TrafficTime {
        double seconds;
        std::vector<std::uint32_t> ring_shape;  // MeshTraffic::shape
    };

    [[nodiscard]] double measure_seconds(const Found& found, Meter& meter) {
        const std::size_t before = measured_;
        double sum = 0;
        for (std::size_t t = 0; t < known_.size(); ++t) sum += measure_traffic(t, found).seconds;
        meter.spend(measured_ - before);
        return sum;
    }
    static Pieces split_into_primes(const Pieces& pieces) {
        Pieces primes;
        for (auto [axis, rest] : pieces) {
            for (std::uint32_t prime = 2; rest > 1; ++prime) {
                for (; rest % prime == 0; rest /= prime) primes.push_back({axis, prime});
            }
        }
        return primes;
    }
    void choose_back_and_forth(Found& found, Meter& meter) {
        for (std::uint32_t axis = 0; axis < found.back_and_forth.size(); ++axis) {
            Found other = found;
            other.back_and_forth[axis] = !other.back_and_forth[axis];
            other.seconds = measure_seconds(other, meter);
            if (is_less(other.seconds, found.seconds)) found = std::move(other);
        }
    }
    /// The time of one traffic. It depends only on the digits of the traffic's axes, so it is cached by these
    /// digits.
    const TrafficTime& measure_traffic(std::size_t t, const Found& found) {
        const LayoutInDigits& layout = mesh_->layouts()[found.layout];
        const TrafficInDigits& traffic = layout.traffic[t];
        DigitKey key;
        if (layout.solid) append_digits(key, traffic.digits);
        for (const std::uint32_t axis : traffic.axes) {
            const std::vector<Digit> digits =
                list_digits(axis, found.pieces, line_, found.back_and_forth[axis]);
            if (digits.size() > 1 && found.back_and_forth[axis]) {
                for (const auto& [size, stride] : digits) key.insert(key.end(), {size, stride, axis + 1});
            } else {
                append_digits(key, digits);
            }
        }
        const auto [entry, is_new] = known_[t].try_emplace(std::move(key));
        TrafficTime& time = entry->second;
        if (!is_new) return time;
        const std::vector<Slot> slots =
            mesh_->place_ranks(found.layout, line_, found.pieces, found.back_and_forth);
        time.seconds = mesh_->measure_seconds(traffic, slots);
        measured_ += LayoutEvaluator::count_messages(traffic);
        const std::vector<std::uint32_t> shape = list_ring_shape(traffic, found);
        if (shape.size() > 1) {
            const double seconds = mesh_->measure_seconds(traffic, shape, slots);
            measured_ += 2 * shape.size() * slots.size();
            if (is_less(seconds, time.seconds)) time = {seconds, shape};
        }
        return time;
    }
    /// The shape of rings along each dimension of the network; empty if a group has only one ring.
    [[nodiscard]] std::vector<std::uint32_t> list_ring_shape(const TrafficInDigits& traffic,
                                                             const Found& found) const {
        if (!has_row_rings_ || traffic.view.traffic.collective != MeshCollective::ring) return {};
        std::vector<Digit> digits;
        for (const std::uint32_t axis : traffic.axes) {
            if (found.back_and_forth[axis]) return {};
            const std::vector<Digit> own = list_digits(axis, found.pieces, line_, false);
            digits.insert(digits.end(), own.begin(), own.end());
        }
        return list_row_parts(digits, line_);
    }

    const LayoutEvaluator* mesh_;  // a pointer, so that searches can be sorted
    grid::SlotLine line_;
    bool has_row_rings_;
    std::vector<std::map<DigitKey, TrafficTime>> known_;  // by traffic
    std::size_t measured_ = 0;                            // messages
};

/// The search along one line, and its starting orders, fastest first.
struct SearchedLine {
    LineSearch search;
    std::vector<LineSearch::Found> found;
};

std::vector<SearchedLine> list_starts(const LayoutEvaluator& mesh, const Allocation& allocation,
                                      std::size_t ranks, bool has_row_rings) {
    std::vector<SearchedLine> starts;
    for (grid::SlotLine& line : grid::slot_lines(allocation, ranks, max_lines))
        starts.push_back({{mesh, std::move(line), has_row_rings}, {}});
    return starts;
}

/// The few lines with the fastest starting orders.
std::span<SearchedLine> select_promising(std::vector<SearchedLine>& starts) {
    std::erase_if(starts, [](const SearchedLine& start) { return start.found.empty(); });
    std::ranges::stable_sort(starts, {},
                             [](const SearchedLine& start) { return start.found.front().seconds; });
    return std::span(starts).first(std::min(starts.size(), lines_to_split_on));
}

void check_layouts(std::span<const MeshLayout> layouts) {
    if (layouts.empty() || layouts.front().empty()) fail("no layouts to choose from; give at least one");
    const std::size_t ranks = mesh_size(layouts.front().front().extents);
    for (std::size_t i = 0; i < layouts.size(); ++i) {
        if (layouts[i].size() != layouts.front().size())
            fail("layout ", i, " has ", layouts[i].size(), " traffics, layout 0 has ",
                 layouts.front().size());
        for (const ViewTraffic& one : layouts[i]) {
            if (const std::size_t own = mesh_size(one.extents); own != ranks)
                fail("layout ", i, " has a view of ", own, " ranks, layout 0 one of ", ranks);
        }
    }
}

void check_pieces(std::span<const std::uint32_t> extents, std::span<const AxisPiece> pieces) {
    std::vector<std::uint32_t> sizes(extents.size(), 1);
    for (const auto& [axis, size] : pieces) {
        if (axis >= extents.size()) fail("the mesh has ", extents.size(), " axes, and no axis ", axis);
        sizes[axis] *= size;
    }
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        if (!pieces.empty() && sizes[axis] != extents[axis])
            fail("pieces of axis ", axis, " have ", sizes[axis], " ranks, the axis has ", extents[axis]);
    }
}

}  // namespace

double AxisOrder::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

AxisOrders order_axes(const Allocation& allocation, std::span<const std::uint32_t> extents,
                      std::span<const MeshTraffic> traffic, const Budget& budget,
                      std::span<const AxisPiece> pieces, const GroupTimes& times) {
    check_pieces(extents, pieces);
    if (extents.size() > max_axes)
        fail("a mesh of ", extents.size(), " axes; there may be at most ", max_axes);
    Meter meter(budget);
    LayoutEvaluator mesh(allocation.machine(), times);
    const std::vector<std::uint32_t> axes(extents.begin(), extents.end());
    const std::size_t ranks = mesh_size(extents);
    MeshLayout layout;
    for (const MeshTraffic& one : traffic) layout.push_back({axes, one});
    mesh.add_layout(layout, axes);
    std::vector<SearchedLine> starts = list_starts(mesh, allocation, ranks, allocation.machine().has_grid());
    search_in_parallel(starts.size(), 0, meter, [&](std::size_t i, Meter& own) {
        if (i == 0 || own.poll())
            starts[i].found = starts[i].search.find_best_unsplit_orders(0, starts_on_line, own);
    });
    LineSearch& allocated = starts.front().search;
    const LineSearch::Found given = allocated.make_given_order(0, meter, pieces);
    AxisOrders orders{
        allocated.make_axis_order(given), allocated.make_axis_order(starts.front().found.front()), {}};
    if (!pieces.empty()) starts.front().found.push_back(given);
    const std::span<SearchedLine> best = select_promising(starts);
    search_in_parallel(best.size(), 0, meter, [&](std::size_t i, Meter& own) {
        for (LineSearch::Found& found : best[i].found) {
            if (own.poll()) found = best[i].search.exchange_axis_factors(found, own);
        }
    });
    orders.best = LineSearch::is_less(given.seconds, orders.nested.total()) ? orders.given : orders.nested;
    for (SearchedLine& start : best) {
        for (const LineSearch::Found& found : start.found) {
            if (LineSearch::is_less(found.seconds, orders.best.total()))
                orders.best = start.search.make_axis_order(found);
        }
    }
    return orders;
}

LayoutOrders order_layouts(const Allocation& allocation, std::span<const MeshLayout> layouts,
                           const Budget& budget, const GroupTimes& times) {
    check_layouts(layouts);
    Meter meter(budget);
    LayoutEvaluator mesh(allocation.machine(), times);
    for (const MeshLayout& layout : layouts) mesh.add_layout(layout, find_common_mesh(layout));
    std::vector<SearchedLine> starts =
        list_starts(mesh, allocation, mesh_size(layouts.front().front().extents), false);
    search_in_parallel(starts.size(), 0, meter, [&](std::size_t i, Meter& own) {
        auto& [search, found] = starts[i];
        for (std::size_t layout = 0; layout < layouts.size(); ++layout) {
            if (own.poll() || (i == 0 && layout == 0)) found.push_back(search.make_given_order(layout, own));
        }
    });
    LineSearch& allocated = starts.front().search;
    const LineSearch::Found given = starts.front().found.front();
    for (SearchedLine& start : starts) {
        std::ranges::stable_sort(start.found, {}, &LineSearch::Found::seconds);
        if (start.found.size() > layouts_to_split) start.found.resize(layouts_to_split);
    }
    const LineSearch::Found named = starts.front().found.front();
    LayoutOrders orders{
        allocated.make_axis_order(given), named.layout, allocated.make_axis_order(named), named.layout, {}};
    orders.best = orders.named;
    const std::span<SearchedLine> best = select_promising(starts);
    search_in_parallel(best.size(), 0, meter, [&](std::size_t i, Meter& own) {
        auto& [search, found] = best[i];
        const std::vector<LineSearch::Found> numbered = found;
        for (const LineSearch::Found& one : numbered) {
            if (!own.poll()) break;
            for (const LineSearch::Found& start :
                 search.find_best_unsplit_orders(one.layout, starts_on_layout, own))
                found.push_back(search.exchange_axis_factors(start, own));
        }
    });
    for (SearchedLine& start : best) {
        for (const LineSearch::Found& found : start.found) {
            if (!LineSearch::is_less(found.seconds, orders.best.total())) continue;
            orders.best_layout = found.layout;
            orders.best = start.search.make_axis_order(found);
        }
    }
    return orders;
}

}  // namespace topoloom
