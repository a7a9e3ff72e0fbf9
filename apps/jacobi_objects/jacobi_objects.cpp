// SPDX-License-Identifier: BSD-3-Clause
// Jacobi's method on a periodic grid of blocks, each an object. Each step replaces every cell by the mean of itself and
// its 4 (2-D) or 6 (3-D) neighbors. Blocks compute while the edges of other blocks are in flight.
//
//     jacobi_objects DIMENSIONS BLOCKS CELLS STEPS [MAP [POLICY [MACHINE]]]
//
// BLOCKS is the number of blocks per axis, such as 8 or 8x8x16; CELLS is the number of cells per axis of a block. MAP
// is the initial mapping (Bhatele and Kale, PPL 18(4), 2008): blocks (of indices), round-robin, hashed (2-D only),
// random, boxes, or boxes=4x4x8 (on a torus whose first axis varies fastest). After half of the steps, blocks are
// rebalanced by POLICY (if any) on MACHINE; only later steps are timed. All cells are compared with a serial run. Under
// SimGrid, cells are not computed; each costs NS_PER_CELL (an environment variable).
#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <topoloom_objects.hpp>
#include <utility>
#include <vector>

namespace {

using Extents = std::array<int, 3>;

/// Parses a number for each axis, such as 8x8x16. A single number applies to all axes.
Extents parse_extents(const std::string& text) {
    Extents read{};
    if (std::sscanf(text.c_str(), "%dx%dx%d", &read[0], &read[1], &read[2]) == 1) read.fill(read[0]);
    return read;
}

/// Cells of a box, with a layer of ghost cells; the last axis is contiguous. In two dimensions, axis 2 has one cell.
class Grid {
   public:
    Grid() = default;
    Grid(int dimensions, const Extents& cells) : dimensions_(dimensions), cells_(cells) {
        if (dimensions == 2) cells_[2] = 1;
        const std::size_t depth = dimensions == 3 ? static_cast<std::size_t>(cells[2]) + 2 : 1;
        values_.assign(static_cast<std::size_t>((cells[0] + 2) * (cells[1] + 2)) * depth, 0.0);
        old_ = values_;
    }
    [[nodiscard]] int side_count() const { return 2 * dimensions_; }
    [[nodiscard]] int cell_count() const { return cells_[0] * cells_[1] * cells_[2]; }
    /// Interior cells start at index 0; ghost cells have index -1.
    [[nodiscard]] double& at(int x, int y, int z) { return values_[get_offset(x, y, z)]; }

    template <typename Visit>
    void for_each_cell(const Visit& visit) {
        for_each_in_box({0, 0, 0}, cells_, visit);
    }
    /// Visits the cells, or the ghost cells, at side 2 * axis (below) or 2 * axis + 1 (above).
    template <typename Visit>
    void for_each_in_layer(int side, bool is_ghost, const Visit& visit) {
        const auto axis = static_cast<std::size_t>(side / 2);
        const int inside = side % 2 == 0 ? 0 : cells_[axis] - 1;
        Extents first{}, last = cells_;
        first[axis] = is_ghost ? (side % 2 == 0 ? -1 : cells_[axis]) : inside;
        last[axis] = first[axis] + 1;
        for_each_in_box(first, last, [&](int x, int y, int z) { visit(at(x, y, z)); });
    }
    void advance() {
        old_ = values_;
        const std::size_t next_x = get_offset(1, 0, 0) - get_offset(0, 0, 0),
                          next_y = get_offset(0, 1, 0) - get_offset(0, 0, 0);
        for_each_cell([&](int x, int y, int z) {
            const double* const here = &old_[get_offset(x, y, z)];
            double sum = *here + *(here - next_x) + *(here + next_x) + *(here - next_y) + *(here + next_y);
            if (dimensions_ == 3) sum += *(here - 1) + *(here + 1);
            at(x, y, z) = sum / (side_count() + 1);
        });
    }
    void serialize(auto& archive) { archive(dimensions_, cells_, values_, old_); }

