// SPDX-License-Identifier: BSD-3-Clause
// `sections ROUNDS FILE`: hubs multicast to sections of leaves, and the sum of the answers returns
// to the hub; both move. Writes the measured graph to FILE. Rank 0 prints "sections are right".
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <topoloom_objects.hpp>
#include <vector>

constexpr int hubs = 3, leaves = 12;

/// Returns the leaves of a hub; leaves can have several hubs.
std::vector<topoloom::Index> list_members(int hub) {
    std::vector<topoloom::Index> members;
    for (int leaf = 0; leaf < leaves; ++leaf)
        if ((leaf + hub) % 3 != 0) members.push_back({leaf});
    return members;
}
int compute_next_rank(int drawn, int ranks) { return (drawn * 7 + 3) % ranks; }

struct Hub;
struct Leaf : topoloom::Object<Leaf> {
    Leaf() = default;
    explicit Leaf(topoloom::Handle<Hub> handle) : to(handle) {}
    void join(int hub, topoloom::Section<Leaf> members) { parts.at(static_cast<std::size_t>(hub)) = members; }
    void take(int hub, int round, std::vector<double> values);
    void serialize(auto& archive) { archive(to, parts); }
    using methods = topoloom::Methods<&Leaf::join, &Leaf::take>;

    topoloom::Handle<Hub> to;
    std::array<topoloom::Section<Leaf>, hubs> parts;
};

struct Hub : topoloom::Object<Hub> {
    void join(topoloom::Handle<Leaf> handle) {
        others = handle;
        const int own = static_cast<int>(index().x);
        section = objects_of(others).section(list_members(own));
        objects_of(others).multicast<&Leaf::join>(section, own, section);
    }
    void start(int rounds) {
        last = round + rounds;
        ask();
    }
    void add(std::vector<double> sum) {
        double expected = 0;
        for (const topoloom::Index& leaf : list_members(static_cast<int>(index().x)))
            expected += static_cast<double>(leaf.x) + round;
        const auto members = static_cast<double>(section.members.size());
        if (sum.size() != 2 || sum[0] != members || sum[1] != expected) ++wrong;
        if (++round < last) ask();
        if (round % 3 == 0) migrate_to(compute_next_rank(round, scheduler().ranks()));
    }
    void report(topoloom::Callback<int> result) {
        contribute<topoloom::sum>(result, round == last ? wrong : 1000);
    }
    void serialize(auto& archive) { archive(others, section, round, last, wrong); }
    using methods = topoloom::Methods<&Hub::join, &Hub::start, &Hub::add, &Hub::report>;

    topoloom::Handle<Leaf> others;
    topoloom::Section<Leaf> section;
    int round = 0, last = 0, wrong = 0;

   private:
    void ask() {
        const std::vector<double> values(20, round);
        objects_of(others).multicast<&Leaf::take>(section, static_cast<int>(index().x), round, values);
    }
};

void Leaf::take(int hub, int round, std::vector<double> values) {
    const std::vector<double> answer{1, static_cast<double>(index().x) + values.back()};
    contribute_to<topoloom::sum, &Hub::add>(parts.at(static_cast<std::size_t>(hub)), to, {hub}, answer);
    if ((round + index().x) % 4 == 0)
        migrate_to(compute_next_rank(round + static_cast<int>(index().x), scheduler().ranks()));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
    bool is_right = true;
    {
        topoloom::Scheduler scheduler(MPI_COMM_WORLD);
        topoloom::Objects<Hub> all(scheduler, {hubs}, [](topoloom::Index) { return Hub(); });
        topoloom::Objects<Leaf> others(scheduler, {leaves},
                                       [&](topoloom::Index) { return Leaf(all.handle()); });
        int wrong = -1;
        const auto result = scheduler.callback<int>([&](const int& sum) { wrong = sum; });
        if (rank == 0) all.broadcast<&Hub::join>(others.handle());
        scheduler.run();
        for (const char* policy : {"none", "place"}) {
            if (rank == 0) all.broadcast<&Hub::start>(rounds);
            scheduler.run();
            const topoloom::Measurements seen = scheduler.measurements();
            for (std::size_t object = 0; object < seen.objects(); ++object)
                is_right = is_right && (seen.is_proxied[object] != 0) == (object < hubs);
            if (argc > 2) scheduler.write_graph(argv[2]);
            static_cast<void>(scheduler.rebalance(policy));
        }
        if (rank == 0) all.broadcast<&Hub::report>(result);
        scheduler.run();
        is_right = is_right && wrong == 0;
    }
    int all_right = is_right ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::fputs(all_right != 0 ? "sections are right\n" : "sections are WRONG\n", stdout);
    MPI_Finalize();
    return all_right != 0 ? 0 : 1;
}
