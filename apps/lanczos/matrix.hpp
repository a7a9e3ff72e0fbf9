// SPDX-License-Identifier: BSD-3-Clause
// Symmetric sparse matrices: read from a file, or random and the same for any number of ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace lanczos {

/// Returns 64 random bits of a key (splitmix64).
inline std::uint64_t hash(std::uint64_t seed, std::uint64_t key) {
    std::uint64_t bits = seed * 0xd1342543de82ef95ULL + key + 1;
    bits *= 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    return bits ^ (bits >> 31);
}

/// Returns a number from 0 to 1.
inline double uniform(std::uint64_t seed, std::uint64_t key) {
    return static_cast<double>(hash(seed, key) >> 11) * 0x1p-53;
}

struct Entry {
    int row, column;
    double value;
};

class SymmetricMatrix {
   public:
    SymmetricMatrix() = default;
    SymmetricMatrix(int rows, int nonzeros, int seed) : rows_(rows), nonzeros_(nonzeros), seed_(seed) {}
    SymmetricMatrix(int rows, std::vector<Entry> entries) : rows_(rows), entries_(std::move(entries)) {}

    [[nodiscard]] int rows() const { return rows_; }
    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

    /// Visits one of the two triangles, with the diagonal. Values of the same entry add up.
    template <class Visit>
    void for_each_entry(const Visit& visit) const {
        for (const auto& [row, column, value] : entries_) visit(row, column, value);
        if (nonzeros_ == 0) return;
        const auto rows = static_cast<std::uint64_t>(rows_),
                   draws = static_cast<std::uint64_t>(nonzeros_ - 1);
        for (std::uint64_t row = 0; row < rows; ++row) {
            visit(static_cast<int>(row), static_cast<int>(row), uniform(seed_, row));
            for (std::uint64_t key = row * draws / 2; key < (row + 1) * draws / 2; ++key) {
                const std::uint64_t column = hash(seed_, rows + 2 * key) % rows;
                if (column != row)
                    visit(static_cast<int>(row), static_cast<int>(column),
                          uniform(seed_, rows + 2 * key + 1));
            }
        }
    }

   private:
    int rows_ = 0;
    int nonzeros_ = 0;  // of the random matrix
    std::uint64_t seed_ = 0;
    std::vector<Entry> entries_;  // from a file
};

/// Reads a symmetric Matrix Market file in coordinate format. Returns an error message, or an empty string.
inline std::string read_matrix(const std::string& file, SymmetricMatrix& matrix) {
    std::ifstream stream(file);
    std::string line, banner, object, format, field, symmetry;
    if (!stream || !std::getline(stream, line)) return "cannot read " + file;
    std::istringstream(line) >> banner >> object >> format >> field >> symmetry;
    if (banner != "%%MatrixMarket" || object != "matrix" || format != "coordinate" ||
        symmetry != "symmetric" || (field != "real" && field != "integer" && field != "pattern"))
        return file + " begins with '" + line +
               "', expected '%%MatrixMarket matrix coordinate real symmetric' (or integer, or pattern)";
    while (std::getline(stream, line) && (line.empty() || line[0] == '%')) {
    }
    long rows = 0, columns = 0, count = 0;
    if (!(std::istringstream(line) >> rows >> columns >> count) || rows < 1 || rows > 100'000'000 ||
        rows != columns || count < 0 || count > 1'000'000'000)
        return file + " has the size '" + line + "', expected equal numbers of rows and columns, and a count";
    std::vector<Entry> entries;
    for (long i = 0; i < count; ++i) {
        Entry entry{0, 0, 1};
        stream >> entry.row >> entry.column;
        if (field != "pattern") stream >> entry.value;
        if (!stream || std::min(entry.row, entry.column) < 1 || std::max(entry.row, entry.column) > rows)
            return file + ": entry " + std::to_string(i + 1) + " of " + std::to_string(count) + " is invalid";
        entries.push_back({entry.row - 1, entry.column - 1, entry.value});
    }
    matrix = SymmetricMatrix(static_cast<int>(rows), std::move(entries));
    return "";
}

}  // namespace lanczos
