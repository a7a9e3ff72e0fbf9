// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/choose/axis_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "topoloom/base/error.hpp"
#include "topoloom/metric/loads/objective_loads.hpp"
#include "topoloom/place/grid/slot_lines.hpp"
#include "topoloom/place/side_by_side.hpp"

namespace topoloom {

namespace {

using Pieces = std::vector<AxisPiece>;
using Flags = std::vector<bool>;

constexpr std::size_t max_axes = 8;
constexpr std::size_t max_lines = 16;
constexpr std::size_t lines_to_split_on = 4;
constexpr std::size_t starts_on_line = 8;         // of the exchange of pieces
constexpr std::size_t max_messages = 50'000'000;  // measured on a line: then exchanging ends

/// A digit of a rank's position along one axis.
struct Digit {
    std::uint32_t size;
    std::uint32_t stride;  // slots on the line
};

/// The digits of an axis, lowest first. Adjacent ones are one where the line does not turn between them; without going
/// back and forth turns make no difference.
std::vector<Digit> digits_of(std::uint32_t axis, const Pieces& pieces, const grid::SlotLine& line,
                             bool back_and_forth) {
    std::vector<Digit> digits;
    std::uint32_t stride = 1;
    for (const AxisPiece& piece : pieces) {
        if (piece.axis == axis && piece.size > 1) {
            const bool turns = back_and_forth && std::ranges::binary_search(line.turns, stride);
            if (!digits.empty() && !turns && digits.back().stride * digits.back().size == stride) {
                digits.back().size *= piece.size;
            } else {
                digits.push_back({piece.size, stride});
            }
        }
        stride *= piece.size;
    }
    return digits;
}

/// Where on the line, counted from where 0 is, the x-th rank along an axis is.
std::size_t offset(const std::vector<Digit>& digits, bool back_and_forth, std::uint32_t x) {
    std::size_t sum = 0;
    for (const auto& [size, stride] : digits) {
        const std::uint32_t value = x % size;
        x /= size;
        sum += std::size_t{stride} * (back_and_forth && x % 2 == 1 ? size - 1 - value : value);
    }
    return sum;
}

/// What every traffic of the mesh sends, and how long it takes on a line.
class MeshOnMachine {
   public:
    MeshOnMachine(const Machine& machine, std::span<const std::uint32_t> extents,
                  std::span<const MeshTraffic> traffic)
        : machine_(machine), extents_(extents), traffic_(traffic) {
        for (const MeshTraffic& one : traffic) phases_.push_back(mesh_phases(extents, one));
    }
    [[nodiscard]] std::span<const std::uint32_t> extents() const { return extents_; }
    [[nodiscard]] std::span<const MeshTraffic> traffic() const { return traffic_; }

    [[nodiscard]] std::vector<Slot> slots(const grid::SlotLine& line, const Pieces& pieces,
                                          const Flags& back_and_forth) const {
        std::vector<std::size_t> place{0};  // on the line, of the ranks of the axes so far
        for (std::uint32_t axis = 0; axis < extents_.size(); ++axis) {
            const std::vector<Digit> digits = digits_of(axis, pieces, line, back_and_forth[axis]);
            const std::size_t before = place.size();
            for (std::uint32_t x = 1; x < extents_[axis]; ++x) {
                const std::size_t step = offset(digits, back_and_forth[axis], x);
                for (std::size_t i = 0; i < before; ++i) place.push_back(place[i] + step);
            }
        }
        std::vector<Slot> slots;
        for (const std::size_t p : place) slots.push_back(line.slots[p]);
        return slots;
    }
    [[nodiscard]] std::size_t messages(std::size_t traffic) const {
        std::size_t sum = 0;
        for (const CommGraph& phase : phases_[traffic]) sum += phase.edge_count();
        return sum;
    }
    [[nodiscard]] double seconds(std::size_t traffic, std::span<const Slot> slot_of_rank) const {
        if (phases_[traffic].empty()) return 0;
        static const Objective time = objective_of(ObjectiveKind::time);
        MeasuredObjective objective{time, {}};
        for (const CommGraph& phase : phases_[traffic]) objective.phases.push_back(&phase);
        return objective_key(machine_, objective, slot_of_rank).congestion;
    }

