// SPDX-License-Identifier: BSD-3-Clause
// Where a policy wants objects: libtopoloom decides, ranks move them.
#include <algorithm>

#include "agreement.hpp"
#include "state.hpp"
#include "topoloom_rebalance.h"

namespace topoloom::objects {

namespace {

/// The machine, as rank 0 knows it: of the text, or from who shares a node.
class ProcessMap {
   public:
    ProcessMap(const State& state, const RebalanceOptions& options) {
        const int ranks = state.transport->ranks();
        std::int64_t node = options.node;
        MPI_Comm here = MPI_COMM_NULL;
        PMPI_Comm_split_type(state.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
        int first = state.transport->rank(), lowest = first;
        PMPI_Allreduce(&first, &lowest, 1, MPI_INT, MPI_MIN, here);
        PMPI_Comm_free(&here);
        std::int64_t own[2] = {node, lowest};
        std::vector<std::int64_t> all(2 * static_cast<std::size_t>(ranks));
        PMPI_Allgather(own, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, state.comm);
        std::vector<std::int64_t> groups, leaders;
        for (std::size_t i = 0; i < all.size(); i += 2) {
            const std::int64_t leader = all[i + 1];
            const auto known = std::ranges::find(leaders, leader);
            const std::int64_t counted = known - leaders.begin();
            if (known == leaders.end()) leaders.push_back(leader);
            groups.push_back(all[i] >= 0 && !options.machine.empty() ? all[i] : counted);
        }
        const auto count = static_cast<std::size_t>(ranks);
        failed_ =
            options.machine.empty()
                ? topoloom_process_map_from_groups(count, 1, 0, groups.data(), &map_, error_, sizeof error_)
                : topoloom_process_map_on_machine(options.machine.c_str(), count, 1, groups.data(), &map_,
                                                  error_, sizeof error_);
    }
    ~ProcessMap() {
        if (failed_ == 0) topoloom_process_map_free(map_);
    }
    ProcessMap(const ProcessMap&) = delete;
    ProcessMap& operator=(const ProcessMap&) = delete;
    [[nodiscard]] const topoloom_process_map* get() const { return map_; }
    [[nodiscard]] std::string error() const { return failed_ != 0 ? error_ : ""; }

   private:
    topoloom_process_map* map_ = nullptr;
    int failed_ = 0;
    char error_[256] = "";
};

/// What is wrong with the options here; empty: nothing.
std::string refused(const RebalanceOptions& options) {
    const auto text = [](const char* name, auto value, const char* wanted) {
        return std::string("rebalance: ") + name + " is " + std::to_string(value) + ", and " + wanted;
    };
    if (!(options.periods > 0)) return text("periods", options.periods, "is above 0");
    if (!(options.seconds_per_byte >= 0))
        return text("seconds_per_byte", options.seconds_per_byte, "is 0 or more");
    if (!(options.tolerance >= 0)) return text("tolerance", options.tolerance, "is 0 or more");
    if (options.node < -1) return text("node", options.node, "is a node's number from 0 on, or -1");
    return {};
}

struct Answer {
    int failed = 0;
    char error[256] = "";
    topoloom_rebalanced worth{};
};

/// What objects here sent to has moved: their next messages shall go there, and not by the home ranks.
void learn_whereabouts(State& state, const Gathered& before, const std::vector<std::uint32_t>& wanted) {
    const std::vector<std::uint64_t> first = state.first_objects();
    const auto here = static_cast<std::uint32_t>(state.transport->rank());
    for (std::size_t object = 0; object < wanted.size(); ++object) {
        if (wanted[object] != here) continue;
        for (std::uint64_t i = before.first[object]; i < before.first[object + 1]; ++i) {
            const std::uint32_t peer = before.peers[i];
            const auto next = std::ranges::upper_bound(first, std::uint64_t{peer});
            const auto array = static_cast<std::size_t>(next - first.begin()) - 1;
            const std::uint32_t moves = before.moves[peer] + (wanted[peer] != before.here[peer] ? 1 : 0);
            state.locate(*state.arrays[array], peer - first[array],
                         {static_cast<std::int32_t>(wanted[peer]), moves});
        }
    }
}

}  // namespace

Rebalanced Runtime::rebalance(const std::string& policy, const RebalanceOptions& options) {
    state_->refuse_in_methods("rebalance()");
    agree(state_->comm, refused(options),
          {{"rebalance: policy", to_compare(policy)},
           {"rebalance: machine", to_compare(options.machine)},
           {"rebalance: seconds_per_byte", to_compare(options.seconds_per_byte)},
           {"rebalance: periods", to_compare(options.periods)},
           {"rebalance: tolerance", to_compare(options.tolerance)}});
    const ProcessMap process_map(*state_, options);
    if (!process_map.error().empty()) agree(state_->comm, "rebalance: " + process_map.error());
    const Gathered all = state_->measured();
    std::vector<std::uint32_t> wanted(all.objects());
    Answer answer;
    if (rank() == 0) {
        const topoloom_objects objects{{all.objects(), all.first.data(), all.peers.data(), all.bytes.data()},
                                       all.seconds.data(),
                                       all.packed_bytes.data(),
                                       all.rank.data(),
                                       all.is_proxied.data()};
        const topoloom_moving moving{options.seconds_per_byte, options.periods, options.tolerance, 1};
        answer.failed = topoloom_rebalance(process_map.get(), &objects, policy.c_str(), &moving,
                                           wanted.data(), &answer.worth, answer.error, sizeof answer.error);
    }
    PMPI_Bcast(&answer, sizeof answer, MPI_BYTE, 0, state_->comm);
    if (answer.failed != 0) agree(state_->comm, std::string("rebalance: ") + answer.error);
    PMPI_Bcast(wanted.data(), static_cast<int>(wanted.size()), MPI_UINT32_T, 0, state_->comm);
    state_->forget_measured();
    const std::vector<std::uint64_t> first = state_->first_objects();
    for (std::size_t a = 0; a + 1 < first.size(); ++a) {
        for (std::uint64_t i = first[a]; i < first[a + 1]; ++i) {
            if (wanted[i] == all.rank[i] || all.here[i] != static_cast<std::uint32_t>(rank())) continue;
            migrate(resident(static_cast<std::uint32_t>(a), i - first[a]), static_cast<int>(wanted[i]));
        }
    }
    run();
    learn_whereabouts(*state_, all, wanted);
    const topoloom_rebalanced& worth = answer.worth;
    return {worth.moved,   worth.moved_bytes,      worth.busiest_before, worth.busiest_after,
            worth.average, worth.hop_bytes_before, worth.hop_bytes_after};
}

}  // namespace topoloom::objects
