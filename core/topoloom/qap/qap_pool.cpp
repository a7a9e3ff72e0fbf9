// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/qap_pool.hpp"

#include <algorithm>
#include <numeric>

#include "topoloom/base/id.hpp"

namespace topoloom::qap {

bool QapPool::offer(Member member) {
    const auto close = [&](const Member& other) {
        return distance(member.assignment, other.assignment) < min_distance_;
    };
    const auto same = std::ranges::find_if(members_, close);
    if (same != members_.end()) {
        if (member.value >= same->value) return false;
        std::erase_if(members_,
                      [&](const Member& other) { return other.value > member.value && close(other); });
    } else if (is_full()) {
        if (member.value >= members_.back().value) return false;
        members_.pop_back();
    }
    const auto behind = [](const Member& a, const Member& b) { return a.value < b.value; };
    members_.insert(std::upper_bound(members_.begin(), members_.end(), member, behind), member);
    return true;
}

std::size_t QapPool::draw_member(Rng& rng) const {
    const auto size = static_cast<std::uint32_t>(members_.size());
    return std::min(rng.below(size), rng.below(size));
}

Permutation QapPool::make_child(Rng& rng) const {
    const std::size_t one = draw_member(rng);
    std::size_t two = draw_member(rng);
    while (two == one) two = draw_member(rng);
    const Permutation& p = members_[one].assignment;
    return uniform_crossover(p, align_twins(p, members_[two].assignment), rng);
}

Permutation QapPool::align_twins(const Permutation& p, Permutation q) const {
    std::vector<std::uint32_t> item_at(q.size());
    for (std::uint32_t i = 0; i < q.size(); ++i) item_at[q[i]] = i;
    for (std::uint32_t i = 0; i < q.size(); ++i) {
        const std::uint32_t other = item_at[p[i]];
        if (other == i || item_class_[other] != item_class_[i]) continue;
        std::swap(q[i], q[other]);
        item_at[q[i]] = i;
        item_at[q[other]] = other;
    }
    return q;
}

std::size_t QapPool::distance(const Permutation& p, const Permutation& q) const {
    const Permutation r = align_twins(p, q);
    std::size_t count = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
        count += location_class_[p[i]] != location_class_[r[i]] ? 1 : 0;
    return count;
}

Permutation uniform_crossover(const Permutation& p, const Permutation& q, Rng& rng) {
    Permutation child(p.size(), no_index);
    std::vector<char> used(p.size(), false);
    const auto assign = [&](std::uint32_t i, std::uint32_t x) {
        child[i] = x;
        used[x] = true;
    };
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < p.size(); ++i) {
        if (p[i] == q[i]) {
            assign(i, p[i]);
        } else {
            open.push_back(i);
        }
    }
    rng.shuffle(std::span<std::uint32_t>(open));
    for (const std::uint32_t i : open) {
        const bool from_p = rng.below(2) == 0;
        const std::uint32_t wanted = from_p ? p[i] : q[i];
        const std::uint32_t other = from_p ? q[i] : p[i];
        if (!used[wanted]) {
            assign(i, wanted);
        } else if (!used[other]) {
            assign(i, other);
        }
    }
    std::vector<std::uint32_t> free;
    for (std::uint32_t x = 0; x < p.size(); ++x) {
        if (!used[x]) free.push_back(x);
    }
    rng.shuffle(std::span<std::uint32_t>(free));
    for (const std::uint32_t i : open) {
        if (child[i] != no_index) continue;
        child[i] = free.back();
        free.pop_back();
    }
    return child;
}

Permutation random_assignment(std::size_t order, Rng& rng) {
    Permutation p(order);
    std::iota(p.begin(), p.end(), 0U);
    rng.shuffle(std::span<std::uint32_t>(p));
    return p;
}

Permutation perturb(Permutation p, std::size_t items, Rng& rng) {
    Permutation order(p.size());
    std::iota(order.begin(), order.end(), 0U);
    rng.shuffle(std::span<std::uint32_t>(order));
    for (std::size_t k = 1; k < std::min(items, p.size()); ++k) std::swap(p[order[k - 1]], p[order[k]]);
    return p;
}

}  // namespace topoloom::qap