   private:
    template <typename Visit>
    static void for_each_in_box(const Extents& first, const Extents& last, const Visit& visit) {
        for (int x = first[0]; x < last[0]; ++x)
            for (int y = first[1]; y < last[1]; ++y)
                for (int z = first[2]; z < last[2]; ++z) visit(x, y, z);
    }
    [[nodiscard]] std::size_t get_offset(int x, int y, int z) const {
        const int row = (x + 1) * (cells_[1] + 2) + y + 1;
        return static_cast<std::size_t>(dimensions_ == 2 ? row : row * (cells_[2] + 2) + z + 1);
    }
    int dimensions_ = 2;
    Extents cells_{};
    std::vector<double> values_, old_;
};

/// Initial value of a cell of the global grid.
double initial_value(int x, int y, int z) { return std::sin(0.7 * x) + std::cos(1.3 * y) + 0.1 * z; }

struct Settings {
    int dimensions = 2;
    Extents blocks{};
    int cells = 16;
    double seconds_per_cell = 0;  // simulated
};

struct Block : topoloom::Object<Block> {
    Block() = default;
    Block(const Settings& given, topoloom::Index at)
        : settings(given), grid(given.dimensions, {given.cells, given.cells, given.cells}) {
        const int n = given.cells;
        const auto x0 = static_cast<int>(at.x) * n, y0 = static_cast<int>(at.y) * n,
                   z0 = static_cast<int>(at.z) * n;
        grid.for_each_cell(
            [&](int x, int y, int z) { grid.at(x, y, z) = initial_value(x0 + x, y0 + y, z0 + z); });
    }

    void start_steps(int steps) {
        last += steps;
        send_edges();
        advance_if_ready();
    }
    /// Receives ghost cells for a side, for the current step or, from a neighbor that is ahead, for the next.
    void receive_edge(int side, int edge_step, std::vector<double> edge) {
        (edge_step == step ? now : next).emplace_back(side, std::move(edge));
        advance_if_ready();
    }
    void serialize(auto& archive) { archive(settings, grid, step, last, now, next); }
    using methods = topoloom::Methods<&Block::start_steps, &Block::receive_edge>;

    Settings settings;
    Grid grid;
    int step = 0, last = 0;

   private:
    void send_edges() {
        if (step == last) return;
        for (int side = 0; side < grid.side_count(); ++side) {
            std::vector<double> edge;
            grid.for_each_in_layer(side, false, [&](const double& value) { edge.push_back(value); });
            std::array<std::int64_t, 3> to{index().x, index().y, index().z};
            const auto axis = static_cast<std::size_t>(side / 2);
            to[axis] = (to[axis] + (side % 2 == 0 ? settings.blocks[axis] - 1 : 1)) % settings.blocks[axis];
            array()[{to[0], to[1], to[2]}].send<&Block::receive_edge>(side ^ 1, step, edge);
        }
    }
    void advance_if_ready() {
        while (step < last && static_cast<int>(now.size()) == grid.side_count()) {
            for (const auto& [side, edge] : now) {
                const double* from = edge.data();
                grid.for_each_in_layer(side, true, [&](double& value) { value = *from++; });
            }
#ifdef SMPI_H
            smpi_execute(settings.seconds_per_cell * grid.cell_count());
#else
            grid.advance();
#endif
            now = std::exchange(next, {});
            ++step;
            send_edges();
        }
    }
    std::vector<std::pair<int, std::vector<double>>> now, next;
};

/// Returns a random permutation, the same on all ranks.
std::vector<std::int64_t> make_random_order(std::int64_t count) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::uint64_t drawn = 1;
    for (std::size_t left = order.size(); left > 1; --left) {
        drawn = drawn * 6364136223846793005ULL + 1442695040888963407ULL;
        std::swap(order[left - 1], order[(drawn >> 33) % left]);
    }
    return order;
}