   private:
    const Machine& machine_;
    std::span<const std::uint32_t> extents_;
    std::span<const MeshTraffic> traffic_;
    std::vector<std::vector<CommGraph>> phases_;  // by traffic
};

/// Orders of pieces on one line.
class LineSearch {
   public:
    struct Found {
        double seconds;
        Pieces pieces;
        Flags back_and_forth;
    };

    LineSearch(const MeshOnMachine& mesh, grid::SlotLine line)
        : mesh_(&mesh), line_(std::move(line)), known_(mesh.traffic().size()) {}

    /// Of all orders of whole axes, or those that there is time for, one at least, those that take least, the fastest
    /// first.
    [[nodiscard]] std::vector<Found> nested(std::size_t keep, Meter& meter) {
        std::vector<std::uint32_t> axes;
        for (std::uint32_t axis = 0; axis < mesh_->extents().size(); ++axis) {
            if (mesh_->extents()[axis] > 1) axes.push_back(axis);
        }
        std::vector<Found> all;
        do {
            Pieces pieces;
            for (const std::uint32_t axis : axes) pieces.push_back({axis, mesh_->extents()[axis]});
            const Flags forward(mesh_->extents().size(), false);
            all.push_back({seconds(pieces, forward, meter), pieces, forward});
        } while (!meter.exhausted() && std::ranges::next_permutation(axes).found);
        std::ranges::stable_sort(all, {}, &Found::seconds);
        if (all.size() > keep) all.resize(keep);
        return all;
    }

    /// Exchanges any two prime factors of axes while that gains.
    [[nodiscard]] Found split(Found found, Meter& meter) {
        found.pieces = factors(found.pieces);
        choose_flags(found, meter);
        for (bool better = true; better;) {
            better = false;
            for (std::size_t i = 0; i < found.pieces.size(); ++i) {
                for (std::size_t j = i + 1; j < found.pieces.size(); ++j) {
                    if (found.pieces[i] == found.pieces[j]) continue;
                    if (measured_ > max_messages || meter.exhausted()) return found;
                    Found other = found;
                    std::swap(other.pieces[i], other.pieces[j]);
                    other.seconds = seconds(other.pieces, other.back_and_forth, meter);
                    choose_flags(other, meter);
                    if (!less(other.seconds, found.seconds)) continue;
                    found = std::move(other);
                    better = true;
                }
            }
        }
        return found;
    }

    [[nodiscard]] AxisOrder order(const Found& found) {
        AxisOrder order{
            {}, found.back_and_forth, mesh_->slots(line_, found.pieces, found.back_and_forth), {}};
        for (const AxisPiece& piece : found.pieces) {
            if (!order.pieces.empty() && order.pieces.back().axis == piece.axis) {
                order.pieces.back().size *= piece.size;
            } else {
                order.pieces.push_back(piece);
            }
        }
        for (std::size_t t = 0; t < known_.size(); ++t)
            order.seconds.push_back(seconds_of(t, found.pieces, found.back_and_forth));
        return order;
    }

    /// What differs by rounding only is the same.
    static bool less(double a, double b) { return a < b * (1 - 1e-12); }

