// SPDX-License-Identifier: BSD-3-Clause
// Jacobi's method on a periodic grid that is cut into blocks, each an object: in every step a cell becomes the mean of
// itself and its neighbors, 4 in two dimensions and 6 in three. While the edges of one block travel, another computes.
//
//     jacobi_objects DIMENSIONS BLOCKS CELLS STEPS [MAP [POLICY]]
//
// BLOCKS along each axis of the grid, CELLS along each axis of a block. MAP says where blocks begin: blocks (of indices),
// round-robin, random, or boxes. Halfway they are rebalanced by POLICY, if any. It compares all cells with a serial run.
// In SimGrid's MPI, NS_PER_CELL in the environment is what a cell takes to compute, and nothing is compared.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <topoloom_objects.hpp>
#include <utility>
#include <vector>

namespace {

/// Cells of a box with a layer of neighbors around it, the last axis fastest; axis 2 has one cell in two dimensions.
class Grid {
   public:
    Grid() = default;
    Grid(int dimensions, int cells) : dimensions_(dimensions), cells_(cells) {
        const int outer = cells + 2;
        values_.assign(static_cast<std::size_t>(outer * outer) * (dimensions == 3 ? outer : 1), 0.0);
        old_ = values_;
    }
    [[nodiscard]] int cells() const { return cells_; }
    [[nodiscard]] int depth() const { return dimensions_ == 3 ? cells_ : 1; }
    [[nodiscard]] int sides() const { return 2 * dimensions_; }
    /// Cells begin at 0, and neighbors at -1.
    [[nodiscard]] double& at(int x, int y, int z) { return values_[place(x, y, z)]; }

    /// The cells of a layer: the one next to side 2 * axis (below) or 2 * axis + 1, or the neighbors there.
    template <typename Visit>
    void each_of_layer(int side, bool of_neighbors, const Visit& visit) {
        const int axis = side / 2, inside = side % 2 == 0 ? 0 : cells_ - 1;
        const int layer = of_neighbors ? (side % 2 == 0 ? -1 : cells_) : inside;
        for (int a = 0; a < cells_; ++a) {
            for (int b = 0; b < depth(); ++b) {
                if (axis == 0) visit(at(layer, a, b));
                if (axis == 1) visit(at(a, layer, b));
                if (axis == 2) visit(at(a, b, layer));
            }
        }
    }
    void step() {
        old_ = values_;
        const std::size_t next_x = place(1, 0, 0) - place(0, 0, 0), next_y = place(0, 1, 0) - place(0, 0, 0);
        for (int x = 0; x < cells_; ++x) {
            for (int y = 0; y < cells_; ++y) {
                for (int z = 0; z < depth(); ++z) {
                    const double* const here = &old_[place(x, y, z)];
                    double sum =
                        *here + *(here - next_x) + *(here + next_x) + *(here - next_y) + *(here + next_y);
                    if (dimensions_ == 3) sum += *(here - 1) + *(here + 1);
                    at(x, y, z) = sum / (sides() + 1);
                }
            }
        }
    }
    void serialize(auto& archive) { archive(dimensions_, cells_, values_, old_); }

   private:
    [[nodiscard]] std::size_t place(int x, int y, int z) const {
        const int outer = cells_ + 2;
        if (dimensions_ == 2) return static_cast<std::size_t>((x + 1) * outer + y + 1);
        return static_cast<std::size_t>(((x + 1) * outer + y + 1) * outer + z + 1);
    }
    int dimensions_ = 2, cells_ = 0;
    std::vector<double> values_, old_;
};

/// What is in a cell of the whole grid before the first step.
double begin(int x, int y, int z) { return std::sin(0.7 * x) + std::cos(1.3 * y) + 0.1 * z; }

struct Setting {
    int dimensions = 2, blocks = 4, cells = 16;
    double seconds_per_cell = 0;  // simulated
};

struct Block : topoloom::Object<Block> {
    Block() = default;
    Block(const Setting& given, topoloom::Index at) : setting(given), grid(given.dimensions, given.cells) {
        const int n = given.cells;
        for (int x = 0; x < n; ++x)
            for (int y = 0; y < n; ++y)
                for (int z = 0; z < grid.depth(); ++z)
                    grid.at(x, y, z) = begin(static_cast<int>(at.x) * n + x, static_cast<int>(at.y) * n + y,
                                             static_cast<int>(at.z) * n + z);
    }

