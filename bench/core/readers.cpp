// SPDX-License-Identifier: BSD-3-Clause
// Speed of the text readers on 60 MB of text, compared with two limits: finding line ends, and parsing
// digits.
#include <charconv>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "topoloom/base/rng.hpp"
#include "topoloom/pattern/generators/random_geometric.hpp"
#include "topoloom/pattern/generators/stencil.hpp"
#include "topoloom/pattern/readers/dense_matrix.hpp"
#include "topoloom/pattern/readers/matrix_market.hpp"
#include "topoloom/pattern/readers/metis.hpp"
#include "topoloom/pattern/readers/monitoring.hpp"

using namespace topoloom;

namespace {

class Text {
   public:
    Text& operator<<(std::string_view part) {
        text_ += part;
        return *this;
    }
    template <class Number>
        requires std::is_arithmetic_v<Number>
    Text& operator<<(Number number) {
        char buffer[32];
        text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
        return *this;
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

   private:
    std::string text_;
};

std::string metis_text(const CommGraph& graph, bool weights) {
    Text text;
    text << graph.rank_count() << " " << graph.edge_count() / 2 << (weights ? " 1\n" : "\n");
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Edge edge : graph.sends(u)) {
            text << " " << edge.peer.value + 1;
            if (weights) text << " " << edge.bytes.value;
        }
        text << "\n";
    }
    return text.take();
}

const std::string& metis_unweighted() {
    static const std::string text =
        metis_text(stencil(std::vector<GridAxis>(3, {72}), StencilShape::box, Bytes{1}), false);
    return text;
}

const std::string& metis_weighted() {
    static const std::string text =
        metis_text(stencil(std::vector<GridAxis>(3, {56}), StencilShape::box, Bytes{65'536}), true);
    return text;
}

/// Worst case for caches: neighbors have unrelated numbers.
const std::string& metis_random() {
    static const std::string text = metis_text(random_geometric(600'000, Bytes{65'536}, 1, 8), true);
    return text;
}

enum class Order { rows, columns, random };

/// Entries by rows or by columns, as most programs write them; random order is the worst case for caches.
std::string market_text(std::string_view field, std::string_view value_end, Order order) {
    const auto graph = random_geometric(500'000, Bytes{65'536}, 1, 7);
    std::vector<std::pair<Rank, Rank>> entries;
    for (const Rank u : ids<Rank>(graph.rank_count())) {
        for (const Rank v : graph.peers(u)) {
            entries.emplace_back(order == Order::columns ? v : u, order == Order::columns ? u : v);
        }
    }
    if (order == Order::random) Rng(1).shuffle(std::span(entries));
    Text text;
    text << "%%MatrixMarket matrix coordinate " << field << " general\n"
         << graph.rank_count() << " " << graph.rank_count() << " " << graph.edge_count() << "\n";
    for (const auto& [u, v] : entries) {
        text << u.value + 1 << " " << v.value + 1 << " " << 1000 + v.value % 5000 << value_end << "\n";
    }
    return text.take();
}

const std::string& market_by_row() {
    static const std::string text = market_text("integer", "", Order::rows);
    return text;
}

const std::string& market_by_column() {
    static const std::string text = market_text("integer", "", Order::columns);
    return text;
}

const std::string& market_random() {
    static const std::string text = market_text("integer", "", Order::random);
    return text;
}

const std::string& market_real() {
    static const std::string text = market_text("real", ".0e+00", Order::rows);
    return text;
}

std::string dense_text(std::size_t order, double share, std::string_view value_end) {
    Rng rng(1);
    Text text;
    for (std::size_t row = 0; row < order; ++row) {
        for (std::size_t column = 0; column < order; ++column) {
            text << (rng.uniform() < share ? rng.below(1'000'000) : 0U) << value_end
                 << (column + 1 == order ? "\n" : " ");
        }
    }
    return text.take();
}

const std::string& dense_sparse() {
    static const std::string text = dense_text(5000, 0.05, "");
    return text;
}

const std::string& dense_full() {
    static const std::string text = dense_text(3000, 1, "");
    return text;
}

const std::string& dense_real() {
    static const std::string text = dense_text(3000, 1, ".0e+00");
    return text;
}

const std::string& monitoring() {
    static const std::string text = [] {
        Text lines;
        Rng rng(1);
        const auto graph = stencil(std::vector<GridAxis>(3, {32}), StencilShape::box, Bytes{1});
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            lines << "# POINT TO POINT\n";
            for (const Rank v : graph.peers(u)) {
                lines << "E\t" << u.value << "\t" << v.value << "\t" << rng.below(1'000'000) << " bytes\t"
                      << rng.below(1000) << " msgs sent\t";
                for (int i = 0; i < 66; ++i)
                    lines << (i == 0 ? "" : ",") << (i % 8 == 0 ? rng.below(100) : 0U);
                lines << "\n";
            }
        }
        return lines.take();
    }();
    return text;
}

/// Upper limit for readers that process lines.
void line_ends(benchmark::State& state, const std::string& (*make)()) {
    const std::string& text = make();
    for (auto _ : state) {
        std::size_t lines = 0;
        const char* at = text.data();
        const char* end = at + text.size();
        while (const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
            ++lines;
            at = static_cast<const char*>(found) + 1;
        }
        benchmark::DoNotOptimize(lines);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

/// Upper limit for readers that process digits: a loop over digits and separators only.
void digits(benchmark::State& state, const std::string& (*make)()) {
    const std::string& text = make();
    for (auto _ : state) {
        std::uint64_t sum = 0;
        std::uint64_t value = 0;
        for (const char c : text) {
            const auto digit = static_cast<unsigned char>(c - '0');
            if (digit < 10) {
                value = value * 10 + digit;
            } else {
                sum += value;
                value = 0;
            }
        }
        benchmark::DoNotOptimize(sum);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void reads(benchmark::State& state, const std::string& (*make)(), CommGraph (*read)(std::string_view)) {
    const std::string& text = make();
    for (auto _ : state) benchmark::DoNotOptimize(read(text));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
    state.counters["text_MB"] = static_cast<double>(text.size()) / 1e6;
}

CommGraph read_monitoring_text(std::string_view text) { return read_monitoring(text); }

void add(const std::string& name, const std::string& (*make)(), CommGraph (*read)(std::string_view)) {
    const auto ms = benchmark::kMillisecond;
    benchmark::RegisterBenchmark((name + "/line_ends").c_str(), line_ends, make)
        ->Unit(ms)
        ->MeasureProcessCPUTime();
    benchmark::RegisterBenchmark((name + "/digits").c_str(), digits, make)->Unit(ms)->MeasureProcessCPUTime();
    benchmark::RegisterBenchmark((name + "/read").c_str(), reads, make, read)
        ->Unit(ms)
        ->MeasureProcessCPUTime();
}

}  // namespace

int main(int argc, char** argv) {
    add("metis", metis_unweighted, read_metis);
    add("metis_weighted", metis_weighted, read_metis);
    add("metis_random", metis_random, read_metis);
    add("matrix_market_by_row", market_by_row, read_matrix_market);
    add("matrix_market_by_column", market_by_column, read_matrix_market);
    add("matrix_market_random", market_random, read_matrix_market);
    add("matrix_market_real", market_real, read_matrix_market);
    add("dense_95%_zeros", dense_sparse, read_dense_matrix);
    add("dense_full", dense_full, read_dense_matrix);
    add("dense_real", dense_real, read_dense_matrix);
    add("monitoring", monitoring, read_monitoring_text);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
