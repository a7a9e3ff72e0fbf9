// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/expert_layer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "topoloom/base/error.hpp"

namespace topoloom {

void ExpertLayer::check() const {
    if (loads.empty()) fail("a layer has no experts");
    for (std::size_t expert = 0; expert < loads.size(); ++expert) {
        if (!(loads[expert] >= 0 && std::isfinite(loads[expert])))
            fail("the load of expert ", expert, " is ", loads[expert], "; loads are numbers of 0 or more");
    }
    if (!std::isfinite(std::accumulate(loads.begin(), loads.end(), 0.0)))
        fail(
            "the sum of the loads of a layer exceeds the range of a double; divide all loads by the same "
            "number");
    if (per_token > max_experts_per_token)
        fail("a token goes to ", per_token, " experts; at most ", max_experts_per_token, " are supported");
    const auto experts = static_cast<std::int64_t>(loads.size());
    for (const std::int64_t choice : choices) {
        if (choice < -1 || choice >= experts)
            fail("a token goes to expert ", choice, "; there are 0 to ", experts - 1, ", and -1 for none");
    }
}

ExpertGpus::ExpertGpus(std::span<const std::uint32_t> nodes, std::size_t slots_per_gpu)
    : slots_per_gpu_(slots_per_gpu) {
    if (nodes.empty()) fail("there are no GPUs for experts");
    if (slots_per_gpu == 0) fail("GPUs have no slots for experts");
    std::vector<std::uint32_t> known;
    for (const std::uint32_t node : nodes) {
        auto at = std::find(known.begin(), known.end(), node);
        if (at == known.end()) {
            at = known.insert(at, node);
            members_.emplace_back();
        }
        const auto index = static_cast<std::uint32_t>(at - known.begin());
        members_[index].push_back(static_cast<std::uint32_t>(node_.size()));
        node_.push_back(index);
    }
}

}  // namespace topoloom
