// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/workloads/measure_load.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::uint64_t first_batch = 500;  // cycles
constexpr std::size_t batches = 20;
/// Student's t for 19 degrees of freedom and a two-sided 95 % interval.
constexpr double student = 2.093;
/// Saturation thresholds: growth of the lag per cycle, averaged over nodes or at any single node. The lag of
/// steady queues changes less.
constexpr double all_behind = 0.02;
constexpr double one_behind = 0.1;
/// A run that reaches its limit before its mean is known is saturated too if the second half of it is this much slower
/// than the first, and the lag grew by this share of the mean latency: slow growth, which the thresholds do not show.
constexpr double slower_half = 1.25, lag_share = 0.5;

double mean(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sum_squared_deviations(std::span<const double> values) {
    const double middle = mean(values);
    double sum = 0;
    for (const double value : values) sum += (value - middle) * (value - middle);
    return sum;
}

/// Returns the number of initial values that MSER discards.
std::size_t find_warm_up_length(const std::vector<double>& values) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t left_out = 0; left_out + 2 < values.size(); ++left_out) {
        const std::span<const double> rest = std::span(values).subspan(left_out);
        const auto count = static_cast<double>(rest.size());
        const double error = sum_squared_deviations(rest) / (count * count);
        if (error < least) {
            least = error;
            best = left_out;
        }
    }
    return best;
}

/// Returns the latency, in cycles, that this share of the packets does not exceed.
double percentile(const ReceivedPackets& received, double share) {
    const double wanted = share * static_cast<double>(received.packets);
    std::uint64_t seen = 0;
    for (std::size_t cycles = 0; cycles < received.by_latency.size(); ++cycles) {
        seen += received.by_latency[cycles];
        if (static_cast<double>(seen) >= wanted) return static_cast<double>(cycles);
    }
    return 0;
}

void add_received(ReceivedPackets& sum, const ReceivedPackets& more) {
    sum.packets += more.packets;
    sum.flits += more.flits;
    sum.latency += more.latency;
    if (sum.by_latency.empty()) sum.by_latency.assign(more.by_latency.size(), 0);
    for (std::size_t i = 0; i < more.by_latency.size(); ++i) sum.by_latency[i] += more.by_latency[i];
    if (sum.sent.empty()) sum.sent.assign(more.sent.size(), 0);
    for (std::size_t i = 0; i < more.sent.size(); ++i) sum.sent[i] += more.sent[i];
}

/// Replaces every two consecutive batch means by their mean.
void merge_pairs(std::vector<double>& means) {
    for (std::size_t i = 0; i < means.size() / 2; ++i) means[i] = (means[2 * i] + means[2 * i + 1]) / 2;
    means.resize(means.size() / 2);
}

class LoadMeasurement {
   public:
    LoadMeasurement(PacketNetwork& network, const LoadSource& senders, Meter& meter)
        : network_(network), senders_(senders), meter_(meter), lags_(lags()) {}

    /// Runs a batch of cycles. Returns false if the meter stopped the run.
    bool run_batch(std::uint64_t cycles, ReceivedPackets& received) {
        for (std::uint64_t done = 0; done < cycles; done += first_batch) {
            const std::uint64_t hops = network_.flit_hops();
            network_.run(first_batch);
            if (network_.flit_hops() == hops) require_progress();
            if (!meter_.poll()) return false;
        }
        received = network_.take_received();
        return true;
    }
    void require_progress() const {
        const std::string circle = network_.describe_deadlock();
        if (!circle.empty())
            throw DeadlockError("packets wait for each other in cycle " + std::to_string(network_.cycle()) +
                                ": " + circle);
    }
    /// Stores the current lags, from which is_saturated() measures growth.
    void reset_lags() {
        lags_ = lags();
        since_ = network_.cycle();
    }
    /// Whether lags grow above a threshold, on average or at one node.
    [[nodiscard]] bool is_saturated() const {
        const auto cycles = static_cast<double>(network_.cycle() - since_);
        const Growth growth = lag_growth();
        const bool is_behind = growth.mean > all_behind * cycles || growth.most > one_behind * cycles;
        if (is_behind) require_progress();
        return is_behind;
    }
    /// Whether latencies still grow at the end of the measurement, from their batch means.
    [[nodiscard]] bool is_growing(std::span<const double> means) const {
        const double first = mean(means.first(means.size() / 2)), second = mean(means.last(means.size() / 2));
        return second > slower_half * first && lag_growth().mean > lag_share * mean(means);
    }

   private:
    struct Growth {
        double mean = 0, most = 0;  // cycles: over the sending nodes, and at one node
    };
    [[nodiscard]] Growth lag_growth() const {
        const std::vector<std::uint64_t> lags = this->lags();
        Growth growth;
        for (std::size_t node = 0; node < lags.size(); ++node) {
            const double more = static_cast<double>(lags[node]) - static_cast<double>(lags_[node]);
            growth.mean += more / static_cast<double>(senders_.sender_count());
            growth.most = std::max(growth.most, more);
        }
        return growth;
    }
    /// Lag of each node in cycles: the age of its oldest unsent packet, whether the packet waits for the
    /// network or is held back.
    [[nodiscard]] std::vector<std::uint64_t> lags() const {
        std::vector<std::uint64_t> lags = network_.lags();
        for (std::uint32_t node = 0; node < lags.size(); ++node)
            lags[node] = std::max(lags[node], senders_.held_back_cycles(Node{node}, network_.cycle()));
        return lags;
    }

