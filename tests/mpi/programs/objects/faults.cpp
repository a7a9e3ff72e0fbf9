// SPDX-License-Identifier: BSD-3-Clause
// Causes faults that all ranks must report, or that must leave no state behind. Runs on two ranks with errors as
// exceptions; rank 0 prints a line per case.
#include <array>
#include <complex>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <topoloom_objects.hpp>
#include <tuple>
#include <vector>

namespace {

struct Nothing {};

template <typename... Values>
constexpr bool are_plain = (topoloom::objects::Plain<Values> && ...);
template <typename... Values>
constexpr bool is_one_plain = (topoloom::objects::Plain<Values> || ...);
static_assert(are_plain<int, std::complex<double>, std::array<float, 3>, double[2], std::optional<int>>);
static_assert(!is_one_plain<int*, std::span<int>, std::span<const int>, std::string_view, std::optional<int*>,
                            std::array<const char*, 2>, std::array<std::string_view, 1>, int* [2],
                            std::reference_wrapper<int>, std::vector<int>::iterator, std::nullptr_t>);

int destroyed = 0;

struct Cell : topoloom::Object<Cell> {
    ~Cell() { ++destroyed; }
    void fail() { throw std::runtime_error("that"); }
    void visit(topoloom::Index other) { array().local(other)->leave(); }
    void leave() {
        const int before = destroyed;
        migrate_to(1 - scheduler().rank());
        stayed = destroyed == before;
    }
    void measure() { static_cast<void>(scheduler().measurements()); }
    void take(std::vector<Nothing> many, std::tuple<int, std::string> two) {
        taken = many.size() + static_cast<std::size_t>(std::get<0>(two)) + std::get<1>(two).size();
    }
    void add(topoloom::Callback<int> to, topoloom::Callback<int> other) {
        contribute<topoloom::sum>(index().x % 2 == 0 ? to : other, 1);
    }
    void serialize(auto& archive) {
        archive(stayed, taken, refuses);
        if (refuses && !std::remove_reference_t<decltype(archive)>::reads)
            throw std::runtime_error("it is locked");
    }
    using methods =
        topoloom::Methods<&Cell::fail, &Cell::visit, &Cell::leave, &Cell::measure, &Cell::take, &Cell::add>;
    bool stayed = false, refuses = false;
    std::size_t taken = 0;
};

int rank = 0;

void print_line(const std::string& name, const std::string& text) {
    if (rank == 0) std::fputs((name + ": " + text + "\n").c_str(), stdout);
}

/// Makes the call on both ranks; prints how many ranks threw, and rank 0's exception.
template <typename Call>
void print_error_on_all_ranks(const std::string& name, const Call& call) {
    std::string text = "nothing";
    try {
        call();
    } catch (const topoloom::ObjectsError& error) {
        text = error.what();
    }
    const int own = text == "nothing" ? 0 : 1;
    int all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    print_line(name, std::to_string(all) + " threw " + text);
}

/// Prints exceptions of run() on any rank, and repeats run() until the phase ends.
void run_scheduler(const std::string& name, topoloom::Scheduler& scheduler) {
    for (bool goes_on = true; goes_on;) {
        try {
            scheduler.run();
            goes_on = false;
        } catch (const topoloom::ObjectsError& error) {
            std::fputs((name + ": " + error.what() + "\n").c_str(), stdout);
        }
    }
}

Cell make_cell(topoloom::Index) { return {}; }

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    print_error_on_all_ranks("memory on rank 1", [] {
        topoloom::Scheduler(MPI_COMM_WORLD, {.memory_bytes = rank == 1 ? 10 : 1 << 20});
    });
    print_error_on_all_ranks(
        "unequal", [] { topoloom::Scheduler(MPI_COMM_WORLD, {.message_bytes = 1000 * (rank + 1)}); });
    topoloom::Scheduler scheduler(MPI_COMM_WORLD);
    {
        topoloom::ObjectsOptions options;
        options.home = [](const topoloom::Index& at) { return static_cast<int>(at.x); };
        print_error_on_all_ranks("home",
                                 [&] { topoloom::Objects<Cell> away(scheduler, {3}, make_cell, options); });
    }
    {
        topoloom::Objects<Cell> gone(scheduler, {2}, make_cell);
        gone[rank].send<&Cell::fail>();
        gone[rank].send<&Cell::leave>();
        print_error_on_all_ranks("thrown", [&] { scheduler.run(); });
    }
    topoloom::Objects<Cell> cells(scheduler, {8}, make_cell);
    run_scheduler("after both", scheduler);  // drops pending messages to the destroyed array

    if (rank == 0) cells.migrate(0, 1);
    const topoloom::Measurements seen = scheduler.measurements();
    print_line("to move",
               "is on rank " + std::to_string(seen.rank[0]) + " of " + std::to_string(seen.objects()));
    scheduler.rebalance("none");
    if (rank == 1) std::fputs(cells.local(0) != nullptr ? "moved: yes\n" : "moved: no\n", stdout);

    if (rank == 0) cells[1].send<&Cell::visit>(topoloom::Index(2));
    if (rank == 0) cells.local(3)->leave();
    scheduler.run();
    for (const int left : {2, 3})
        if (rank == 1)
            std::fputs(cells.local(left)->stayed ? "left when over: yes\n" : "left when over: no\n", stdout);

    if (rank == 0) cells[1].send<&Cell::measure>();
    run_scheduler("measured", scheduler);
    if (rank == 0) cells.local(1)->refuses = true;
    print_error_on_all_ranks("measured locked", [&] { static_cast<void>(scheduler.measurements()); });
    if (rank == 0) cells.migrate(1, 1);
    run_scheduler("locked", scheduler);
    if (rank == 0) cells.local(1)->refuses = false;

    if (rank == 0) cells[1].send<&Cell::take>(std::vector<Nothing>(5), std::tuple<int, std::string>(1, "ab"));
    run_scheduler("values", scheduler);
    if (rank == 0) print_line("taken", std::to_string(cells.local(1)->taken));

    print_error_on_all_ranks("periods",
                             [&] { scheduler.rebalance("greedy", {.periods = rank == 1 ? 0.0 : 1.0}); });
    print_error_on_all_ranks("policies", [&] { scheduler.rebalance(rank == 0 ? "greedy" : "place"); });
    const auto add = [&](int number) {
        return scheduler.callback<int>([number](const int& sum) {
            if (rank == 0) throw std::runtime_error(std::to_string(number + sum));
        });
    };
    const topoloom::Callback<int> first = add(0), second = add(1);
    if (rank == 0) cells.broadcast<&Cell::add>(first, first);
    run_scheduler("callback", scheduler);
    if (rank == 1) cells.broadcast<&Cell::add>(first, second);
    run_scheduler("mixed", scheduler);
    MPI_Finalize();
    // The scheduler and the array are destroyed after MPI_Finalize.
}
