// SPDX-License-Identifier: BSD-3-Clause
// Crossbar allocation: matches inputs to outputs, iteratively.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topoloom/network/arbiter.hpp"
#include "topoloom/network/component_choices.hpp"

namespace topoloom {

/// iSLIP: N. McKeown, The iSLIP Scheduling Algorithm for Input-Queued Switches, IEEE/ACM Transactions on Networking 7, 1999.
/// Wavefront: Y. Tamir, H. Chi, Symmetric Crossbar Arbiters for VLSI Communication Switches, IEEE TPDS 4, 1993.
enum class Allocator { islip, wavefront };
inline constexpr std::array<Alternative, 2> allocators{{
    {"islip", "outputs grant, inputs accept, in turns; what is left asks again in the next iteration"},
    {"wavefront", "diagonal by diagonal, so that no request is left whose input and output are free"},
}};

/// Requests of inputs for outputs, and the matched pairs.
class Matching {
   public:
    /// Clears all requests and sets the size of the switch.
    void reset(std::uint32_t inputs, std::uint32_t outputs);
    /// A request, as a nonzero value that the caller defines; 0 means no request.
    [[nodiscard]] std::uint8_t& request(std::uint32_t input, std::uint32_t output) {
        return requests_[std::size_t{input} * outputs_ + output];
    }
    [[nodiscard]] std::uint32_t inputs() const { return inputs_; }
    /// The matched output, or no_index.
    [[nodiscard]] std::uint32_t output_of(std::uint32_t input) const { return output_of_[input]; }

    /// Matches by iSLIP. Round-robin pointers advance only on accepted grants of the first iteration.
    void match_islip(std::uint32_t iterations, std::span<RoundRobin> output_turns,
                     std::span<RoundRobin> input_turns);
    /// Matches by a wavefront that starts at the given diagonal.
    void match_wavefront(std::uint64_t diagonal);

   private:
    /// Runs one iteration. Returns whether it matched any pair.
    bool run_islip_iteration(std::span<RoundRobin> output_turns, std::span<RoundRobin> input_turns,
                             bool moves);
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