    PacketNetwork& network_;
    const LoadSource& senders_;
    Meter& meter_;
    std::vector<std::uint64_t> lags_;  // [node]
    std::uint64_t since_ = 0;          // cycle
};

double mean_latency(const ReceivedPackets& received) {
    return received.packets == 0
               ? 0
               : static_cast<double>(received.latency) / static_cast<double>(received.packets);
}

LoadSample make_sample(const PacketNetwork& network, const ReceivedPackets& received, std::uint64_t hops,
                       std::uint64_t cycles, const LoadSource& senders) {
    const BufferUsage usage = network.usage();
    const auto over = static_cast<double>(cycles);
    return {.cycle = network.cycle(),
            .accepted = static_cast<double>(received.flits) / over /
                        (static_cast<double>(senders.sender_count()) * senders.mean_copies()),
            .channel_use = usage.outputs == 0
                               ? 0
                               : static_cast<double>(hops) / over / static_cast<double>(usage.outputs),
            .buffer_fill =
                usage.room == 0 ? 0 : static_cast<double>(usage.stored) / static_cast<double>(usage.room)};
}

/// Runs until latencies are steady or the network is saturated. Returns false if the meter stopped the run.
bool run_warm_up(LoadMeasurement& run, const PacketNetwork& network, std::uint64_t max_cycles,
                 LoadMeasure& measure) {
    ReceivedPackets received;
    std::vector<double> means;
    for (;;) {
        if (means.size() % batches == 0) run.reset_lags();
        if (!run.run_batch(first_batch, received)) return false;
        means.push_back(mean_latency(received));
        if (means.size() % batches != 0) continue;
        measure.warm_up = network.cycle();
        measure.saturated = run.is_saturated();
        if (measure.saturated || find_warm_up_length(means) < means.size() / 2) return true;
        if (measure.warm_up >= max_cycles / 2) return true;
    }
}

/// Sets the latency histogram and the rate of each source.
void set_histogram_and_rates(LoadMeasure& measure, const ReceivedPackets& all, const LoadSource& senders) {
    measure.by_latency = all.by_latency;
    while (!measure.by_latency.empty() && measure.by_latency.back() == 0) measure.by_latency.pop_back();
    for (std::uint32_t node = 0; node < all.sent.size(); ++node)
        if (senders.sends(Node{node}))
            measure.by_source.push_back(static_cast<double>(all.sent[node]) /
                                        static_cast<double>(measure.measured));
}

}  // namespace

double LoadMeasure::fairness() const {
    double sum = 0, squared = 0;
    for (const double rate : by_source) {
        sum += rate;
        squared += rate * rate;
    }
    return squared == 0 ? 1 : sum * sum / (static_cast<double>(by_source.size()) * squared);
}

LoadMeasure measure_load(PacketNetwork& network, const LoadSource& senders, const MeasurementLimits& effort,
                         Meter& meter) {
    LoadMeasure measure;
    measure.offered = senders.load();
    LoadMeasurement run(network, senders, meter);
    if (!run_warm_up(run, network, effort.max_cycles, measure)) {
        measure.complete = false;
        return measure;
    }
    run.reset_lags();
    std::vector<double> means;
    ReceivedPackets received;
    ReceivedPackets all;
    std::uint64_t cycles = first_batch;
    for (;;) {
        const std::uint64_t hops = network.flit_hops();
        if (!run.run_batch(cycles, received)) {
            measure.complete = false;
            break;
        }
        measure.series.push_back(make_sample(network, received, network.flit_hops() - hops, cycles, senders));
        add_received(all, received);
        measure.measured += cycles;
        means.push_back(mean_latency(received));
        if (means.size() < batches) continue;
        measure.half_width =
            student * std::sqrt(sum_squared_deviations(means) / static_cast<double>(batches - 1) /
                                static_cast<double>(batches));
        measure.saturated = run.is_saturated();
        if (measure.saturated || measure.half_width <= effort.precision * mean(means)) break;
        if (network.cycle() >= effort.max_cycles) {
            measure.saturated = run.is_growing(means);
            break;
        }
        merge_pairs(means);
        cycles *= 2;
    }
    if (all.packets == 0) return measure;
    const double node_cycles =
        static_cast<double>(measure.measured) * static_cast<double>(senders.sender_count());
    set_histogram_and_rates(measure, all, senders);
    measure.packets = all.packets;
    measure.accepted = static_cast<double>(all.flits) / (node_cycles * senders.mean_copies());
    measure.latency_mean = mean_latency(all);
    measure.latency_p50 = percentile(all, 0.5);
    measure.latency_p99 = percentile(all, 0.99);
    return measure;
}

}  // namespace topoloom