   private:
    [[nodiscard]] double seconds(const Pieces& pieces, const Flags& back_and_forth, Meter& meter) {
        const std::size_t before = measured_;
        double sum = 0;
        for (std::size_t t = 0; t < known_.size(); ++t) sum += seconds_of(t, pieces, back_and_forth);
        meter.spend(measured_ - before);
        return sum;
    }
    static Pieces factors(const Pieces& pieces) {
        Pieces primes;
        for (auto [axis, rest] : pieces) {
            for (std::uint32_t prime = 2; rest > 1; ++prime) {
                for (; rest % prime == 0; rest /= prime) primes.push_back({axis, prime});
            }
        }
        return primes;
    }
    void choose_flags(Found& found, Meter& meter) {
        for (std::uint32_t axis = 0; axis < found.back_and_forth.size(); ++axis) {
            Flags other = found.back_and_forth;
            other[axis] = !other[axis];
            const double value = seconds(found.pieces, other, meter);
            if (!less(value, found.seconds)) continue;
            found.seconds = value;
            found.back_and_forth = std::move(other);
        }
    }
    /// Looked up by the digits of the traffic's axes, on which alone it depends.
    double seconds_of(std::size_t traffic, const Pieces& pieces, const Flags& back_and_forth) {
        std::vector<std::uint32_t> key;
        for (const std::uint32_t axis : mesh_->traffic()[traffic].axes) {
            const std::vector<Digit> digits = digits_of(axis, pieces, line_, back_and_forth[axis]);
            for (const auto& [size, stride] : digits) key.insert(key.end(), {size, stride});
            key.push_back(digits.size() > 1 && back_and_forth[axis] ? 1 : 0);
        }
        const auto [entry, is_new] = known_[traffic].try_emplace(std::move(key), 0);
        if (is_new) {
            entry->second = mesh_->seconds(traffic, mesh_->slots(line_, pieces, back_and_forth));
            measured_ += mesh_->messages(traffic);
        }
        return entry->second;
    }

    const MeshOnMachine* mesh_;  // searches are sorted
    grid::SlotLine line_;
    std::vector<std::map<std::vector<std::uint32_t>, double>> known_;  // by traffic
    std::size_t measured_ = 0;                                         // messages
};

}  // namespace

double AxisOrder::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

AxisOrders order_axes(const Allocation& allocation, std::span<const std::uint32_t> extents,
                      std::span<const MeshTraffic> traffic, const Budget& budget) {
    if (extents.size() > max_axes)
        fail("a mesh of ", extents.size(), " axes; there may be at most ", max_axes);
    Meter meter(budget);
    std::vector<grid::SlotLine> lines = grid::slot_lines(allocation, mesh_size(extents), max_lines);
    const MeshOnMachine mesh(allocation.machine(), extents, traffic);
    struct Start {
        LineSearch search;
        std::vector<LineSearch::Found> found;
    };
    std::vector<Start> starts;
    for (grid::SlotLine& line : lines) starts.push_back({{mesh, std::move(line)}, {}});
    search_side_by_side(starts.size(), 0, meter, [&](std::size_t i, Meter& own) {
        if (i == 0 || own.go_on()) starts[i].found = starts[i].search.nested(starts_on_line, own);
    });
    Pieces as_given;
    for (std::uint32_t axis = 0; axis < extents.size(); ++axis) as_given.push_back({axis, extents[axis]});
    LineSearch& allocated = starts.front().search;
    AxisOrders orders{allocated.order({0, as_given, Flags(extents.size(), false)}),
                      allocated.order(starts.front().found.front()),
                      {}};
    std::erase_if(starts, [](const Start& start) { return start.found.empty(); });
    std::ranges::stable_sort(starts, {}, [](const Start& start) { return start.found.front().seconds; });
    const std::size_t promising = std::min(starts.size(), lines_to_split_on);
    search_side_by_side(promising, 0, meter, [&](std::size_t i, Meter& own) {
        for (LineSearch::Found& found : starts[i].found) {
            if (own.go_on()) found = starts[i].search.split(found, own);
        }
    });
    orders.best = orders.nested;
    for (Start& start : std::span(starts).first(promising)) {
        for (const LineSearch::Found& found : start.found) {
            if (LineSearch::less(found.seconds, orders.best.total())) orders.best = start.search.order(found);
        }
    }
    return orders;
}

}  // namespace topoloom
