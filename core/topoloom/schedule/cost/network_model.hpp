// SPDX-License-Identifier: BSD-3-Clause
// Costs of messages by size: time, CPU and copies. Link loads are modeled elsewhere.
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

/// Factors on link latency and bandwidth for messages of up to `most` bytes. The bandwidth factor accounts
/// for headers, the protocol and traffic in the reverse direction. As in P. Velho, A. Legrand, Accuracy study
/// and improvement of network simulation in the SimGrid framework, SIMUTools 2009.
struct LinkFactors {
    double latency = 1;
    double bandwidth = 1;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// Costs of a message in addition to alpha + bytes * beta, in seconds. Greek names and `per_byte` are in
/// seconds per byte.
struct MessageCosts {
    double latency = 0;  // L: time from the end of the turn to the arrival of a single message
    double send_cpu = 0, send_cpu_per_byte = 0;        // o_s: CPU of the sender
    double receive_cpu = 0, receive_cpu_per_byte = 0;  // o_r: CPU of the receiver
    double combine = 0;                                // cost per block combined with others
    double gamma = 0;                                  // cost per byte copied when messages are combined
    double reduce = 0;                                 // cost per byte reduced
    double delta = 0;                                  // cost per byte staged in NIC memory
    double beta_em = 0;  // cost per byte sent from NIC memory; 0: never sent from there
    // Cost of each message and each byte that the processes of a node send together; 0: they do not slow each
    // other.
    double node_alpha = 0, node_beta = 0;
    double packet = 0;  // bytes after which a sender waits for an acknowledgment; 0: it never waits
    // Cost of each of log2 P rounds of a barrier; 0: the cost of sending and receiving a message.
    double barrier_round = 0;
};

/// A point-to-point model: the line of the size's regime, or the largest of all lines. A message never takes
/// longer than a larger one, because it can be padded: if a regime begins below the end of the previous one,
/// the previous one ends in a plateau. Immutable, cheap to copy and to query. Sources: S. Kumar, Optimizing
/// Communication for Massively Parallel Processing, PhD thesis, UIUC, 2005, ch. 2; A. Alexandrov et al.,
/// LogGP, SPAA 1995; W. Gropp, L. Olson, P. Samfass, Modeling MPI communication performance on SMP nodes,
/// EuroMPI 2016.
class NetworkModel {
   public:
    /// Uses the first line whose `most` is at least the size. Throws Error unless `most` ascends, the last
    /// line has no limit, and all values are finite and not negative.
    [[nodiscard]] static NetworkModel regimes(std::vector<CostLine> lines, const MessageCosts& costs = {});
    /// Uses the maximum of several unlimited lines, for concurrent stages of which the slowest determines the
    /// time.
    [[nodiscard]] static NetworkModel largest(std::vector<CostLine> lines, const MessageCosts& costs = {});
    /// Derives a model from latency L, overhead o at each end, gap g between messages and gap G between
    /// bytes, in seconds. A single message takes L + 2 o + (bytes - 1) G, one of several max(g, o) + (bytes -
    /// 1) G. Throws Error if a single message would take less than one of several, or if a byte would take
    /// more than a message. Sets latency, send_cpu and receive_cpu of the costs.
    [[nodiscard]] static NetworkModel loggp(double L, double o, double g, double G, MessageCosts costs = {});
    /// Returns a copy with the same lines, but these costs.
    [[nodiscard]] NetworkModel with_costs(const MessageCosts& costs) const;
    /// Returns a copy with this number of NICs per node, shared evenly by its processes.
    [[nodiscard]] NetworkModel with_nics(std::uint32_t cards) const;
    /// Returns a copy with link factors by message size; without factors, links are the same for all sizes.
    /// Throws Error unless `most` ascends, the last entry has no limit, all values are finite, bandwidths are
    /// positive and latencies not negative.
    [[nodiscard]] NetworkModel with_link_factors(std::vector<LinkFactors> factors) const;
    /// Returns a copy in which a single message takes the time given by these lines for its size. A
    /// rendezvous or a copy delays a long message but not the messages after it. Throws Error unless `most`
    /// ascends, the last line has no limit, all values are finite and not negative, and the costs have no
    /// latency.
    [[nodiscard]] NetworkModel with_single_message_lines(std::vector<CostLine> lines) const;
    /// Returns a copy with this model for intra-node messages.
    [[nodiscard]] NetworkModel with_intra_node_model(const NetworkModel& inside) const;

