// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/experts/node_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "topoloom/experts/packing.hpp"

namespace topoloom {

NodeSearch::NodeSearch(const ExpertGpus& gpus, std::span<const ExpertReplica> replicas,
                       const TokenPins& tokens, std::vector<std::uint32_t> node_of, std::vector<bool> fixed,
                       std::vector<std::uint32_t> at_most)
    : gpus_(gpus),
      replicas_(replicas),
      tokens_(tokens),
      nodes_(gpus.nodes()),
      node_of_(std::move(node_of)),
      fixed_(std::move(fixed)),
      at_most_(std::move(at_most)),
      replica_count_(at_most_.size() * nodes_, 0),
      load_(nodes_, 0),
      visits_(tokens.tokens() * nodes_, 0),
      sole_visits_(replicas.size() * nodes_, 0),
      token_list_(tokens.pins.size()),
      list_begin_(replicas.size() + 1, 0) {
    for (std::size_t node = 0; node < nodes_; ++node) cost_.push_back(1 - gpus.share(node));
    for (std::uint32_t i = 0; i < replicas.size(); ++i) {
        if (!fixed_[i]) movable_.push_back(i);
        ++replica_count_[replicas[i].expert * nodes_ + node_of_[i]];
        load_[node_of_[i]] += replicas[i].load;
        mean_ += replicas[i].load / static_cast<double>(gpus.count());
    }
    for (const std::uint32_t pin : tokens.pins) ++list_begin_[pin + 1];
    for (std::size_t i = 0; i < replicas.size(); ++i) list_begin_[i + 1] += list_begin_[i];
    std::vector<std::uint32_t> next(list_begin_.begin(), list_begin_.end() - 1);
    for (std::uint32_t token = 0; token < tokens.tokens(); ++token) {
        for (const std::uint32_t pin : pins(token)) {
            token_list_[next[pin]++] = token;
            ++visits(token, node_of_[pin]);
        }
        for (const std::uint32_t pin : pins(token)) {
            for (std::size_t node = 0; node < nodes_; ++node) {
                const std::uint32_t others = visits(token, node) - (node_of_[pin] == node ? 1 : 0);
                sole_visits(pin, node) += others == 0 ? 1 : 0;
            }
        }
    }
}

void NodeSearch::move(std::uint32_t replica, std::uint32_t to) {
    const std::uint32_t from = node_of_[replica];
    for (const std::uint32_t token : tokens_of(replica)) {
        const std::uint32_t left = --visits(token, from);
        const std::uint32_t joined = ++visits(token, to);
        if (left > 1 && joined > 2) continue;
        for (const std::uint32_t other : pins(token)) {
            if (other == replica) continue;
            const std::uint32_t at = node_of_[other];
            if (left == 0 || (left == 1 && at == from)) ++sole_visits(other, from);
            if (joined == 1 || (joined == 2 && at == to)) --sole_visits(other, to);
        }
    }
    node_of_[replica] = to;
    load_[from] -= replicas_[replica].load;
    load_[to] += replicas_[replica].load;
    --replica_count_[replicas_[replica].expert * nodes_ + from];
    ++replica_count_[replicas_[replica].expert * nodes_ + to];
}

void NodeSearch::swap(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t node = node_of_[a];
    move(a, node_of_[b]);
    move(b, node);
}

bool NodeSearch::may_swap(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t x = replicas_[a].expert;
    const std::uint32_t y = replicas_[b].expert;
    if (x == y || node_of_[a] == node_of_[b] || fixed_[a] || fixed_[b]) return false;
    return replica_count_[x * nodes_ + node_of_[b]] < at_most_[x] &&
           replica_count_[y * nodes_ + node_of_[a]] < at_most_[y];
}

double NodeSearch::unshared_visit_change(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t u = node_of_[a];
    const std::uint32_t v = node_of_[b];
    return visit_cost(a, v) - visit_cost(a, u) + visit_cost(b, u) - visit_cost(b, v);
}

double NodeSearch::shared_visit_change(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t u = node_of_[a];
    const std::uint32_t v = node_of_[b];
    const auto of_a = tokens_of(a);
    const auto of_b = tokens_of(b);
    double change = 0;
    for (std::size_t i = 0, j = 0; i < of_a.size() && j < of_b.size();) {
        if (of_a[i] == of_b[j]) {
            change += visits(of_a[i], u) == 1 ? cost_[u] : 0;
            change += visits(of_a[i], v) == 1 ? cost_[v] : 0;
            ++i;
            ++j;
        } else if (of_a[i] < of_b[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    return change;
}

/// Excess over the limit, relative to a GPU's mean load.
double NodeSearch::relative_excess(std::size_t node, double load, double over) const {
    const double limit = mean_ * static_cast<double>(gpus_.gpus_on(node).size()) * (1 + over);
    return std::max(0.0, load - limit) / mean_;
}

double NodeSearch::first_temperature(Rng& rng) {
    double sum = 0;
    int drawn = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint32_t a = movable_[rng.below(static_cast<std::uint32_t>(movable_.size()))];
        const std::uint32_t b = movable_[rng.below(static_cast<std::uint32_t>(movable_.size()))];
        if (!may_swap(a, b)) continue;
        sum += std::abs(unshared_visit_change(a, b));
        ++drawn;
    }
    return drawn == 0 ? 0 : 0.5 * sum / drawn;
}

void NodeSearch::anneal(std::size_t swaps, double over, double heat, Rng& rng) {
    if (movable_.size() < 2 || mean_ == 0) return;
    const double first = first_temperature(rng) * heat;
    if (first == 0) return;
    constexpr std::size_t steps = 200;
    constexpr double coolest = 0.01;  // fraction of the first temperature
    const double loose = std::max(over, 0.05);
    const auto count = static_cast<std::uint32_t>(movable_.size());
    for (std::size_t step = 0; step < steps; ++step) {
        const double done = static_cast<double>(step) / (steps - 1);
        const double temperature = first * std::pow(coolest, done);
        const double allowed = over + (loose - over) * std::max(0.0, 1 - 1.25 * done);
        // Excess over the limit of a thousandth of a GPU's mean load costs as much as the temperature.
        const double per_load = 1000 * temperature;
        for (std::size_t i = 0; i < swaps / steps; ++i) {
            const std::uint32_t a = movable_[rng.below(count)];
            const std::uint32_t b = movable_[rng.below(count)];
            if (!may_swap(a, b)) continue;
            double change = unshared_visit_change(a, b);
            const double worst = temperature * 12;
            if (change > worst) continue;
            const std::uint32_t u = node_of_[a];
            const std::uint32_t v = node_of_[b];
            const double less = replicas_[a].load - replicas_[b].load;
            change += per_load *
                      (relative_excess(u, load_[u] - less, allowed) - relative_excess(u, load_[u], allowed) +
                       relative_excess(v, load_[v] + less, allowed) - relative_excess(v, load_[v], allowed));
            if (change > worst) continue;
            const double limit = -temperature * std::log(1 - rng.uniform());
            if (change > limit || change + shared_visit_change(a, b) > limit) continue;
            swap(a, b);
        }
    }
}

bool NodeSearch::pack(double most) {
    std::vector<std::uint32_t> gpu_of(replicas_.size());
    for (std::size_t node = 0; node < nodes_; ++node) {
        std::vector<std::uint32_t> here;
        std::vector<ExpertReplica> part;
        for (std::uint32_t i = 0; i < replicas_.size(); ++i) {
            if (node_of_[i] != node) continue;
            here.push_back(i);
            part.push_back(replicas_[i]);
        }
        const auto bins = pack_evenly(part, gpus_.gpus_on(node).size(), gpus_.slots_per_gpu());
        for (std::size_t i = 0; i < here.size(); ++i) gpu_of[here[i]] = gpus_.gpus_on(node)[bins[i]];
    }
    assign_gpus(gpu_of);
    constexpr int tries = 200;
    for (int i = 0; i < tries; ++i) {
        if (*std::max_element(gpu_load_.begin(), gpu_load_.end()) <= most) return true;
        if (!unload_fullest_gpu(most)) return false;
    }
    return false;
}

void NodeSearch::assign_gpus(std::span<const std::uint32_t> gpus) {
    gpu_of_.assign(gpus.begin(), gpus.end());
    gpu_load_.assign(gpus_.count(), 0);
    on_gpu_.assign(gpus_.count(), {});
    for (std::uint32_t i = 0; i < replicas_.size(); ++i) {
        gpu_load_[gpu_of_[i]] += replicas_[i].load;
        on_gpu_[gpu_of_[i]].push_back(i);
    }
}

bool NodeSearch::has_expert(std::uint32_t gpu, std::uint32_t expert) const {
    return std::any_of(on_gpu_[gpu].begin(), on_gpu_[gpu].end(),
                       [&](std::uint32_t one) { return replicas_[one].expert == expert; });
}

void NodeSearch::swap_gpus(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t from = gpu_of_[a];
    const std::uint32_t to = gpu_of_[b];
    if (node_of_[a] != node_of_[b]) swap(a, b);
    *std::find(on_gpu_[from].begin(), on_gpu_[from].end(), a) = b;
    *std::find(on_gpu_[to].begin(), on_gpu_[to].end(), b) = a;
    gpu_load_[from] += replicas_[b].load - replicas_[a].load;
    gpu_load_[to] += replicas_[a].load - replicas_[b].load;
    std::swap(gpu_of_[a], gpu_of_[b]);
}

/// Lowers the load of the fullest GPU as far as possible, but not below `most`, by the cheapest swap that
/// raises no other GPU above `most`.
bool NodeSearch::unload_fullest_gpu(double most) {
    const auto full =
        static_cast<std::uint32_t>(std::max_element(gpu_load_.begin(), gpu_load_.end()) - gpu_load_.begin());
    std::pair<double, double> least{std::numeric_limits<double>::infinity(), 0};
    Swap best{0, 0};
    for (const std::uint32_t a : on_gpu_[full]) {
        for (std::uint32_t b = 0; b < replicas_.size(); ++b) {
            const std::uint32_t gpu = gpu_of_[b];
            const double less = replicas_[a].load - replicas_[b].load;
            if (gpu == full || less <= 1e-12 * mean_ || gpu_load_[gpu] + less > most) continue;
            if (has_expert(gpu, replicas_[a].expert) || has_expert(full, replicas_[b].expert)) continue;
            const bool is_near = node_of_[a] == node_of_[b];
            if (!is_near && !may_swap(a, b)) continue;
            const std::pair<double, double> value{
                std::max(most, gpu_load_[full] - less),
                is_near ? 0 : unshared_visit_change(a, b) + shared_visit_change(a, b)};
            if (value >= least) continue;
            least = value;
            best = {a, b};
        }
    }
    if (best.a == best.b) return false;
    swap_gpus(best.a, best.b);
    return true;
}

/// Whether two replicas may swap their GPUs.
bool NodeSearch::fits_after_swap(std::uint32_t a, std::uint32_t b, double most) const {
    const std::uint32_t from = gpu_of_[a];
    const std::uint32_t to = gpu_of_[b];
    const double less = replicas_[a].load - replicas_[b].load;
    if (gpu_load_[from] - less > most || gpu_load_[to] + less > most) return false;
    return !has_expert(to, replicas_[a].expert) && !has_expert(from, replicas_[b].expert);
}

void NodeSearch::anneal_gpus(double most, std::size_t swaps, double heat, Rng& rng) {
    if (movable_.size() < 2) return;
    const double first = first_temperature(rng) * heat;
    if (first == 0) return;
    const auto count = static_cast<std::uint32_t>(replicas_.size());
    for (std::size_t i = 0; i < swaps; ++i) {
        const std::uint32_t a = rng.below(count);
        const std::uint32_t b = rng.below(count);
        if (gpu_of_[a] == gpu_of_[b] || replicas_[a].expert == replicas_[b].expert) continue;
        double change = 0;
        if (node_of_[a] != node_of_[b]) {
            if (!may_swap(a, b)) continue;
            const double done = static_cast<double>(i) / static_cast<double>(swaps);
            const double limit = -first * std::pow(0.02, done) * std::log(1 - rng.uniform());
            change = unshared_visit_change(a, b);
            if (change > limit || !fits_after_swap(a, b, most) || change + shared_visit_change(a, b) > limit)
                continue;
        } else if (!fits_after_swap(a, b, most)) {
            continue;
        }
        swap_gpus(a, b);
    }
}

bool NodeSearch::reduce_visits(double most) {
    bool any = false;
    for (const std::uint32_t a : movable_) {
        for (const std::uint32_t b : movable_) {
            if (b <= a || !may_swap(a, b) || unshared_visit_change(a, b) > -1e-9 ||
                !fits_after_swap(a, b, most))
                continue;
            if (unshared_visit_change(a, b) + shared_visit_change(a, b) > -1e-9) continue;
            swap_gpus(a, b);
            any = true;
        }
    }
    return any;
}

std::vector<std::uint32_t> NodeSearch::anneal_packed(double most, std::size_t swaps, double heat, Rng& rng) {
    anneal_gpus(most, swaps, heat, rng);
    constexpr int passes = 20;
    for (int pass = 0; pass < passes && reduce_visits(most); ++pass) {
    }
    return gpu_of_;
}

}  // namespace topoloom
