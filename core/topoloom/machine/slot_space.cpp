// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/slot_space.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "topoloom/machine/machine.hpp"

namespace topoloom {

std::uint32_t SlotSpace::bisect(std::uint32_t begin, std::uint32_t end) {
    const auto me = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back({begin, end, no_index});
    add_region(begin, end);
    if (end - begin > leaf_size) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        bisect(begin, middle);
        parts_[me].right = bisect(middle, end);
    }
    return me;
}

namespace {

/// Adds distances inside nodes to the DistanceSum of a network.
template <class Space>
class LeveledDistanceSum {
   public:
    using Point = typename Space::Point;

    LeveledDistanceSum(const Space& space, std::vector<Point> points, std::span<const std::uint64_t> weights)
        : space_(&space),
          points_(std::move(points)),
          weights_(weights.begin(), weights.end()),
          network_(space.network(), network_points(points_), weights) {
        for (std::size_t i = 0; i < points_.size(); ++i) {
            weight_ += weights_[i];
            ports_ += weights_[i] * points_[i].port;
        }
        if (ports_ > 0) ports_elsewhere_ = ports_ - max_port_distance_of_node();
    }

    [[nodiscard]] std::uint64_t at(const Point& p) const {
        std::uint64_t sum = space_->hop_weight() * network_.at(p.network) + ports_ + weight_ * p.port;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (points_[i].node != p.node) continue;
            const std::uint64_t ports = std::uint64_t{p.port} + points_[i].port;
            sum += weights_[i] * (space_->distance(p, points_[i]) - ports);  // modulo 2^64
        }
        return sum;
    }
    template <class Region>
    [[nodiscard]] std::uint64_t bound(const Region& region) const {
        return space_->hop_weight() * network_.bound(region) + ports_elsewhere_;
    }

   private:
    [[nodiscard]] std::uint64_t max_port_distance_of_node() const {
        std::unordered_map<std::uint32_t, std::uint64_t> ports;
        std::uint64_t most = 0;
        for (std::size_t i = 0; i < points_.size(); ++i)
            most = std::max(most, ports[points_[i].node] += weights_[i] * points_[i].port);
        return most;
    }
    static auto network_points(std::span<const Point> points) {
        std::vector<std::decay_t<decltype(points[0].network)>> network;
        for (const Point& p : points) network.push_back(p.network);
        return network;
    }
    const Space* space_;
    std::vector<Point> points_;
    std::vector<std::uint64_t> weights_;
    typename Space::Network::DistanceSum network_;
    std::uint64_t weight_ = 0;
    std::uint64_t ports_ = 0;            // weighted distances of the points to their ports
    std::uint64_t ports_elsewhere_ = 0;  // lower bound of ports_ if the points on any one node are excluded
};

template <class Space>
class TypedSlotSpace final : public SlotSpace {
   public:
    TypedSlotSpace(const Space& space, std::span<const Slot> slots) : SlotSpace(slots.size()), space_(space) {
        points_.reserve(slots.size());
        for (const Slot slot : slots) points_.push_back(space.point(slot));
    }

    [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const override {
        return space_.distance(points_[a], points_[b]);
    }
    void measure_distances(std::uint32_t a, std::uint32_t begin,
                           std::span<std::uint32_t> distances) const override {
        const Point from = points_[a];
        const Point* to = points_.data() + begin;
        for (std::uint32_t& distance : distances) distance = space_.distance(from, *to++);
    }
    [[nodiscard]] bool is_symmetric() const override {
        if constexpr (is_table) return space_.network().is_symmetric();
        return true;
    }
    [[nodiscard]] bool has_router_table() const override { return is_table; }
    [[nodiscard]] std::vector<std::uint32_t> distance_classes() const override {
        std::vector<std::uint32_t> classes(points_.size());
        std::iota(classes.begin(), classes.end(), 0U);
        if constexpr (is_table) {
            std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> numbers;
            for (std::size_t i = 0; i < points_.size(); ++i) {
                const std::pair key(space_.network().distance_class(Space::network_point(points_[i])),
                                    space_.port_distance(points_[i]));
                classes[i] = numbers.try_emplace(key, numbers.size()).first->second;
            }
        }
        return classes;
    }
    [[nodiscard]] std::uint32_t port_distance(std::uint32_t a) const override {
        return space_.port_distance(points_[a]);
    }
    [[nodiscard]] std::vector<SplitKey> split_keys(std::span<const std::uint32_t> some) const override {
        return space_.split_keys(select_points(some));
    }
    [[nodiscard]] std::unique_ptr<DistanceSum> sum_distances(
        std::span<const std::uint32_t> slots, std::span<const std::uint64_t> weights,
        std::optional<WeightedSlot> extra) const override {
        std::vector<Point> points = select_points(slots);
        if (!extra) return std::make_unique<TypedDistanceSum>(*this, std::move(points), weights);
        points.push_back(space_.point(extra->slot));
        std::vector<std::uint64_t> with_extra(weights.begin(), weights.end());
        with_extra.push_back(extra->weight);
        return std::make_unique<TypedDistanceSum>(*this, std::move(points), with_extra);
    }

   private:
    using Point = typename Space::Point;
    using Network = typename Space::Network;
    static constexpr bool is_table = std::is_same_v<Network, HopTable>;

    class TypedDistanceSum final : public DistanceSum {
       public:
        TypedDistanceSum(const TypedSlotSpace& slots, std::vector<Point> points,
                         std::span<const std::uint64_t> weights)
            : slots_(slots), sum_(network_or_space(slots), std::move(points), weights) {}
        [[nodiscard]] std::uint64_t at(std::uint32_t a) const override { return sum_.at(slots_.points_[a]); }
        [[nodiscard]] std::uint64_t bound(std::uint32_t part) const override {
            return sum_.bound(slots_.regions_[part]);
        }

       private:
        using Sum =
            std::conditional_t<Space::has_levels, LeveledDistanceSum<Space>, typename Network::DistanceSum>;
        static const auto& network_or_space(const TypedSlotSpace& slots) {
            if constexpr (Space::has_levels)
                return slots.space_;
            else
                return slots.space_.network();
        }
        const TypedSlotSpace& slots_;
        Sum sum_;
    };

    [[nodiscard]] std::vector<Point> select_points(std::span<const std::uint32_t> some) const {
        std::vector<Point> points;
        points.reserve(some.size());
        for (const std::uint32_t a : some) points.push_back(points_[a]);
        return points;
    }
    void add_region(std::uint32_t begin, std::uint32_t end) override {
        std::vector<typename Network::Point> network;
        network.reserve(end - begin);
        for (std::uint32_t i = begin; i < end; ++i) network.push_back(Space::network_point(points_[i]));
        regions_.push_back(space_.network().region(network));
    }

    Space space_;
    std::vector<Point> points_;
    std::vector<typename Network::Region> regions_;  // by part
};

}  // namespace

std::unique_ptr<SlotSpace> make_slot_space(const Machine& machine, std::span<const Slot> slots) {
    return with_space(machine, [&]<class Space>(const Space& space) -> std::unique_ptr<SlotSpace> {
        return std::make_unique<TypedSlotSpace<Space>>(space, slots);
    });
}

}  // namespace topoloom
