// SPDX-License-Identifier: BSD-3-Clause
// Rebalances objects: libtopoloom chooses new ranks by a policy, and ranks migrate the objects.
#include <algorithm>

#include "collective_check.hpp"
#include "state.hpp"
#include "topoloom_rebalance.h"

namespace topoloom::objects {

namespace {

/// Process map on the machine given in the options, or on a machine inferred from which ranks share nodes.
class ProcessMap {
   public:
    ProcessMap(const SchedulerState& state, const RebalanceOptions& options) {
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

/// Returns a description of an invalid option, or an empty string if all options are valid.
std::string find_invalid_option(const RebalanceOptions& options) {
    const auto text = [](const char* name, auto value, const char* allowed) {
        return std::string("rebalance: ") + name + " is " + std::to_string(value) + ", but must " + allowed;
    };
    if (!(options.periods > 0)) return text("periods", options.periods, "be positive");
    if (!(options.seconds_per_byte >= 0))
        return text("seconds_per_byte", options.seconds_per_byte, "not be negative");
    if (!(options.tolerance >= 0)) return text("tolerance", options.tolerance, "not be negative");
    if (options.node < -1) return text("node", options.node, "be a node number or -1");
    return {};
}

/// Result of the rebalancing on rank 0.
struct Decision {
    int failed = 0;
    char error[256] = "";
    topoloom_rebalance_result result{};
};

/// Records the new locations of the peers of objects on this rank, so that home ranks do not have to forward messages.
void record_new_locations(SchedulerState& state, const DetailedMeasurements& before,
                          const std::vector<std::uint32_t>& new_rank) {
    const std::vector<std::uint64_t> first = state.list_first_objects();
    const auto here = static_cast<std::uint32_t>(state.transport->rank());
    for (std::size_t object = 0; object < new_rank.size(); ++object) {
        if (new_rank[object] != here) continue;
        for (std::uint64_t i = before.first[object]; i < before.first[object + 1]; ++i) {
            const std::uint32_t peer = before.peers[i];
            const auto next = std::ranges::upper_bound(first, std::uint64_t{peer});
            const auto array = static_cast<std::size_t>(next - first.begin()) - 1;
            const std::uint32_t moves =
                before.moves[peer] + (new_rank[peer] != before.current_rank[peer] ? 1 : 0);
            state.record_location(*state.arrays[array], peer - first[array],
                                  {static_cast<std::int32_t>(new_rank[peer]), moves});
        }
    }
}

}  // namespace

RebalanceResult Runtime::rebalance(const std::string& policy, const RebalanceOptions& options) {
    state_->fail_in_method("rebalance()");
    check_on_all_ranks(state_->comm, find_invalid_option(options),
                       {{"rebalance: policy", hash_for_comparison(policy)},
                        {"rebalance: machine", hash_for_comparison(options.machine)},
                        {"rebalance: seconds_per_byte", hash_for_comparison(options.seconds_per_byte)},
                        {"rebalance: periods", hash_for_comparison(options.periods)},
                        {"rebalance: tolerance", hash_for_comparison(options.tolerance)}});
    const ProcessMap process_map(*state_, options);
    if (!process_map.error().empty()) check_on_all_ranks(state_->comm, "rebalance: " + process_map.error());
    const DetailedMeasurements all = state_->measurements();
    std::vector<std::uint32_t> new_rank(all.objects());
    Decision decision;
    if (rank() == 0) {
        const topoloom_objects objects{{all.objects(), all.first.data(), all.peers.data(), all.bytes.data()},
                                       all.seconds.data(),
                                       all.packed_bytes.data(),
                                       all.rank.data(),
                                       all.is_proxied.data()};
        const topoloom_rebalance_options costs{options.seconds_per_byte, options.periods, options.tolerance,
                                               1};
        decision.failed =
            topoloom_rebalance(process_map.get(), &objects, policy.c_str(), &costs, new_rank.data(),
                               &decision.result, decision.error, sizeof decision.error);
    }
    PMPI_Bcast(&decision, sizeof decision, MPI_BYTE, 0, state_->comm);
    if (decision.failed != 0) check_on_all_ranks(state_->comm, std::string("rebalance: ") + decision.error);
    PMPI_Bcast(new_rank.data(), static_cast<int>(new_rank.size()), MPI_UINT32_T, 0, state_->comm);
    state_->reset_measurements();
    const std::vector<std::uint64_t> first = state_->list_first_objects();
    for (std::size_t a = 0; a + 1 < first.size(); ++a) {
        for (std::uint64_t i = first[a]; i < first[a + 1]; ++i) {
            if (new_rank[i] == all.rank[i] || all.current_rank[i] != static_cast<std::uint32_t>(rank()))
                continue;
            request_migration(find_resident(static_cast<std::uint32_t>(a), i - first[a]),
                              static_cast<int>(new_rank[i]));
        }
    }
    run();
    record_new_locations(*state_, all, new_rank);
    const topoloom_rebalance_result& result = decision.result;
    return {result.moved,   result.moved_bytes,      result.busiest_before, result.busiest_after,
            result.average, result.hop_bytes_before, result.hop_bytes_after};
}

}  // namespace topoloom::objects
