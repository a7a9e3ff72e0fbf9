// SPDX-License-Identifier: BSD-3-Clause
// Which inputs of a switch send to which outputs in a cycle, where requests are looked at several times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/network/arbiter.hpp"
#include "topoloom/network/kinds.hpp"

namespace topoloom {

/// iSLIP: N. McKeown, The iSLIP Scheduling Algorithm for Input-Queued Switches, IEEE/ACM Transactions on Networking 7, 1999.
/// Wavefront: Y. Tamir, H. Chi, Symmetric Crossbar Arbiters for VLSI Communication Switches, IEEE TPDS 4, 1993.
enum class Allocator { islip, wavefront };
inline constexpr std::array<Kind, 2> allocators{{
    {"islip", "outputs grant, inputs accept, in turns; what is left asks again in the next iteration"},
    {"wavefront", "diagonal by diagonal, so that no request is left whose input and output are free"},
}};

/// Requests of inputs for outputs, and pairs of them.
class Matching {
   public:
    /// Without requests, for a switch of this size.
    void begin(std::uint32_t inputs, std::uint32_t outputs);
    /// What a request is for is the caller's; 0: none.
    [[nodiscard]] std::uint8_t& request(std::uint32_t input, std::uint32_t output) {
        return requests_[std::size_t{input} * outputs_ + output];
    }
    [[nodiscard]] std::uint32_t inputs() const { return inputs_; }
    /// no_index: none.
    [[nodiscard]] std::uint32_t output_of(std::uint32_t input) const { return output_of_[input]; }

    /// Turns of outputs among inputs, and of inputs among outputs, move on with what the first iteration matches.
    void islip(std::uint32_t iterations, std::span<RoundRobin> output_turns,
               std::span<RoundRobin> input_turns);
    /// From this diagonal on.
    void wavefront(std::uint64_t diagonal);

   private:
    /// Whether it has matched any.
    bool iterate(std::span<RoundRobin> output_turns, std::span<RoundRobin> input_turns, bool moves);
    void match(std::uint32_t input, std::uint32_t output) {
        output_of_[input] = output;
        input_of_[output] = input;
    }

    std::uint32_t inputs_ = 0, outputs_ = 0;
    std::vector<std::uint8_t> requests_;  // [input][output]
    std::vector<std::uint32_t> output_of_, input_of_;
    std::vector<Grant> accepted_;  // [input]
};

}  // namespace topoloom
