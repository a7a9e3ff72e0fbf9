// SPDX-License-Identifier: BSD-3-Clause
// A mixture-of-experts layer, and the GPUs that hold its experts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// Which replica of an expert a token goes to. Tokens come from all GPUs alike.
enum class ExpertDispatch : std::uint8_t {
    spread,   // any, all equally often
    nearest,  // one on the token's own node if there is one, else any
};

/// Experts of one token: what a search counts in 16 bits.
inline constexpr std::size_t most_per_token = 1 << 12;

/// One layer. Tokens are rows of `choices`: experts that each goes to, -1 for none.
struct ExpertLayer {
    std::span<const double> loads;  // of each expert
    std::span<const std::int64_t> choices;
    std::size_t per_token = 0;  // columns of choices; 0 if no tokens are known

    [[nodiscard]] std::size_t tokens() const { return per_token == 0 ? 0 : choices.size() / per_token; }
    /// Throws Error for loads that are negative or add up to infinity, choices that are not experts, and too many of them.
    void check() const;
};

/// GPUs in the order of their ranks, each with a number of slots for experts.
class ExpertGpus {
   public:
    /// `nodes`: of each GPU, any numbers. Throws Error for no GPUs or no slots.
    ExpertGpus(std::span<const std::uint32_t> nodes, std::size_t slots);

    [[nodiscard]] std::size_t count() const { return node_.size(); }
    [[nodiscard]] std::size_t slots() const { return slots_; }  // of a GPU
    [[nodiscard]] std::size_t places() const { return count() * slots_; }
    [[nodiscard]] std::size_t nodes() const { return members_.size(); }
    [[nodiscard]] std::uint32_t node(std::size_t gpu) const { return node_[gpu]; }
    [[nodiscard]] std::span<const std::uint32_t> gpus_on(std::size_t node) const { return members_[node]; }
    /// Fraction of all tokens that come from a node.
    [[nodiscard]] double share(std::size_t node) const {
        return static_cast<double>(members_[node].size()) / static_cast<double>(count());
    }

   private:
    std::vector<std::uint32_t> node_;  // from 0 on
    std::vector<std::vector<std::uint32_t>> members_;
    std::size_t slots_;
};

}  // namespace topoloom
