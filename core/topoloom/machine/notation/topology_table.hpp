// SPDX-License-Identifier: BSD-3-Clause
// A table of topologies: their classes as one variant, and their readers.
#pragma once

#include <array>
#include <type_traits>
#include <utility>
#include <variant>

#include "topoloom/machine/notation/topology_notation.hpp"

namespace topoloom {

/// Adds the types `More` to a variant, without duplicates. If a type is a variant, adds its alternatives
/// instead.
template <class Variant, class... More>
struct ExtendedVariant {
    using type = Variant;
};
template <class... Old, class... Inner, class... More>
struct ExtendedVariant<std::variant<Old...>, std::variant<Inner...>, More...>
    : ExtendedVariant<std::variant<Old...>, Inner..., More...> {};
template <class... Old, class New, class... More>
struct ExtendedVariant<std::variant<Old...>, New, More...>
    : ExtendedVariant<std::conditional_t<(std::is_same_v<Old, New> || ...), std::variant<Old...>,
                                         std::variant<Old..., New>>,
                      More...> {};

/// Reads a section into one of the alternatives of `Topology`.
template <class Topology, const auto& notation>
Topology read_topology_as(const Section& section) {
    auto made = notation.read(section);
    if constexpr (requires { std::variant_size<decltype(made)>::value; }) {
        return std::visit([](auto& topology) -> Topology { return std::move(topology); }, made);
    } else {
        return made;
    }
}

/// A table of `notations`, which are objects of type TopologyNotation.
template <const auto&... notations>
struct TopologyTable {
    /// A variant of all topology types that the notations describe.
    using Topology =
        typename ExtendedVariant<std::variant<>,
                                 decltype(notations.read(std::declval<const Section&>()))...>::type;

    struct Entry {
        const SectionForm* form;
        Topology (*read)(const Section&);
    };
    /// The array type is explicit, so that only files that use the entries instantiate the readers.
    static constexpr std::array<Entry, sizeof...(notations)> entries{
        Entry{&notations.form, &read_topology_as<Topology, notations>}...};
};

}  // namespace topoloom
