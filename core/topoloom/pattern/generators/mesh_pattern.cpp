// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/pattern/generators/mesh_pattern.hpp"

#include <algorithm>
#include <bit>

#include "topoloom/pattern/argument_check.hpp"

namespace topoloom {

namespace {

/// Converts ranks to member numbers in groups along some axes, and back.
class GroupMembers {
   public:
    GroupMembers(std::span<const std::uint32_t> extents, std::span<const std::uint32_t> axes)
        : ranks_(mesh_size(extents)) {
        std::vector<std::size_t> stride{1};
        for (const std::uint32_t extent : extents) stride.push_back(stride.back() * extent);
        if (axes.empty()) fail("traffic along no axis of the mesh; name at least one");
        for (const std::uint32_t axis : axes) {
            if (axis >= extents.size()) fail("the mesh has ", extents.size(), " axes, and no axis ", axis);
            if (std::ranges::count(axes, axis) > 1) fail("axis ", axis, " of the mesh is named twice");
            digits_.push_back({extents[axis], stride[axis], count_});
            count_ *= extents[axis];
        }
    }
    [[nodiscard]] std::size_t ranks() const { return ranks_; }
    [[nodiscard]] std::size_t count() const { return count_; }  // in a group
    [[nodiscard]] std::size_t number(Rank u) const {
        std::size_t number = 0;
        for (const Digit& digit : digits_) number += u.value / digit.stride % digit.extent * digit.below;
        return number;
    }
    /// Returns the member of u's group with this number.
    [[nodiscard]] Rank member(Rank u, std::size_t number) const {
        std::size_t rank = u.value;
        for (const Digit& digit : digits_) {
            rank -= rank / digit.stride % digit.extent * digit.stride;
            rank += number / digit.below % digit.extent * digit.stride;
        }
        return Rank{rank};
    }

   private:
    struct Digit {
        std::size_t extent, stride, below;
    };
    std::size_t ranks_;
    std::size_t count_ = 1;
    std::vector<Digit> digits_;
};

Bytes divide_rounding_up(Bytes bytes, std::size_t part, std::size_t parts) {
    // Uses quotient and remainder, because the product can exceed 64 bits.
    const auto n = static_cast<std::int64_t>(parts);
    const auto k = static_cast<std::int64_t>(part);
    return Bytes{bytes.value / n * k + (bytes.value % n * k + n - 1) / n};
}

/// Makes a phase. emit(i, send) calls send(j, bytes) for every message of member i.
CommGraph make_mesh_phase(const GroupMembers& members, const auto& emit) {
    return CommGraph::from_rows(members.ranks(), [&](Rank u, const auto& add) {
        emit(members.number(u),
             [&](std::size_t to, Bytes bytes) { add(Edge{members.member(u, to), bytes}); });
    });
}

/// Makes the phase of rings along the digits of member numbers, or of one ring if there is no shape.
CommGraph make_ring_phase(const GroupMembers& members, const MeshTraffic& traffic) {
    struct RingDigit {
        std::size_t size, below;
    };
    std::vector<RingDigit> digits;
    std::size_t count = 1;
    for (const std::uint32_t size : traffic.shape) {
        if (size > 1) digits.push_back({size, count});
        count *= size;
    }
    if (traffic.shape.empty()) {
        digits.push_back({members.count(), 1});
    } else if (count != members.count()) {
        fail("rings of a shape with ", count, " members in groups of ", members.count());
    }
    const Bytes part = divide_rounding_up(traffic.bytes, 1, 2 * digits.size());
    return make_mesh_phase(members, [&](std::size_t i, const auto& send) {
        for (const auto& [size, below] : digits) {
            const std::size_t at = i / below % size;
            const std::size_t first = i - at * below;
            send(first + (at + 1) % size * below, part);
            send(first + (at + size - 1) % size * below, part);
        }
    });
}

std::vector<CommGraph> make_halving_phases(const GroupMembers& members, Bytes bytes) {
    const std::size_t n = members.count();
    if (!std::has_single_bit(n)) {
        fail("halving needs groups of a power of two, not of ", n, "; the nearest are ", std::bit_floor(n),
             " and ", std::bit_ceil(n), ", and a ring takes any");
    }
    std::vector<CommGraph> phases;
    for (std::size_t distance = 1; distance < n; distance *= 2) {
        phases.push_back(make_mesh_phase(members, [&](std::size_t i, const auto& send) {
            send(i ^ distance, divide_rounding_up(bytes, n / 2 / distance, n - 1));
        }));
    }
    return phases;
}

}  // namespace

std::size_t mesh_size(std::span<const std::uint32_t> extents) {
    if (extents.empty()) fail("a mesh without axes; name at least one");
    std::size_t ranks = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (extents[i] == 0) fail("axis ", i, " of the mesh is empty; give it at least 1 rank");
        check_pattern("mesh", ranks *= extents[i], Bytes{});
    }
    return ranks;
}

std::vector<CommGraph> mesh_phases(std::span<const std::uint32_t> extents, const MeshTraffic& traffic) {
    const GroupMembers members(extents, traffic.axes);
    check_pattern("mesh", members.ranks(), traffic.bytes);
    const std::size_t n = members.count();
    if (n == 1) return {};
    const auto phase = [&](const auto& emit) { return make_mesh_phase(members, emit); };
    std::vector<CommGraph> phases;
    const Bytes half = divide_rounding_up(traffic.bytes, 1, 2);
    switch (traffic.collective) {
        case MeshCollective::ring:
            phases.push_back(make_ring_phase(members, traffic));
            break;
        case MeshCollective::alltoall:
            if (n > (std::size_t{1} << 31) / members.ranks())
                fail("alltoall in groups of ", n, " has more than 2^31 messages; use smaller groups");
            phases.push_back(phase([&](std::size_t i, const auto& send) {
                for (std::size_t j = 0; j < n; ++j) {
                    if (j != i) send(j, divide_rounding_up(traffic.bytes, 1, n - 1));
                }
            }));
            break;
        case MeshCollective::halving:
            return make_halving_phases(members, traffic.bytes);
        case MeshCollective::chain:
            phases.push_back(phase([&](std::size_t i, const auto& send) {
                if (i + 1 < n) send(i + 1, half);
                if (i > 0) send(i - 1, half);
            }));
            break;
    }
    return phases;
}

}  // namespace topoloom
