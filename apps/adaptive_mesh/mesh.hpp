// SPDX-License-Identifier: BSD-3-Clause
// A periodic square of blocks whose cells are refined near a front. A step of a block gives the same result on every
// rank.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

constexpr int sides = 4, levels = 3, coarsest = 4;  // coarsest: cells per axis of an unrefined block

/// The cells of a block, row by row.
struct Block {
    int cells = 0;  // number of cells along each axis of the block
    std::vector<double> values;

    [[nodiscard]] double& at(int x, int y) { return values[static_cast<std::size_t>(x * cells + y)]; }
    [[nodiscard]] double at(int x, int y) const { return values[static_cast<std::size_t>(x * cells + y)]; }

    /// Returns the cells along a side: 0 and 1 are the lower and upper x side, 2 and 3 the lower and upper y side.
    [[nodiscard]] std::vector<double> edge(int side) const {
        std::vector<double> result;
        const int last = side % 2 == 0 ? 0 : cells - 1;
        for (int i = 0; i < cells; ++i) result.push_back(side < 2 ? at(last, i) : at(i, last));
        return result;
    }
};

struct Mesh {
    int blocks = 8, steps = 24;  // blocks: number of blocks along each axis

    [[nodiscard]] int block_count() const { return blocks * blocks; }
    [[nodiscard]] int neighbor(int block, int side) const {
        std::array<int, 2> at{block / blocks, block % blocks};
        int& along = at[static_cast<std::size_t>(side / 2)];
        along = (along + (side % 2 == 0 ? blocks - 1 : 1)) % blocks;
        return at[0] * blocks + at[1];
    }
    /// Distance of a point from the front, a circle that moves once around the center during the run.
    [[nodiscard]] double distance_to_front(double x, double y, int step) const {
        const double turn = 2 * std::numbers::pi * step / steps;
        return std::fabs(std::hypot(x - 0.5 - 0.2 * std::cos(turn), y - 0.5 - 0.2 * std::sin(turn)) - 0.2);
    }
    /// Cells per axis of a block at a step.
    [[nodiscard]] int cells_per_axis(int block, int step) const {
        const double x = (block / blocks + 0.5) / blocks, y = (block % blocks + 0.5) / blocks;
        const double distance = distance_to_front(x, y, step) * blocks;
        return coarsest << (distance < 1 ? levels - 1 : distance < 2 ? 1 : 0);
    }
    /// Refines or coarsens a block: splits each cell into four, or merges four into one.
    [[nodiscard]] static Block resample_block(const Block& old, int cells) {
        if (old.cells == cells) return old;
        Block result{cells, std::vector<double>(static_cast<std::size_t>(cells * cells))};
        const int parts = old.cells > cells ? old.cells / cells : 1;
        for (int x = 0; x < cells; ++x)
            for (int y = 0; y < cells; ++y) {
                double sum = 0;
                for (int i = 0; i < parts; ++i)
                    for (int j = 0; j < parts; ++j)
                        sum += parts > 1 ? old.at(x * parts + i, y * parts + j)
                                         : old.at(x * old.cells / cells, y * old.cells / cells);
                result.at(x, y) = sum / (parts * parts);
            }
        return result;
    }
    /// Replaces each cell by the mean of itself and its neighbors, and heats cells near the front. `edges`: edges of
    /// the neighboring blocks.
    [[nodiscard]] Block relax_block(int block, const Block& old,
                                    const std::array<std::vector<double>, sides>& edges, int step) const {
        Block result = old;
        const int n = old.cells;
        const auto beyond = [&](int side, int i) {
            const std::vector<double>& edge = edges[static_cast<std::size_t>(side)];
            return edge[static_cast<std::size_t>(i) * edge.size() / static_cast<std::size_t>(n)];
        };
        for (int x = 0; x < n; ++x)
            for (int y = 0; y < n; ++y) {
                const double sum = old.at(x, y) + (x > 0 ? old.at(x - 1, y) : beyond(0, y)) +
                                   (x + 1 < n ? old.at(x + 1, y) : beyond(1, y)) +
                                   (y > 0 ? old.at(x, y - 1) : beyond(2, x)) +
                                   (y + 1 < n ? old.at(x, y + 1) : beyond(3, x));
                const double down = (block / blocks + (x + 0.5) / n) / blocks,
                             right = (block % blocks + (y + 0.5) / n) / blocks;
                result.at(x, y) = sum / 5 + (distance_to_front(down, right, step) * blocks < 0.25 ? 1 : 0);
            }
        return result;
    }
    [[nodiscard]] Block initial_block(int block) const {
        const int n = cells_per_axis(block, 0);
        return {n, std::vector<double>(static_cast<std::size_t>(n * n), std::sin(1.0 + block))};
    }
    /// Runs all steps on one rank. Returns all blocks.
    [[nodiscard]] std::vector<Block> run_serially() const {
        std::vector<Block> now;
        for (int b = 0; b < block_count(); ++b) now.push_back(initial_block(b));
        for (int step = 1; step <= steps; ++step) {
            for (int b = 0; b < block_count(); ++b)
                now[static_cast<std::size_t>(b)] =
                    resample_block(now[static_cast<std::size_t>(b)], cells_per_axis(b, step));
            std::vector<Block> next;
            for (int b = 0; b < block_count(); ++b) {
                std::array<std::vector<double>, sides> edges;
                for (int side = 0; side < sides; ++side)
                    edges[static_cast<std::size_t>(side)] =
                        now[static_cast<std::size_t>(neighbor(b, side))].edge(side ^ 1);
                next.push_back(relax_block(b, now[static_cast<std::size_t>(b)], edges, step));
            }
            now = std::move(next);
        }
        return now;
    }
};

/// Checksum of a block. The sum of several blocks' checksums does not depend on their order.
inline std::uint64_t checksum(int index, const Block& block) {
    std::uint64_t sum = static_cast<std::uint64_t>(index + 1) * 0x9e3779b97f4a7c15U;
    for (const double value : block.values) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        sum = (sum ^ bits) * 0x94d049bb133111ebU;
        sum ^= sum >> 31;
    }
    return sum;
}
