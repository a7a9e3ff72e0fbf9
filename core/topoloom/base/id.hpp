// SPDX-License-Identifier: BSD-3-Clause
// Strong 32-bit ids: a rank cannot be mistaken for a node, a slot or a link.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

namespace topoloom {

/// The invalid value of plain indices.
inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

/// A 32-bit index of one kind of thing. Compiles to the same machine code as a bare integer.
template <class Kind>
struct Id {
    static const Id none;  // the invalid id
    std::uint32_t value = 0;

    constexpr Id() = default;
    constexpr explicit Id(std::uint32_t v) : value(v) {}
    constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
    constexpr explicit Id(int v) : value(static_cast<std::uint32_t>(v)) {}

    friend constexpr auto operator<=>(Id, Id) = default;
};

template <class Kind>
inline constexpr Id<Kind> Id<Kind>::none{no_index};

using Rank = Id<struct RankKind>;
using Node = Id<struct NodeKind>;
using Slot = Id<struct SlotKind>;
using Link = Id<struct LinkKind>;
/// Index of a slot in the allocation.
using Position = Id<struct PositionKind>;
/// A cell of a grid, numbered row-major.
using GridCell = Id<struct GridCellKind>;
/// A vertex of a graph that is being partitioned.
using Vertex = Id<struct VertexKind>;
/// A part of a partition.
using Part = Id<struct PartKind>;

/// The ids 0 .. count-1 as a range, as in `for (const Rank rank : ids<Rank>(graph.rank_count()))`.
template <class I>
class ids {
   public:
    class iterator {
       public:
        using value_type = I;
        using difference_type = std::ptrdiff_t;
        constexpr iterator() = default;
        constexpr explicit iterator(std::uint32_t at) : at_(at) {}
        constexpr I operator*() const { return I{at_}; }
        constexpr iterator& operator++() {
            ++at_;
            return *this;
        }
        constexpr iterator operator++(int) { return iterator{at_++}; }
        friend constexpr bool operator==(iterator, iterator) = default;

       private:
        std::uint32_t at_ = 0;
    };

    constexpr explicit ids(std::size_t count) : count_(static_cast<std::uint32_t>(count)) {}
    constexpr iterator begin() const { return iterator{0}; }
    constexpr iterator end() const { return iterator{count_}; }

   private:
    std::uint32_t count_;
};

/// The ids 0 .. count-1 in a vector, for sorting or shuffling.
template <class I>
[[nodiscard]] std::vector<I> id_list(std::size_t count) {
    std::vector<I> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = I{i};
    return all;
}

}  // namespace topoloom

template <class Kind>
struct std::hash<topoloom::Id<Kind>> {
    std::size_t operator()(topoloom::Id<Kind> id) const noexcept {
        return std::hash<std::uint32_t>{}(id.value);
    }
};
