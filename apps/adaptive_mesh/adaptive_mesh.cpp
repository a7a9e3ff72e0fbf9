// SPDX-License-Identifier: BSD-3-Clause
// A mesh that is refined near a moving front. Each step refines or coarsens blocks, redistributes them to
// balance the number of cells per rank, and relaxes them, using the edges of their neighbors.
//
//     adaptive_mesh [BLOCKS] [STEPS] [POLICY]
//
// BLOCKS is the number of blocks per axis. POLICY is repartition (keeps neighbors together), another policy of
// topoloom_rebalance, or none. All cells are compared with a serial run; they are bitwise equal for any number of ranks
// and any policy.
#include <mpi.h>

#include <topoloom_balance.h>
#include <topoloom_rebalance.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "mesh.hpp"

namespace {

constexpr double periods = 5;  // number of steps between two rebalances, for the policy's cost estimate
constexpr double tolerance = 0.05;

class Run {
   public:
    Run(const Mesh& mesh, std::string policy, int own, int ranks)
        : mesh_(mesh), policy_(std::move(policy)), own_(own), ranks_(ranks) {
        for (int b = 0; b < mesh_.block_count(); ++b) {
            owners_.push_back(static_cast<std::uint32_t>(b * ranks / mesh_.block_count()));
            if (is_own(b)) blocks_[b] = mesh_.initial_block(b);
        }
    }

    /// Advances the mesh by one step. Prints an error and returns false if the policy fails.
    [[nodiscard]] bool advance(int step) {
        std::vector<std::uint32_t> owners = owners_;
        if (!choose_owners(step, owners)) return false;
        for (auto& [b, block] : blocks_) block = Mesh::resample_block(block, mesh_.cells_per_axis(b, step));
        redistribute(owners, step);
        relax_blocks(step);
        std::vector<std::int64_t> loads(static_cast<std::size_t>(ranks_));
        for (int b = 0; b < mesh_.block_count(); ++b) {
            const std::uint32_t owner = owners_[static_cast<std::size_t>(b)];
            loads[owner] += cell_count(b, step);
            for (int side = 0; side < sides; ++side)
                if (owners_[static_cast<std::size_t>(mesh_.neighbor(b, side))] != owner)
                    edge_bytes_ += std::int64_t{8} * mesh_.cells_per_axis(b, step);
        }
        busiest_ += static_cast<double>(*std::ranges::max_element(loads)) * ranks_ /
                    static_cast<double>(std::reduce(loads.begin(), loads.end()));
        return true;
    }

