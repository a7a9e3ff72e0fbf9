// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/machine/geometry/levels.hpp"

#include <algorithm>
#include <limits>

#include "topoloom/base/error.hpp"

namespace topoloom {

Levels::Levels(std::vector<std::uint32_t> arity, std::vector<std::uint32_t> distance)
    : arity_(std::move(arity)), distance_(std::move(distance)) {
    if (arity_.empty()) fail("levels need at least one arity, as in 4:8:2");
    if (distance_.size() != arity_.size()) {
        fail("there are ", arity_.size(), " levels and ", distance_.size(),
             " distances; give one distance per level");
    }
    if (!std::is_sorted(distance_.begin(), distance_.end()))
        fail("distances must not decrease from one level to the next");
    std::uint64_t members = 1;
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < arity_.size(); ++j) {
        if (arity_[j] == 0) fail("level ", j + 1, " has arity 0; a group has at least one member");
        members *= arity_[j];
        if (members > std::numeric_limits<std::int32_t>::max())
            fail("the levels have more than 2^31 members");
        divisor_.emplace_back(arity_[j]);
        shift_.push_back(bits);
        const auto more = static_cast<std::uint32_t>(std::bit_width(arity_[j] - 1));
        for (std::uint32_t w = bits + 1; w <= bits + more; ++w) {
            level_of_width_[w] = static_cast<std::uint32_t>(j + 1);
            distance_of_width_[w] = distance_[j];
        }
        bits += more;
    }
    size_ = static_cast<std::uint32_t>(members);
}

Levels::Key Levels::key(std::uint32_t member) const {
    Key key = 0;
    for (std::size_t j = 0; j < divisor_.size(); ++j) {
        key |= Key{divisor_[j].remainder(member)} << shift_[j];
        member = divisor_[j].quotient(member);
    }
    return key;
}

std::vector<SplitKey> Levels::split_keys(std::span<const Key> keys) const {
    Key differing = 0;
    for (const Key key : keys) differing |= key ^ keys.front();
    const std::uint32_t level = common_level(differing, 0);
    std::vector<SplitKey> split;
    split.reserve(keys.size());
    for (const Key key : keys)
        split.push_back({static_cast<std::uint32_t>(level == 0 ? 0 : key >> shift_[level - 1]), key});
    return split;
}

}  // namespace topoloom
