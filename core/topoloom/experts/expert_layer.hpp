// SPDX-License-Identifier: BSD-3-Clause
// A mixture-of-experts layer, and the GPUs to which its experts are assigned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace topoloom {

/// To which replica of an expert a token is sent. Tokens originate uniformly from all GPUs.
enum class ExpertDispatch : std::uint8_t {
    spread,   // any replica, with equal probability
    nearest,  // a replica on the token's own node if there is one, otherwise any
};

/// Maximum number of experts that a token may choose; searches count them in 16 bits.
inline constexpr std::size_t max_experts_per_token = 1 << 12;

/// One layer. Tokens are rows of `choices`: the experts of each token, -1 for none.
struct ExpertLayer {
    std::span<const double> loads;  // load of each expert
    std::span<const std::int64_t> choices;
    std::size_t per_token = 0;  // number of columns of choices; 0 if no tokens are known

    [[nodiscard]] std::size_t tokens() const { return per_token == 0 ? 0 : choices.size() / per_token; }
    /// Throws Error for loads that are negative or add up to infinity, choices that are not experts, and too
    /// many choices per token.
    void check() const;
};

/// GPUs in rank order, each with a number of slots for experts.
class ExpertGpus {
   public:
    /// `nodes`: node of each GPU, in any numbering. Throws Error for 0 GPUs or 0 slots per GPU.
    ExpertGpus(std::span<const std::uint32_t> nodes, std::size_t slots_per_gpu);

    [[nodiscard]] std::size_t count() const { return node_.size(); }
    [[nodiscard]] std::size_t slots_per_gpu() const { return slots_per_gpu_; }
    [[nodiscard]] std::size_t places() const { return count() * slots_per_gpu_; }
    [[nodiscard]] std::size_t nodes() const { return members_.size(); }
    [[nodiscard]] std::uint32_t node(std::size_t gpu) const { return node_[gpu]; }
    [[nodiscard]] std::span<const std::uint32_t> gpus_on(std::size_t node) const { return members_[node]; }
    /// Fraction of all tokens that originate from a node.
    [[nodiscard]] double share(std::size_t node) const {
        return static_cast<double>(members_[node].size()) / static_cast<double>(count());
    }

   private:
    std::vector<std::uint32_t> node_;  // from 0 on
    std::vector<std::vector<std::uint32_t>> members_;
    std::size_t slots_per_gpu_;
};

}  // namespace topoloom