    /// Prints the result, and returns whether all cells equal those of a serial run. `seconds` is the time of all steps
    /// on this rank.
    [[nodiscard]] bool print_result(double seconds) const {
        double slowest = 0;
        MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        const std::vector<Block> serial = mesh_.run_serially();
        struct {
            std::uint64_t bits = 0, blocks = 0, wrong = 0;
        } own, all;
        for (const auto& [b, block] : blocks_) {
            own.bits += checksum(b, block);
            own.wrong += block.values != serial[static_cast<std::size_t>(b)].values;
            ++own.blocks;
        }
        MPI_Allreduce(&own, &all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        const bool is_right = all.wrong == 0 && all.blocks == static_cast<std::uint64_t>(mesh_.block_count());
        if (own_ == 0) {
            std::printf("%s: %d steps, bits of all cells %016llx\n", is_right ? "right" : "WRONG",
                        mesh_.steps, static_cast<unsigned long long>(all.bits));
            std::printf("the busiest rank has %.3f of the mean; %lld bytes moved, edges %lld bytes\n",
                        busiest_ / mesh_.steps, static_cast<long long>(moved_bytes_),
                        static_cast<long long>(edge_bytes_));
            std::printf("time: %.4g s\n", slowest / mesh_.steps);
        }
        return is_right;
    }

   private:
    [[nodiscard]] bool is_own(int b) const {
        return owners_[static_cast<std::size_t>(b)] == static_cast<std::uint32_t>(own_);
    }
    [[nodiscard]] std::int64_t cell_count(int b, int step) const {
        return static_cast<std::int64_t>(mesh_.cells_per_axis(b, step)) * mesh_.cells_per_axis(b, step);
    }
    /// Bytes of a packed block: its index and its cells.
    [[nodiscard]] long long packed_bytes(int b, int step) const { return 8 + 8 * cell_count(b, step); }

    /// Computes new owners of all blocks on rank 0, and broadcasts them.
    [[nodiscard]] bool choose_owners(int step, std::vector<std::uint32_t>& owners) const {
        int refused = 0;
        if (own_ == 0) {
            std::vector<std::uint64_t> first{0};
            std::vector<std::uint32_t> peers;
            std::vector<std::int64_t> edges, moved;
            std::vector<double> loads;
            for (int b = 0; b < mesh_.block_count(); ++b) {
                for (int side = 0; side < sides; ++side) {
                    peers.push_back(static_cast<std::uint32_t>(mesh_.neighbor(b, side)));
                    edges.push_back(std::int64_t{8} * mesh_.cells_per_axis(b, step));
                }
                first.push_back(peers.size());
                loads.push_back(static_cast<double>(cell_count(b, step)));
                moved.push_back(packed_bytes(b, step));
            }
            const topoloom_objects objects{{loads.size(), first.data(), peers.data(), edges.data()},
                                           loads.data(),
                                           moved.data(),
                                           owners_.data(),
                                           nullptr};
            const topoloom_rebalance_options costs{0, periods, tolerance, 1};
            topoloom_rebalance_result result{};
            std::vector<std::int64_t> nodes(static_cast<std::size_t>(ranks_));
            std::iota(nodes.begin(), nodes.end(), 0);
            const std::string machine = "tree:" + std::to_string(ranks_);
            topoloom_process_map* process_map = nullptr;
            char error[256] = "";
            refused = topoloom_process_map_on_machine(machine.c_str(), nodes.size(), 1, nodes.data(),
                                                      &process_map, error, sizeof error);
            if (refused == 0)
                refused = topoloom_rebalance(process_map, &objects, policy_.c_str(), &costs, owners.data(),
                                             &result, error, sizeof error);
            topoloom_process_map_free(process_map);
            if (refused != 0) std::fprintf(stderr, "adaptive_mesh: %s\n", error);
        }
        MPI_Bcast(&refused, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Bcast(owners.data(), mesh_.block_count(), MPI_UINT32_T, 0, MPI_COMM_WORLD);
        return refused == 0;
    }

    /// Sends blocks to their new owners. In the packed array, blocks to send follow the blocks that stay, sorted by
    /// receiver.
    void redistribute(const std::vector<std::uint32_t>& owners, int step) {
        std::vector<std::pair<int, int>> order;  // sort key: receiver (-1: this rank), then block index
        std::map<int, long long> leaving;
        long long capacity = 0, byte_capacity = 0;
        for (int b = 0; b < mesh_.block_count(); ++b) {
            const int to = static_cast<int>(owners[static_cast<std::size_t>(b)]);
            if (is_own(b)) order.emplace_back(to == own_ ? -1 : to, b);
            if (is_own(b) && to != own_) ++leaving[to];
            if (!is_own(b) && to != own_) continue;
            ++capacity;
            byte_capacity += packed_bytes(b, step);
        }
        std::ranges::sort(order);
        std::vector<char> tasks(static_cast<std::size_t>(byte_capacity) + 1);
        std::vector<long long> sizes(static_cast<std::size_t>(capacity) + 1), counts;
        std::vector<int> to;
        char* at = tasks.data();
        for (std::size_t i = 0; i < order.size(); ++i) {
            const int b = order[i].second;
            const Block block = std::move(blocks_.extract(b).mapped());
            sizes[i] = packed_bytes(b, step);
            const std::int64_t index = b;
            std::memcpy(at, &index, 8);
            std::memcpy(at + 8, block.values.data(), 8 * block.values.size());
            at += sizes[i];
        }
        for (const auto& [rank, count] : leaving) {
            to.push_back(rank);
            counts.push_back(count);
        }
        topoloom_plan* plan = nullptr;
        topoloom_plan_create(MPI_COMM_WORLD, static_cast<long long>(order.size()),
                             static_cast<int>(to.size()), to.data(), counts.data(), nullptr, &plan);
        long long task_count = 0;
        topoloom_exchange_sized(plan, tasks.data(), byte_capacity, sizes.data(), capacity, &task_count);
        topoloom_plan_free(&plan);
        for (std::size_t b = 0; b < owners.size(); ++b) {
            if (owners[b] != owners_[b]) moved_bytes_ += packed_bytes(static_cast<int>(b), step);
        }
        owners_ = owners;
        unpack_blocks(tasks.data(), task_count, step);
    }

    void unpack_blocks(const char* at, long long task_count, int step) {
        for (long long i = 0; i < task_count; ++i) {
            std::int64_t index = 0;
            std::memcpy(&index, at, 8);
            const int b = static_cast<int>(index);
            Block block{mesh_.cells_per_axis(b, step),
                        std::vector<double>(static_cast<std::size_t>(cell_count(b, step)))};
            std::memcpy(block.values.data(), at + 8, 8 * block.values.size());
            at += packed_bytes(b, step);
            blocks_[b] = std::move(block);
        }
    }

    void relax_blocks(int step) {
        std::map<int, std::array<std::vector<double>, sides>> received, sent;
        std::vector<MPI_Request> requests;
        for (const auto& [b, block] : blocks_)
            for (int side = 0; side < sides; ++side) {
                const int other = mesh_.neighbor(b, side), back = side ^ 1;
                const auto s = static_cast<std::size_t>(side);
                if (is_own(other)) {
                    received[b][s] = blocks_[other].edge(back);
                    continue;
                }
                const int rank = static_cast<int>(owners_[static_cast<std::size_t>(other)]);
                sent[b][s] = block.edge(side);
                received[b][s].resize(static_cast<std::size_t>(mesh_.cells_per_axis(other, step)));
                MPI_Irecv(received[b][s].data(), static_cast<int>(received[b][s].size()), MPI_DOUBLE, rank,
                          sides * other + back, MPI_COMM_WORLD, &requests.emplace_back());
                MPI_Isend(sent[b][s].data(), block.cells, MPI_DOUBLE, rank, sides * b + side, MPI_COMM_WORLD,
                          &requests.emplace_back());
            }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        for (auto& [b, block] : blocks_) block = mesh_.relax_block(b, block, received[b], step);
    }

    Mesh mesh_;
    std::string policy_;
    int own_, ranks_;
    std::vector<std::uint32_t> owners_;
    std::map<int, Block> blocks_;
    double busiest_ = 0;
    std::int64_t moved_bytes_ = 0, edge_bytes_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int own = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Mesh mesh;
    if (argc > 1) mesh.blocks = std::atoi(argv[1]);
    if (argc > 2) mesh.steps = std::atoi(argv[2]);
    if (mesh.blocks < 2 || mesh.blocks > 64 || mesh.steps < 1) {
        if (own == 0) std::fprintf(stderr, "adaptive_mesh: BLOCKS from 2 to 64, STEPS from 1 on, POLICY\n");
        MPI_Finalize();
        return 2;
    }
    Run run(mesh, argc > 3 ? argv[3] : "repartition", own, ranks);
    int steps = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    while (steps < mesh.steps && run.advance(steps + 1)) ++steps;
    const double seconds = MPI_Wtime() - begin;
    const bool is_complete = steps == mesh.steps, is_right = is_complete && run.print_result(seconds);
    MPI_Finalize();
    return is_right ? 0 : is_complete ? 1 : 2;
}
