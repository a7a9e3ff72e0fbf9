// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/matching.hpp"

#include <algorithm>

namespace topoloom {

void Matching::reset(std::uint32_t inputs, std::uint32_t outputs) {
    inputs_ = inputs;
    outputs_ = outputs;
    requests_.assign(std::size_t{inputs} * outputs, 0);
    output_of_.assign(inputs, no_index);
    input_of_.assign(outputs, no_index);
}

bool Matching::run_islip_iteration(std::span<RoundRobin> output_turns, std::span<RoundRobin> input_turns,
                                   bool moves) {
    accepted_.assign(inputs_, {});
    for (std::uint32_t output = 0; output < outputs_; ++output) {
        if (input_of_[output] != no_index) continue;
        Grant grant;
        for (std::uint32_t input = 0; input < inputs_; ++input)
            if (output_of_[input] == no_index && request(input, output) != 0)
                grant.consider(input, output_turns[output].distance(input, inputs_));
        if (grant.requester != no_index)
            accepted_[grant.requester].consider(output,
                                                input_turns[grant.requester].distance(output, outputs_));
    }
    bool any = false;
    for (std::uint32_t input = 0; input < inputs_; ++input) {
        const std::uint32_t output = accepted_[input].requester;
        if (output == no_index) continue;
        any = true;
        match(input, output);
        if (!moves) continue;
        output_turns[output].advance_past(input, inputs_);
        input_turns[input].advance_past(output, outputs_);
    }
    return any;
}

void Matching::match_islip(std::uint32_t iterations, std::span<RoundRobin> output_turns,
                           std::span<RoundRobin> input_turns) {
    for (std::uint32_t i = 0; i < iterations; ++i)
        if (!run_islip_iteration(output_turns, input_turns, i == 0)) return;
}

void Matching::match_wavefront(std::uint64_t diagonal) {
    const std::uint32_t size = std::max(inputs_, outputs_);
    for (std::uint32_t step = 0; step < size; ++step) {
        const auto on = static_cast<std::uint32_t>((diagonal + step) % size);
        for (std::uint32_t input = 0; input < inputs_; ++input) {
            const std::uint32_t output = (on + size - input) % size;
            if (output < outputs_ && output_of_[input] == no_index && input_of_[output] == no_index &&
                request(input, output) != 0)
                match(input, output);
        }
    }
}

}  // namespace topoloom