/// Initial rank of a block.
int get_home_rank(const std::string& map, const Settings& s, int ranks, const topoloom::Index& at) {
    const std::int64_t count = std::int64_t{1} * s.blocks[0] * s.blocks[1] * s.blocks[2];
    const std::int64_t number = (at.x * s.blocks[1] + at.y) * s.blocks[2] + at.z;
    if (map == "round-robin") return static_cast<int>(number % ranks);
    if (map == "hashed") {  // the hash function of Charm++'s round-robin map for grids
        const auto x = static_cast<std::uint32_t>(at.x), y = static_cast<std::uint32_t>(at.y);
        const std::uint32_t mixed = x + std::rotl(y, 21) + std::rotl(y, 16) + 739U;
        return static_cast<int>(mixed % 1280107U % static_cast<std::uint32_t>(ranks));
    }
    if (map == "random") {
        static const std::vector<std::int64_t> order = make_random_order(count);
        return static_cast<int>(order[static_cast<std::size_t>(number)] * ranks / count);
    }
    if (map == "blocks") return static_cast<int>(number * ranks / count);
    Extents torus = map == "boxes" ? Extents{} : parse_extents(map.substr(std::strlen("boxes=")));
    if (map == "boxes") MPI_Dims_create(ranks, s.dimensions, torus.data());
    // A two-dimensional grid is mapped to the planes of the torus one after another.
    if (s.dimensions == 2) torus = {torus[0], torus[1] * std::max(torus[2], 1), 1};
    const std::int64_t x = at.x * torus[0] / s.blocks[0], y = at.y * torus[1] / s.blocks[1];
    return static_cast<int>(x + torus[0] * (y + torus[1] * (at.z * torus[2] / s.blocks[2])));
}

/// Whether all local blocks are bitwise equal to those of a serial run.
bool is_equal_to_serial_run(const topoloom::Objects<Block>& blocks, const Settings& s, int steps) {
    const int n = s.cells;
    Grid whole(s.dimensions, {s.blocks[0] * n, s.blocks[1] * n, s.blocks[2] * n});
    whole.for_each_cell([&](int x, int y, int z) { whole.at(x, y, z) = initial_value(x, y, z); });
    for (int step = 0; step < steps; ++step) {
        for (int side = 0; side < whole.side_count(); ++side) {
            std::vector<double> edge;
            whole.for_each_in_layer(side ^ 1, false, [&](const double& value) { edge.push_back(value); });
            const double* from = edge.data();
            whole.for_each_in_layer(side, true, [&](double& value) { value = *from++; });
        }
        whole.advance();
    }
    bool is_equal = true;
    blocks.for_each_local([&](Block& block) {
        const topoloom::Index at = block.index();
        const auto x0 = static_cast<int>(at.x) * n, y0 = static_cast<int>(at.y) * n,
                   z0 = static_cast<int>(at.z) * n;
        block.grid.for_each_cell([&](int x, int y, int z) {
            is_equal &= block.grid.at(x, y, z) == whole.at(x0 + x, y0 + y, z0 + z);
        });
    });
    return is_equal;
}

/// Whether a mapping is valid for this number of ranks and dimensions.
bool is_valid_map(const std::string& map, const Settings& s, int ranks) {
    if (map.starts_with("boxes=")) {
        const Extents torus = parse_extents(map.substr(std::strlen("boxes=")));
        return std::ranges::min(torus) > 0 && 1.0 * torus[0] * torus[1] * torus[2] == ranks;
    }
    const std::array<std::string, 5> maps{"blocks", "round-robin", "hashed", "random", "boxes"};
    return std::ranges::find(maps, map) != maps.end() && (map != "hashed" || s.dimensions == 2);
}

struct Options {
    Settings settings;
    int steps;
    std::string map, policy, machine;
};

