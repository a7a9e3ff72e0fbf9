// SPDX-License-Identifier: BSD-3-Clause
// Costs of messages by size: time, CPU and copies. Link loads are modelled elsewhere.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "topoloom/base/unit.hpp"

namespace topoloom {

/// Seconds for messages of up to `most` bytes: alpha + bytes * beta.
struct CostLine {
    double alpha = 0;
    double beta = 0;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// What links are to messages of up to `most` bytes: times their latency, and times their bandwidth, less what headers,
/// the protocol and the other direction take of it. As in P. Velho, A. Legrand, Accuracy study and improvement of network
/// simulation in the SimGrid framework, SIMUTools 2009.
struct LinkFactors {
    double latency = 1;
    double bandwidth = 1;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// Costs of a message besides its line, in seconds. Greek names and `per_byte` are in seconds per byte.
struct MessageCosts {
    double latency = 0;                          // L: how much later than its turn one message alone arrives
    double send_cpu = 0, send_cpu_per_byte = 0;  // o_s: CPU of the sender
    double receive_cpu = 0, receive_cpu_per_byte = 0;  // o_r: CPU of the receiver
    double combine = 0;                                // of each block that is combined with others
    double gamma = 0;                                  // to copy when messages are combined
    double reduce = 0;                                 // to apply a reduction to what has come
    double delta = 0;                                  // to stage in NIC memory
    double beta_em = 0;                                // sent from there; 0: never sent from there
    double node_alpha = 0,
           node_beta = 0;      // of all processes of a node together; 0: they do not slow each other
    double packet = 0;         // bytes after which a sender waits for an answer; 0: it never waits
    double barrier_round = 0;  // of each of log2 P rounds of a barrier; 0: a message, sent and received
};

/// A point-to-point model: the line of the size's regime, or the largest of all lines. A message never takes longer than
/// a larger one, as it may be padded: where a regime begins below the end of one before, that one ends in a plateau.
/// Immutable, cheap to copy, made to be called in loops: a query takes a few comparisons. Sources: S. Kumar, Optimizing Communication for Massively
/// Parallel Processing, PhD thesis, UIUC, 2005, ch. 2; A. Alexandrov et al., LogGP, SPAA 1995; W. Gropp, L. Olson,
/// P. Samfass, Modeling MPI communication performance on SMP nodes, EuroMPI 2016.
class NetworkModel {
   public:
    /// The first line that goes up to the size. Throws Error unless `most` ascends, the last line has no limit, and
    /// everything is finite and not negative.
    [[nodiscard]] static NetworkModel regimes(std::vector<CostLine> lines, const MessageCosts& costs = {});
    /// The largest of lines without limits, as where stages work side by side and the slowest of them counts.
    [[nodiscard]] static NetworkModel largest(std::vector<CostLine> lines, const MessageCosts& costs = {});
    /// From latency L, overhead o of each end, gap g between messages and gap G between bytes, in seconds. A message
    /// alone then takes L + 2 o + (bytes - 1) G, one among several max(g, o) + (bytes - 1) G. Throws Error if a
    /// message alone would take less than one among several, or a byte more than a message. Sets latency, send_cpu
    /// and receive_cpu of the costs.
    [[nodiscard]] static NetworkModel loggp(double L, double o, double g, double G, MessageCosts costs = {});
    /// The same lines with other costs.
    [[nodiscard]] NetworkModel with_costs(const MessageCosts& costs) const;
    /// The same with this number of NICs per node, shared evenly by its processes.
    [[nodiscard]] NetworkModel with_cards(std::uint32_t cards) const;
    /// The same, on links that are not the same to messages of all sizes; if none are given, they are. Throws Error
    /// unless `most` ascends, the last has no limit, and all is finite, bandwidths above 0 and latencies not below.
    [[nodiscard]] NetworkModel with_link_factors(std::vector<LinkFactors> factors) const;
    /// The same, where one message alone takes the line of its size among these: what both ranks first agree on, or copy,
    /// makes long messages later, but not those that follow. Throws Error unless `most` ascends, the last has no limit,
    /// everything is finite and not negative, and the costs have no latency.
    [[nodiscard]] NetworkModel with_alone(std::vector<CostLine> lines) const;
    /// The same with this model for intra-node messages.
    [[nodiscard]] NetworkModel with_inside(const NetworkModel& inside) const;

    /// Seconds between two successive messages of a process.
    [[nodiscard]] double time(Bytes size) const {
        return seconds(size, [](const CostLine& line) { return line; });
    }
    /// The same while this number of processes of the node send: what they inject together may take longer than a line.
    /// A line is what one process gets.
    [[nodiscard]] double time(Bytes size, std::uint32_t processes) const {
        if (processes <= 1) return time(size);
        const double of_a_card = processes / cards_;
        const CostLine shared{of_a_card * costs_.node_alpha, of_a_card * costs_.node_beta};
        return seconds(size, [&](const CostLine& line) {
            return CostLine{std::max(line.alpha, shared.alpha), std::max(line.beta, shared.beta)};
        });
    }
    /// How much later than its turn one message alone arrives.
    [[nodiscard]] double latency(Bytes size) const {
        return alone_.empty() ? costs_.latency : std::max(0.0, on_its_line(alone_, size) - time(size));
    }
    /// Seconds until a single message has arrived.
    [[nodiscard]] double arrival(Bytes size) const { return latency(size) + time(size); }
    [[nodiscard]] bool sends_from_nic() const { return costs_.beta_em > 0; }
    [[nodiscard]] bool slows_neighbors() const { return costs_.node_alpha > 0 || costs_.node_beta > 0; }
    /// As `time`, sent from the memory of the network card, which the processes of a node share, with the alpha of long
    /// messages, which are what beta_em is measured with. Throws Error unless it sends from there.
    [[nodiscard]] double nic_time(Bytes size, std::uint32_t processes = 1) const;