    /// Seconds between two successive messages of a process.
    [[nodiscard]] double time(Bytes size) const {
        return seconds(size, [](const CostLine& line) { return line; });
    }
    /// Seconds between two successive messages of a process while this number of processes of the node send.
    /// Injecting the messages of all these processes may take longer than alpha + bytes * beta, the time of a
    /// single process.
    [[nodiscard]] double time(Bytes size, std::uint32_t processes) const {
        if (processes <= 1) return time(size);
        const double of_a_card = processes / cards_;
        const CostLine shared{of_a_card * costs_.node_alpha, of_a_card * costs_.node_beta};
        return seconds(size, [&](const CostLine& line) {
            return CostLine{std::max(line.alpha, shared.alpha), std::max(line.beta, shared.beta)};
        });
    }
    /// Seconds from the end of the turn of a single message until its arrival.
    [[nodiscard]] double latency(Bytes size) const {
        return alone_.empty() ? costs_.latency : std::max(0.0, evaluate_line(alone_, size) - time(size));
    }
    /// Seconds from the start of a single message until its arrival.
    [[nodiscard]] double arrival(Bytes size) const { return latency(size) + time(size); }
    [[nodiscard]] bool sends_from_nic() const { return costs_.beta_em > 0; }
    [[nodiscard]] bool shares_injection() const { return costs_.node_alpha > 0 || costs_.node_beta > 0; }
    /// Seconds between two successive messages sent from NIC memory, which the processes of a node share.
    /// Uses the alpha of long messages, with which beta_em is measured. Throws Error unless the model sends
    /// from NIC memory.
    [[nodiscard]] double nic_time(Bytes size, std::uint32_t processes = 1) const;

    /// CPU seconds of sender and receiver.
    [[nodiscard]] double cpu(Bytes size) const { return send_cpu(size) + receive_cpu(size); }
    [[nodiscard]] double send_cpu(Bytes size) const {
        return costs_.send_cpu + static_cast<double>(size.value) * costs_.send_cpu_per_byte;
    }
    [[nodiscard]] double receive_cpu(Bytes size) const {
        return costs_.receive_cpu + static_cast<double>(size.value) * costs_.receive_cpu_per_byte;
    }
    /// Seconds to copy `size` bytes in `blocks` blocks into one message, or out of it.
    [[nodiscard]] double copy(Bytes size, double blocks = 0) const {
        return blocks * costs_.combine + static_cast<double>(size.value) * costs_.gamma;
    }
    /// Seconds between two successive messages on a route of this latency and bandwidth, if each packet waits
    /// for the acknowledgment of the previous one; 0 if no packet waits.
    [[nodiscard]] double in_packets(Bytes size, double way, double bandwidth) const {
        if (costs_.packet <= 0) return 0;
        const double packet = costs_.packet / bandwidth + 2 * way;
        return time(Bytes{0}) + static_cast<double>(size.value) / costs_.packet * packet;
    }
    /// Seconds to apply a reduction to received bytes.
    [[nodiscard]] double reduce(Bytes size) const { return static_cast<double>(size.value) * costs_.reduce; }
    /// The first factors whose `most` is at least the size. Measured factors need not be monotonic, so a
    /// message may occupy a link longer than a larger message.
    [[nodiscard]] LinkFactors link_factors(Bytes size) const {
        for (const LinkFactors& factors : link_factors_)
            if (size.value <= factors.most) return factors;
        return {};
    }
    /// Seconds to stage these bytes in NIC memory.
    [[nodiscard]] double stage(Bytes size) const { return static_cast<double>(size.value) * costs_.delta; }

    /// Seconds of a barrier: the rounds of a dissemination, on the NIC if the model specifies the time of
    /// such a round.
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
    /// Whether bytes take time only on links, on a machine whose node ports have this bandwidth in bytes/s.
    /// Requires link factors for all sizes, and ports at least as wide as all links of their node.
    [[nodiscard]] bool is_limited_by_links_only(double port) const {
        return !link_factors_.empty() && port == std::numeric_limits<double>::infinity();
    }
    [[nodiscard]] bool takes_largest() const { return largest_; }
    [[nodiscard]] const MessageCosts& costs() const { return costs_; }

   private:
    NetworkModel(std::vector<CostLine> lines, const MessageCosts& costs, bool largest);

    [[nodiscard]] static double barrier_rounds(std::size_t ranks) {
        return ranks > 1 ? static_cast<double>(std::bit_width(ranks - 1)) : 0;
    }
    [[nodiscard]] static double evaluate_line(const std::vector<CostLine>& lines, Bytes size) {
        std::size_t i = 0;
        while (lines[i].most < size.value) ++i;  // the last line has no limit
        return lines[i].alpha + static_cast<double>(size.value) * lines[i].beta;
    }
    /// Applies change() to the lines, then evaluates them for a size.
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