    void start(int steps) {
        last += steps;
        send_edges();
        compute();
    }
    /// The layer beyond a side, of this step or, from a neighbor that is ahead, of the next.
    void take(int side, int of_step, std::vector<double> edge) {
        (of_step == step ? now : next).emplace_back(side, std::move(edge));
        compute();
    }
    void serialize(auto& archive) { archive(setting, grid, step, last, now, next); }
    using methods = topoloom::Methods<&Block::start, &Block::take>;

    Setting setting;
    Grid grid;
    int step = 0, last = 0;

   private:
    void send_edges() {
        if (step == last) return;
        for (int side = 0; side < grid.sides(); ++side) {
            std::vector<double> edge;
            grid.each_of_layer(side, false, [&](const double& value) { edge.push_back(value); });
            std::array<std::int64_t, 3> to{index().x, index().y, index().z};
            std::int64_t& along = to[static_cast<std::size_t>(side / 2)];
            along = (along + (side % 2 == 0 ? setting.blocks - 1 : 1)) % setting.blocks;
            array()[{to[0], to[1], to[2]}].send<&Block::take>(side ^ 1, step, edge);
        }
    }
    void compute() {
        while (step < last && static_cast<int>(now.size()) == grid.sides()) {
            for (const auto& [side, edge] : now) {
                const double* from = edge.data();
                grid.each_of_layer(side, true, [&](double& value) { value = *from++; });
            }
#ifdef SMPI_H
            const int n = grid.cells();
            smpi_execute(setting.seconds_per_cell * n * n * grid.depth());
#else
            grid.step();
#endif
            now = std::exchange(next, {});
            ++step;
            send_edges();
        }
    }
    std::vector<std::pair<int, std::vector<double>>> now, next;
};

/// The same on all ranks.
std::vector<std::int64_t> shuffled(std::int64_t count) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::uint64_t drawn = 1;
    for (std::size_t left = order.size(); left > 1; --left) {
        drawn = drawn * 6364136223846793005ULL + 1442695040888963407ULL;
        std::swap(order[left - 1], order[(drawn >> 33) % left]);
    }
    return order;
}

/// The rank that a block begins on.
int home(const std::string& map, const Setting& s, int ranks, const topoloom::Index& at) {
    const std::int64_t b = s.blocks, count = s.dimensions == 3 ? b * b * b : b * b;
    const std::int64_t flat = s.dimensions == 3 ? (at.x * b + at.y) * b + at.z : at.x * b + at.y;
    if (map == "round-robin") return static_cast<int>(flat % ranks);
    if (map == "boxes") {
        std::array<int, 3> dims{0, 0, s.dimensions == 3 ? 0 : 1};
        MPI_Dims_create(ranks, 3, dims.data());
        const std::int64_t x = at.x * dims[0] / b, y = at.y * dims[1] / b, z = at.z * dims[2] / b;
        return static_cast<int>((x * dims[1] + y) * dims[2] + z);
    }
    if (map == "random") {
        static const std::vector<std::int64_t> order = shuffled(count);
        return static_cast<int>(order[static_cast<std::size_t>(flat)] * ranks / count);
    }
    return static_cast<int>(flat * ranks / count);
}

