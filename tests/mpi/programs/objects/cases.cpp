// SPDX-License-Identifier: BSD-3-Clause
// Tests features of object arrays beyond single messages: broadcasts, reductions, sections,
// priorities, views, long messages, other arrays, phases.
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <topoloom_objects.hpp>
#include <utility>
#include <vector>

using topoloom::Index;

namespace {

int failures = 0;
void expect(bool holds, const char* what) {
    if (holds) return;
    ++failures;
    std::printf("not so: %s\n", what);
}

/// Values of all kinds that messages can contain.
struct Load {
    std::string text;
    std::map<int, std::vector<double>> table;
    std::optional<std::pair<int, std::string>> maybe;
    std::array<std::vector<bool>, 2> bits;
    void serialize(auto& archive) { archive(text, table, maybe, bits); }
    bool operator==(const Load&) const = default;
};
const Load some_load{"text", {{3, {1.5, 2.5}}, {4, {}}}, {{7, "seven"}}, {{{true, false}, {true}}}};

struct Log : topoloom::Object<Log> {
    void note(std::string line) { lines.push_back(line); }
    void serialize(auto& archive) { archive(lines); }
    using methods = topoloom::Methods<&Log::note>;
    std::vector<std::string> lines;
};

struct TestElement : topoloom::Object<TestElement> {
    void count(int amount) { counted += amount; }
    void wander(int steps) {
        ++wandered;
        if (steps > 0) array()[index()].send<&TestElement::wander>(steps - 1);
        migrate_to((scheduler().rank() + 1 + steps) % scheduler().ranks());
    }
    void add_up(topoloom::Callback<std::int64_t> to) {
        contribute<topoloom::sum>(to, index().x * 10 + index().y);
    }
    void most(topoloom::Callback<std::vector<double>> to) {
        contribute<topoloom::max>(to, {static_cast<double>(index().x), -static_cast<double>(index().y)});
    }
    void agree() { contribute<topoloom::sum, &TestElement::learn>(1); }
    void learn(int sum) { learned = sum; }
    void agree_with_one() {
        contribute_to<topoloom::join, &TestElement::learn_list>({1, 2}, std::vector<int>{7});
    }
    void learn_list(std::vector<int> list) { learned = static_cast<int>(list.size()) * 7; }
    void join_section(topoloom::Section<TestElement> given) { section = std::move(given); }
    void add_section(topoloom::Callback<int> to) { contribute<topoloom::sum>(section, to, 1); }
    void view(int, std::span<const double> values) {
        counted += static_cast<int>(std::accumulate(values.begin(), values.end(), 0.0));
        viewed_aligned = reinterpret_cast<std::uintptr_t>(values.data()) % alignof(double) == 0;
    }
    void carry(Load load) { counted += load == some_load; }
    void log_to(topoloom::Handle<Log> logs) {
        objects_of(logs)[0].send<&Log::note>(std::to_string(index().x) + std::to_string(index().y));
    }
    void serialize(auto& archive) { archive(counted, wandered, learned, section, viewed_aligned); }
    using methods =
        topoloom::Methods<&TestElement::count, &TestElement::wander, &TestElement::add_up, &TestElement::most,
                          &TestElement::agree, &TestElement::learn, &TestElement::agree_with_one,
                          &TestElement::learn_list, &TestElement::join_section, &TestElement::add_section,
                          &TestElement::view, &TestElement::carry, &TestElement::log_to>;
    int counted = 0, wandered = 0, learned = 0;
    bool viewed_aligned = true;
    topoloom::Section<TestElement> section;
};

std::int64_t sum_member(topoloom::Objects<TestElement>& parts, int TestElement::* member) {
    std::int64_t own = 0, all = 0;
    parts.for_each_local([&](TestElement& part) { own += part.*member; });
    MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/// Checks priorities on one rank, because only there the order is guaranteed.
struct Ordered : topoloom::Object<Ordered> {
    void start() {
        for (const int priority : {2, 0, -1, 0, 5, -1})
            array()[index()].send_with_priority<&Ordered::note>(priority, priority * 10 + next++ % 10);
    }
    void note(int what) { noted.push_back(what); }
    void serialize(auto& archive) { archive(noted, next); }
    using methods = topoloom::Methods<&Ordered::start, &Ordered::note>;
    std::vector<int> noted;
    int next = 0;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        topoloom::SchedulerOptions small;
        small.message_bytes = 256;  // so that many messages exceed a buffer
        topoloom::Scheduler scheduler(MPI_COMM_WORLD, small);
        const bool is_first = scheduler.rank() == 0, is_last = scheduler.rank() == scheduler.ranks() - 1;
        topoloom::Objects<TestElement> parts(scheduler, {4, 5}, [](Index) { return TestElement(); });
        topoloom::Objects<Log> logs(scheduler, {1}, [](Index) { return Log(); });

        // Broadcasts from all ranks while all objects move.
        if (is_first) parts.broadcast<&TestElement::wander>(30);
        for (int i = 0; i < 10; ++i) parts.broadcast<&TestElement::count>(1);
        scheduler.run();
        expect(sum_member(parts, &TestElement::wandered) == 20 * 31, "all wander");
        expect(sum_member(parts, &TestElement::counted) == 200 * scheduler.ranks(),
               "a broadcast reaches all once");
        parts.for_each_local([](TestElement& part) { part.counted = 0; });

        std::int64_t sum = 0;
        const auto on_sum = scheduler.callback<std::int64_t>([&](const std::int64_t& got) { sum = got; });
        std::vector<double> most;
        const auto on_most =
            scheduler.callback<std::vector<double>>([&](const std::vector<double>& got) { most = got; });
        int of_section = 0;
        const auto on_section = scheduler.callback<int>([&](const int& got) { of_section += got; });
        if (is_last) {
            parts.broadcast<&TestElement::wander>(3);
            parts.broadcast<&TestElement::add_up>(on_sum);
            parts.broadcast<&TestElement::most>(on_most);
            parts.broadcast<&TestElement::agree>();
        }
        scheduler.run();
        expect(sum == 4 * (0 + 1 + 2 + 3 + 4) + 50 * (0 + 1 + 2 + 3), "a sum comes to all ranks");
        expect(most == std::vector<double>{3, 0}, "a maximum of vectors");
        expect(sum_member(parts, &TestElement::learned) == 20 * 20, "a result goes to all objects");
        parts.for_each_local([](TestElement& part) { part.learned = 0; });
        if (is_first) parts.broadcast<&TestElement::agree_with_one>();
        scheduler.run();
        expect(sum_member(parts, &TestElement::learned) == 20 * 7, "a result goes to one object");

        // A moving section that reduces twice.
        if (is_first) {
            std::vector<Index> some;
            for (int x = 0; x < 4; ++x) some.emplace_back(x, x);
            const topoloom::Section<TestElement> diagonal = parts.section(some);
            parts.multicast<&TestElement::join_section>(diagonal, diagonal);
            parts.multicast<&TestElement::count>(diagonal, 1);
            parts.multicast<&TestElement::count, topoloom::Route::ring>(diagonal, 10);
            parts.multicast<&TestElement::count, topoloom::Route::direct>(diagonal, 100);
        }
        scheduler.run();
        expect(sum_member(parts, &TestElement::counted) == 4 * 111,
               "a multicast reaches its members by each route");
        parts.for_each_local([&](TestElement& part) {
            if (part.section.members.empty()) return;
            if (part.index().x == 2) part.array().multicast<&TestElement::wander>(part.section, 5);
            for (int i = 0; i < 2 && part.index().x == 0; ++i)
                part.array().multicast<&TestElement::add_section>(part.section, on_section);
        });
        scheduler.run();
        expect(of_section == 8, "a section reduces");

        // Long messages, views, all kinds of values.
        parts.for_each_local([](TestElement& part) { part.counted = 0; });
        const std::vector<double> ones(1000, 1.0);
        if (is_last) parts[{1, 1}].send<&TestElement::view>(0, ones);
        parts[{3, 4}].send<&TestElement::view>(0, std::span<const double>(ones));
        parts[{0, 0}].send<&TestElement::carry>(some_load);
        scheduler.run();
        expect(sum_member(parts, &TestElement::counted) == 1000 + 1001 * scheduler.ranks(),
               "long messages arrive");
        parts.for_each_local([](TestElement& part) { expect(part.viewed_aligned, "views are aligned"); });

        if (is_first) parts.broadcast<&TestElement::log_to>(logs.handle());
        scheduler.run();
        logs.for_each_local([](Log& log) { expect(log.lines.size() == 20, "another array hears"); });

        topoloom::Objects<Ordered> ordered(scheduler, {scheduler.ranks()}, [](Index) { return Ordered(); });
        if (is_first) ordered.broadcast<&Ordered::start>();
        scheduler.run();
        ordered.for_each_local([](Ordered& one) {
            expect(one.noted == std::vector<int>{-8, -5, 1, 3, 20, 54}, "the lowest priority goes first");
        });

        // Consecutive phases without a barrier.
        parts.for_each_local([](TestElement& part) { part.counted = 0; });
        for (int phase = 0; phase < 50; ++phase) {
            parts[{phase % 4, phase % 5}].send<&TestElement::count>(1);
            scheduler.run();
        }
        expect(sum_member(parts, &TestElement::counted) == 50 * scheduler.ranks(),
               "phases follow each other");
    }
    int all = 0, rank = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && all == 0) std::printf("objects are right\n");
    MPI_Finalize();
    return all != 0;
}
