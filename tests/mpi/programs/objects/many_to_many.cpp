// SPDX-License-Identifier: BSD-3-Clause
// Sends random messages, each both by a many-to-many and directly. Objects move between fences and
// within turns.
// Usage: many_to_many STRATEGY OBJECTS PHASES SEED; STRATEGY is a name, or `learned`.
// many_to_many switch BYTES...: ranks send each other BYTES; mesh and direct messages break even at
// alpha / beta = 10,000 bytes.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <topoloom_objects.hpp>
#include <vector>

namespace {

using topoloom::Combining;
constexpr std::array names{"direct", "mesh", "grid", "hypercube"};

std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

struct Cell : topoloom::Object<Cell> {
    Cell() = default;

    void begin(topoloom::ManyToMany<Cell> exchange, std::uint64_t seed) {
        send_some(exchange, seed, 0);
        // Sometimes sends the rest from another rank.
        if (mix(seed + 1 + number()) % 2 == 0) wander(mix(seed + 2 + number()));
        array()[index()].send<&Cell::end>(exchange, seed);
    }
    void end(topoloom::ManyToMany<Cell> exchange, std::uint64_t seed) {
        send_some(exchange, seed, 1);
        done(exchange);
        send_some(exchange, seed, 2);  // belongs to the next exchange
        if (mix(seed + 3 + number()) % 2 == 0) wander(mix(seed + 4 + number()));
        done(exchange);
    }
    void take(std::uint64_t from, const std::vector<std::uint64_t>& values) { add(0, from, values); }
    void take_straight(std::uint64_t from, const std::vector<std::uint64_t>& values) { add(1, from, values); }
    /// Sends messages of equal length to every object of another rank.
    void to_all(topoloom::ManyToMany<Cell> exchange, std::int64_t bytes) {
        const auto size = static_cast<std::int64_t>(array().size());
        const std::vector<char> values(static_cast<std::size_t>(bytes));
        for (std::int64_t other = 0; other < size; ++other)
            if (other != index().x) insert<&Cell::take_bytes>(exchange, other, values);
        done(exchange);
    }
    void take_bytes(const std::vector<char>& values) {
        counts[0] += static_cast<std::int64_t>(values.size());
    }
    void serialize(auto& archive) { archive(counts, sums); }
    using methods = topoloom::Methods<&Cell::begin, &Cell::end, &Cell::take, &Cell::take_straight,
                                      &Cell::to_all, &Cell::take_bytes>;

    std::array<std::int64_t, 2> counts{};
    std::array<std::uint64_t, 2> sums{};

   private:
    [[nodiscard]] std::uint64_t number() const { return static_cast<std::uint64_t>(index().x) << 20; }
    void wander(std::uint64_t random) {
        migrate_to(static_cast<int>(random % static_cast<std::uint64_t>(scheduler().ranks())));
    }
    void send_some(topoloom::ManyToMany<Cell> exchange, std::uint64_t seed, std::uint64_t part) {
        const std::uint64_t density = 1 + seed % 4;
        for (std::uint64_t to = 0; to < array().size(); ++to) {
            const std::uint64_t random = mix(mix(seed + to) + number() + part);
            if (random % 5 >= density) continue;
            const std::uint64_t length = random % 97 == 0 ? 4000 : random % 7;
            const std::vector<std::uint64_t> values(length, random);
            const auto from = static_cast<std::uint64_t>(index().x);
            insert<&Cell::take>(exchange, to, from, values);
            array()[to].send<&Cell::take_straight>(from, values);
        }
    }
    void add(std::size_t which, std::uint64_t from, const std::vector<std::uint64_t>& values) {
        ++counts[which];
        sums[which] += mix(from);
        for (const std::uint64_t value : values) sums[which] += mix(value + from);
    }
};

std::int64_t sum_over_ranks(std::int64_t own) {
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return own;
}

bool run_strategy(const std::string& strategy, std::int64_t objects, std::uint64_t phases,
                  std::uint64_t seed) {
    topoloom::Scheduler scheduler(MPI_COMM_WORLD);
    topoloom::Objects<Cell> cells(scheduler, {objects}, [](topoloom::Index) { return Cell(); });
    topoloom::ManyToManyOptions options{.alpha = 1e-5, .beta = 1e-9};
    for (std::size_t i = 0; i < names.size(); ++i)
        if (strategy == names[i]) options.strategies = {static_cast<Combining>(i)};
    const topoloom::ManyToMany<Cell> exchange = cells.many_to_many(options);
    for (std::uint64_t phase = 0; phase < phases; ++phase) {
        std::vector<topoloom::Index> leave;
        cells.for_each_local([&](Cell& cell) { leave.push_back(cell.index()); });
        for (const topoloom::Index& at : leave) {
            const std::uint64_t random = mix(seed + phase + static_cast<std::uint64_t>(at.x) * 7);
            if (random % 3 == 0)
                cells.migrate(at,
                              static_cast<int>(random / 3 % static_cast<std::uint64_t>(scheduler.ranks())));
        }
        if (scheduler.rank() == 0) cells.broadcast<&Cell::begin>(exchange, mix(seed + phase));
        scheduler.run();
    }
    std::int64_t wrong = 0, messages = 0;
    cells.for_each_local([&](const Cell& cell) {
        if (cell.counts[0] != cell.counts[1] || cell.sums[0] != cell.sums[1]) ++wrong;
        messages += cell.counts[0];
    });
    wrong = sum_over_ranks(wrong);
    messages = sum_over_ranks(messages);
    const bool is_right = wrong == 0 && messages > 0;
    if (scheduler.rank() == 0)
        std::printf("%s: %lld messages\n", is_right ? "right" : "WRONG", static_cast<long long>(messages));
    return is_right;
}

bool print_chosen_strategies(int argc, char** argv) {
    topoloom::Scheduler scheduler(MPI_COMM_WORLD);
    topoloom::Objects<Cell> cells(scheduler, {scheduler.ranks()}, [](topoloom::Index) { return Cell(); });
    topoloom::ManyToManyOptions options;
    options.strategies = {Combining::mesh, Combining::direct};
    options.alpha = 1e-5;
    options.beta = 1e-9;
    const topoloom::ManyToMany<Cell> exchange = cells.many_to_many(options);
    std::int64_t expected = 0;
    std::string lines;
    for (int i = 2; i < argc; ++i) {
        const std::int64_t bytes = std::atol(argv[i]);
        expected += bytes * (scheduler.ranks() - 1);
        if (scheduler.rank() == 0) cells.broadcast<&Cell::to_all>(exchange, bytes);
        scheduler.run();
        const topoloom::ManyToManyChoice choice = cells.choice(exchange);
        char line[100];
        std::snprintf(line, sizeof line, "%s %g %g\n", names[static_cast<std::size_t>(choice.strategy)],
                      choice.degree, choice.bytes);
        lines += line;
    }
    std::int64_t wrong = 0;
    cells.for_each_local([&](const Cell& cell) { wrong += cell.counts[0] != expected ? 1 : 0; });
    if (scheduler.rank() == 0) std::fputs(lines.c_str(), stdout);
    return sum_over_ranks(wrong) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string which = argc > 1 ? argv[1] : "";
    const bool is_right = which == "switch" ? print_chosen_strategies(argc, argv)
                                            : argc > 4 && run_strategy(which, std::atol(argv[2]),
                                                                       std::strtoull(argv[3], nullptr, 10),
                                                                       std::strtoull(argv[4], nullptr, 10));
    MPI_Finalize();
    return is_right ? 0 : 1;
}