/// Whether all blocks of this rank are what a serial run makes of the grid, bit by bit.
bool is_as_serial(const topoloom::Objects<Block>& blocks, const Setting& s, int steps) {
    const int all = s.blocks * s.cells;
    Grid whole(s.dimensions, all);
    for (int x = 0; x < all; ++x)
        for (int y = 0; y < all; ++y)
            for (int z = 0; z < whole.depth(); ++z) whole.at(x, y, z) = begin(x, y, z);
    for (int step = 0; step < steps; ++step) {
        for (int side = 0; side < whole.sides(); ++side) {
            std::vector<double> edge;
            whole.each_of_layer(side ^ 1, false, [&](const double& value) { edge.push_back(value); });
            const double* from = edge.data();
            whole.each_of_layer(side, true, [&](double& value) { value = *from++; });
        }
        whole.step();
    }
    bool is_equal = true;
    blocks.each([&](Block& block) {
        const topoloom::Index at = block.index();
        const int n = s.cells;
        for (int x = 0; x < n; ++x)
            for (int y = 0; y < n; ++y)
                for (int z = 0; z < block.grid.depth(); ++z)
                    is_equal &= block.grid.at(x, y, z) == whole.at(static_cast<int>(at.x) * n + x,
                                                                   static_cast<int>(at.y) * n + y,
                                                                   static_cast<int>(at.z) * n + z);
    });
    return is_equal;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto number = [&](int i, int standard) { return argc > i ? std::atoi(argv[i]) : standard; };
    Setting setting{number(1, 2), number(2, 8), number(3, 16), 0};
    const int steps = number(4, 20);
    const std::string map = argc > 5 ? argv[5] : "blocks", policy = argc > 6 ? argv[6] : "none";
    if (const char* const given = std::getenv("NS_PER_CELL"))
        setting.seconds_per_cell = 1e-9 * std::atof(given);
    const std::array<std::string, 4> maps{"blocks", "round-robin", "random", "boxes"};
    if (setting.dimensions < 2 || setting.dimensions > 3 || setting.blocks < 1 || setting.cells < 1 ||
        steps < 1 || std::ranges::find(maps, map) == maps.end()) {
        if (rank == 0)
            std::fprintf(
                stderr,
                "jacobi_objects: DIMENSIONS is 2 or 3, BLOCKS, CELLS and STEPS are numbers from 1 on, MAP "
                "is blocks, round-robin, random or boxes\n");
        MPI_Finalize();
        return 2;
    }
#ifdef SMPI_H
    const char* const right = "simulated";
#else
    const char* const right = "right";
#endif
    int is_right = 1;
    double seconds = 0;
    topoloom::Rebalanced moved;
    {
        // Room for an edge: what is longer than a message is announced, and waits for an answer.
        const std::int64_t edge = 8LL * setting.cells * (setting.dimensions == 3 ? setting.cells : 1);
        const auto room = static_cast<int>(std::clamp<std::int64_t>(edge + 1024, 16384, 1 << 24));
        topoloom::Scheduler scheduler(MPI_COMM_WORLD, {.message_bytes = room});
        topoloom::ObjectsOptions options;
        options.home = [&](const topoloom::Index& at) { return home(map, setting, ranks, at); };
        topoloom::Objects<Block> blocks(
            scheduler, {setting.blocks, setting.blocks, setting.dimensions == 3 ? setting.blocks : 1},
            [&](topoloom::Index at) { return Block(setting, at); }, options);
        const auto run = [&](int more) {
            if (more == 0) return;
            blocks.each([&](Block& block) { blocks[block.index()].send<&Block::start>(more); });
            scheduler.run();
        };
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (policy != "none") {
            run(steps / 2);
            moved = scheduler.rebalance(policy);
        }
        run(policy != "none" ? steps - steps / 2 : steps);
        seconds = (MPI_Wtime() - start) / steps;
#ifndef SMPI_H
        is_right = is_as_serial(blocks, setting, steps) ? 1 : 0;
#endif
    }
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%s: %.4f ms per step, %lld blocks moved\n", is_right ? right : "WRONG", 1e3 * seconds,
                    static_cast<long long>(moved.moved));
    MPI_Finalize();
    return is_right ? 0 : 1;
}