Options read_options(int argc, char** argv) {
    const auto number = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
    const auto text = [&](int i, const char* fallback) { return argc > i ? argv[i] : fallback; };
    Options read{{number(1, 2), parse_extents(text(2, "8")), number(3, 16), 0},
                 number(4, 20),
                 text(5, "blocks"),
                 text(6, "none"),
                 text(7, "")};
    if (read.settings.dimensions == 2) read.settings.blocks[2] = 1;
    if (const char* const ns_per_cell = std::getenv("NS_PER_CELL"))
        read.settings.seconds_per_cell = 1e-9 * std::atof(ns_per_cell);
    return read;
}

bool is_valid_options(const Options& options, int ranks) {
    const Settings& s = options.settings;
    return s.dimensions >= 2 && s.dimensions <= 3 && std::ranges::min(s.blocks) >= 1 && s.cells >= 1 &&
           options.steps >= (options.policy == "none" ? 1 : 2) && is_valid_map(options.map, s, ranks);
}

struct Outcome {
    double seconds_per_step = 0;
    topoloom::RebalanceResult moved;
    int is_right = 1;  // not checked under SimGrid
};

Outcome run_steps(const Options& options, int ranks) {
    const auto& [settings, steps, map, policy, machine] = options;
    // An edge must fit into a message: longer records need a rendezvous, which costs another round trip.
    const std::int64_t edge = 8LL * settings.cells * (settings.dimensions == 3 ? settings.cells : 1);
    const auto message_bytes = static_cast<int>(std::clamp<std::int64_t>(edge + 1024, 16384, 1 << 24));
    topoloom::Scheduler scheduler(MPI_COMM_WORLD, {.message_bytes = message_bytes});
    topoloom::ObjectsOptions array_options;
    array_options.home = [&](const topoloom::Index& at) {
        return get_home_rank(options.map, options.settings, ranks, at);
    };
    topoloom::Objects<Block> blocks(
        scheduler, {settings.blocks[0], settings.blocks[1], settings.blocks[2]},
        [&](topoloom::Index at) { return Block(options.settings, at); }, array_options);
    const auto run = [&](int more) {
        blocks.for_each_local([&](Block& block) { blocks[block.index()].send<&Block::start_steps>(more); });
        scheduler.run();
    };
    Outcome outcome;
    const int first = policy == "none" ? 0 : steps / 2;
    if (first > 0) {
        run(first);
        // A large number of periods makes migrations pay off.
        outcome.moved = scheduler.rebalance(policy, {.machine = machine, .periods = 100});
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    run(steps - first);
    outcome.seconds_per_step = (MPI_Wtime() - start) / (steps - first);
#ifndef SMPI_H
    outcome.is_right = is_equal_to_serial_run(blocks, settings, steps) ? 1 : 0;
#endif
    return outcome;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const Options options = read_options(argc, argv);
    if (!is_valid_options(options, ranks)) {
        if (rank == 0)
            std::fprintf(
                stderr,
                "jacobi_objects: DIMENSIONS is 2 or 3, BLOCKS are numbers from 1 on such as 8 or 8x8x16, "
                "CELLS and STEPS numbers from 1 on (2 with a POLICY), MAP is blocks, round-robin, hashed "
                "(in two dimensions), random, boxes, or boxes=4x4x8, a torus of all ranks\n");
        MPI_Finalize();
        return 2;
    }
#ifdef SMPI_H
    const char* const right = "simulated";
#else
    const char* const right = "right";
#endif
    auto [seconds, moved, is_right] = run_steps(options, ranks);
    double slowest = 0;
    MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%s: %.4f ms per step, %lld blocks moved, hop-bytes %.6g to %.6g\ntime: %.4g s\n",
                    is_right ? right : "WRONG", 1e3 * slowest, static_cast<long long>(moved.moved),
                    moved.hop_bytes_before, moved.hop_bytes_after, slowest);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
