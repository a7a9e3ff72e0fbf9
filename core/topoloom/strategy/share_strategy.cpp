// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/share_strategy.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace topoloom {

std::shared_ptr<Strategy> share_strategy(Setting setting) {
    static std::mutex guard;
    static std::map<Setting, std::weak_ptr<Strategy>> strategies;
    const std::lock_guard hold(guard);
    if (const auto found = strategies.find(setting); found != strategies.end()) {
        if (std::shared_ptr<Strategy> alive = found->second.lock()) return alive;
    }
    std::erase_if(strategies, [](const auto& entry) { return entry.second.expired(); });
    auto made = std::make_shared<Strategy>(setting);
    strategies.insert_or_assign(std::move(setting), made);
    return made;
}

}  // namespace topoloom