    /// CPU seconds of sender and receiver.
    [[nodiscard]] double cpu(Bytes size) const { return send_cpu(size) + receive_cpu(size); }
    [[nodiscard]] double send_cpu(Bytes size) const {
        return costs_.send_cpu + static_cast<double>(size.value) * costs_.send_cpu_per_byte;
    }
    [[nodiscard]] double receive_cpu(Bytes size) const {
        return costs_.receive_cpu + static_cast<double>(size.value) * costs_.receive_cpu_per_byte;
    }
    /// To copy these bytes, of this number of blocks, into one message, or back.
    [[nodiscard]] double copy(Bytes size, double blocks = 0) const {
        return blocks * costs_.combine + static_cast<double>(size.value) * costs_.gamma;
    }
    /// As `time`, on a way of this latency and bandwidth, where a packet leaves when the one before has been answered; 0
    /// where none waits.
    [[nodiscard]] double in_packets(Bytes size, double way, double bandwidth) const {
        if (costs_.packet <= 0) return 0;
        const double packet = costs_.packet / bandwidth + 2 * way;
        return time(Bytes{0}) + static_cast<double>(size.value) / costs_.packet * packet;
    }
    /// Seconds to apply a reduction to received bytes.
    [[nodiscard]] double reduce(Bytes size) const { return static_cast<double>(size.value) * costs_.reduce; }
    /// The first that go up to the size: those of measurements, so that a message may fill a link longer than a larger one.
    [[nodiscard]] LinkFactors link_factors(Bytes size) const {
        for (const LinkFactors& factors : link_factors_)
            if (size.value <= factors.most) return factors;
        return {};
    }
    /// Seconds to stage these bytes in NIC memory.
    [[nodiscard]] double stage(Bytes size) const { return static_cast<double>(size.value) * costs_.delta; }

    /// Until all ranks know that all have come: the rounds of a dissemination, by the network card itself where the
    /// model says what one of them then takes.
    [[nodiscard]] double barrier(std::size_t ranks) const {
        const double message = std::max(arrival(Bytes{0}), cpu(Bytes{0}));
        return barrier_rounds(ranks) * (costs_.barrier_round > 0 ? costs_.barrier_round : message);
    }
    [[nodiscard]] double barrier_cpu(std::size_t ranks) const {
        return costs_.barrier_round > 0 ? 0 : barrier_rounds(ranks) * cpu(Bytes{0});
    }

    [[nodiscard]] const std::vector<CostLine>& lines() const { return lines_; }
    [[nodiscard]] const std::vector<LinkFactors>& link_factors() const { return link_factors_; }
    /// Lines of isolated messages; none if these arrive `costs().latency` after their turns.
    [[nodiscard]] const std::vector<CostLine>& alone() const { return alone_; }
    /// The model of intra-node messages; null if unknown.
    [[nodiscard]] const NetworkModel* inside() const { return inside_.get(); }
    /// Whether bytes take their time on links alone, on a machine whose nodes have ports of this many bytes per second: it is
    /// known what links are to messages of all sizes, and no port is narrower than all links of its node.
    [[nodiscard]] bool takes_bytes_on_links(double port) const {
        return !link_factors_.empty() && port == std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] bool takes_largest() const { return largest_; }
    [[nodiscard]] const MessageCosts& costs() const { return costs_; }

   private:
    NetworkModel(std::vector<CostLine> lines, const MessageCosts& costs, bool largest);

    [[nodiscard]] static double barrier_rounds(std::size_t ranks) {
        return ranks > 1 ? static_cast<double>(std::bit_width(ranks - 1)) : 0;
    }
    [[nodiscard]] static double on_its_line(const std::vector<CostLine>& lines, Bytes size) {
        std::size_t i = 0;
        while (lines[i].most < size.value) ++i;  // the last line has no limit
        return lines[i].alpha + static_cast<double>(size.value) * lines[i].beta;
    }
    /// On the line of the size, each of which is changed first.
    template <class Change>
    [[nodiscard]] double seconds(Bytes size, Change change) const {
        const auto at = [](const CostLine& line, std::int64_t bytes) {
            return line.alpha + static_cast<double>(bytes) * line.beta;
        };
        if (!largest_) {
            std::size_t i = 0;
            while (lines_[i].most < size.value) ++i;  // the last line has no limit
            double least = at(change(lines_[i]), size.value);
            for (; i + 1 < lines_.size(); ++i)
                least = std::min(least, at(change(lines_[i + 1]), lines_[i].most + 1));
            return least;
        }
        double most = 0;
        for (const CostLine& line : lines_) most = std::max(most, at(change(line), size.value));
        return most;
    }

    std::vector<CostLine> lines_;
    std::vector<CostLine> alone_;
    std::vector<LinkFactors> link_factors_;
    std::shared_ptr<const NetworkModel> inside_;
    MessageCosts costs_;
    double cards_ = 1;  // per node
    bool largest_;
};

}  // namespace topoloom
