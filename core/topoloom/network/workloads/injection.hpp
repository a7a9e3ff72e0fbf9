// SPDX-License-Identifier: BSD-3-Clause
// Injection processes by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "topoloom/network/component_choices.hpp"

namespace topoloom {

/// An injection process. The load determines the mean rate.
struct Injection {
    enum class Kind { bernoulli, poisson, on_off, closed };

    /// bernoulli                   a packet with the same probability in each cycle
    /// poisson                     exponential times between packets; a cycle can have several
    /// on-off(length=100,peak=100) bursts of `length` cycles on average, with `peak` per cent of a flit per
    ///                             cycle (a two-state Markov source)
    /// closed(window=4,reply=0)    a reply of `reply` flits to each packet (0: as long as the packet); a node has at most
    ///                             `window` packets without a reply
    /// Throws Error for unknown names and options.
    explicit Injection(std::string_view text = "bernoulli");

    Kind kind = Kind::bernoulli;
    std::uint32_t length = 0;
    std::uint32_t peak = 0;
    std::uint32_t window = 0;
    std::uint32_t reply = 0;
};

inline constexpr std::array<Alternative, 4> injections{{
    {"bernoulli", "a packet with the same probability in each cycle"},
    {"poisson", "exponential times between packets; a cycle can have several"},
    {"on-off(length=100,peak=100)",
     "bursts of `length` cycles on average, at `peak` per cent of a flit per cycle (two-state Markov)"},
    {"closed(window=4,reply=0)",
     "a node has at most `window` packets without a reply of `reply` flits (0: as long as the packet)"},
}};

}  // namespace topoloom
