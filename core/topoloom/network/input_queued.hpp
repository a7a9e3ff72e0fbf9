// SPDX-License-Identifier: BSD-3-Clause
// Routers with virtual channels that queue flits at their inputs, simulated cycle by cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "topoloom/network/fabric.hpp"
#include "topoloom/network/paths.hpp"
#include "topoloom/network/switching.hpp"
#include "topoloom/network/workload.hpp"

namespace topoloom {

/// What nodes have received since the counts began. Integers, whose sums do not depend on their order.
struct Received {
    std::uint64_t packets = 0;
    std::uint64_t flits = 0;
    std::uint64_t latency = 0;                // sum over packets, in cycles: from made to all there
    std::vector<std::uint64_t> by_latency{};  // [cycles], the last also of all longer ones
};

/// A router takes four steps for a flit: it is stored where it comes in, its packet gets a virtual channel of the output
/// (heads only), the flit gets the crossbar, and goes to the channel. Both allocators are separable ones: each output grants
/// one request, each input accepts one grant, in turns that move on with success (N. McKeown, The iSLIP Scheduling
/// Algorithm for Input-Queued Switches, IEEE/ACM Transactions on Networking 7, 1999). A virtual channel is free again when
/// the last flit of its packet has left; a credit comes back as long after as a flit would take. Nodes take all that comes.
/// Source: W. Dally, B. Towles, Principles and Practices of Interconnection Networks, chapter 16.
class InputQueuedNetwork {
   public:
    /// `seed` draws the ways of packets whose routes are split. What happens does not depend on the number of threads (0: one
    /// per core), each of which simulates a part of the routers. Refers to the fabric, the paths and the workload. Throws Error
    /// for options that require_switches() refuses, and fewer virtual channels than classes of paths.
    InputQueuedNetwork(const Fabric& fabric, const Paths& paths, Workload& workload,
                       const SwitchOptions& options, std::uint64_t seed, int threads = 1);
    ~InputQueuedNetwork();
    InputQueuedNetwork(const InputQueuedNetwork&) = delete;
    InputQueuedNetwork& operator=(const InputQueuedNetwork&) = delete;

    void run(std::uint64_t cycles);
    [[nodiscard]] std::uint64_t cycle() const;
    /// [node]: how far it is behind, in cycles since the packet was made that it would send next.
    [[nodiscard]] std::vector<std::uint64_t> lags() const;
    /// Counts since the last call of this function.
    [[nodiscard]] Received take_received();
    /// Flits that have crossed a switch so far.
    [[nodiscard]] std::uint64_t flit_hops() const;
    /// Throws Error unless all adds up: each buffer is as large as the flits and credits that belong to it, wherever they are, and
    /// what nodes have sent has been received or is on its way.
    void check() const;

   private:
    class Simulation;
    std::unique_ptr<Simulation> simulation_;
};

}  // namespace topoloom
