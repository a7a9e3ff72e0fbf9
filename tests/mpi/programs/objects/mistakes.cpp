// SPDX-License-Identifier: BSD-3-Clause
// Mistakes with objects, by name: `mistakes WHICH [return]`; with `return`, errors become
// exceptions, and the program continues.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <topoloom_objects.hpp>
#include <vector>

namespace {

struct Plain : topoloom::Object<Plain> {
    void fail(int code) {
        if (code == 7) throw std::runtime_error("seven is too many");
        ++calls;
    }
    void run_again() { scheduler().run(); }
    void differ(topoloom::Callback<std::vector<int>> to) {
        contribute<topoloom::sum>(to, std::vector<int>(static_cast<std::size_t>(index().y + 1)));
    }
    void move(int rank) { migrate_to(rank); }
    void be_done(topoloom::ManyToMany<Plain> exchange) { done(exchange); }
    void serialize(auto& archive) {
        archive(calls);
        // Packs more than it unpacks.
        if constexpr (!std::remove_reference_t<decltype(archive)>::reads) archive(calls);
    }
    using methods =
        topoloom::Methods<&Plain::fail, &Plain::run_again, &Plain::differ, &Plain::move, &Plain::be_done>;
    int calls = 0;
};

void make_mistake(std::string_view which, topoloom::Scheduler& scheduler, topoloom::Objects<Plain>& cells) {
    const auto on_sum = scheduler.callback<std::vector<int>>([](const std::vector<int>&) {});
    const bool is_first = scheduler.rank() == 0;
    if (which == "index") cells[{1, 9}].send<&Plain::fail>(0);
    if (which == "negative") cells[{-1, 0}].send<&Plain::fail>(0);
    if (which == "axis") cells[{0, 0, 1}].send<&Plain::fail>(0);
    if (which == "extents")
        topoloom::Objects<Plain> none(scheduler, {4, 0}, [](topoloom::Index) { return Plain(); });
    if (which == "home") {
        topoloom::ObjectsOptions options;
        options.home = [](const topoloom::Index& at) { return static_cast<int>(at.x) * 9; };
        topoloom::Objects<Plain> away(scheduler, {2}, [](topoloom::Index) { return Plain(); }, options);
    }
    if (which == "rank" && is_first) cells.migrate({0, 0}, 64);
    if (which == "throw" && is_first) cells[{1, 2}].send<&Plain::fail>(7);
    if (which == "nested" && is_first) cells[{0, 1}].send<&Plain::run_again>();
    if (which == "lengths" && is_first) cells.broadcast<&Plain::differ>(on_sum);
    if (which == "serialize" && is_first) cells[{0, 2}].send<&Plain::move>(scheduler.ranks() - 1);
    if (which == "memory" || which == "stall") {
        topoloom::SchedulerOptions options;
        options.memory_bytes = which == "memory" ? 4000 : options.memory_bytes;
        options.stall_timeout = which == "stall" ? -1 : 0;
        topoloom::Scheduler other(MPI_COMM_WORLD, options);
    }
    if (which == "done") {
        const topoloom::ManyToMany<Plain> exchange = cells.many_to_many();
        if (is_first) cells[{0, 0}].send<&Plain::be_done>(exchange);
    }
    if (which == "policy") scheduler.rebalance("gredy");
    if (which == "machine") {
        topoloom::RebalanceOptions options;
        options.machine = "torus:4xx4";
        scheduler.rebalance("place", options);
    }
    scheduler.run();
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string_view which = argc > 1 ? argv[1] : "";
    if (argc > 2) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    {
        topoloom::Scheduler scheduler(MPI_COMM_WORLD);
        topoloom::Objects<Plain> cells(scheduler, {2, 3}, [](topoloom::Index) { return Plain(); });
        for (bool is_first = true, goes_on = true; goes_on; is_first = false) {
            try {
                if (is_first)
                    make_mistake(which, scheduler, cells);
                else
                    scheduler.run();  // complete the phase, because other ranks may wait
                goes_on = false;
            } catch (const topoloom::ObjectsError& error) {
                std::printf("caught: %s\n", error.what());
            }
        }
        // Messages of other objects are still delivered.
        cells[{1, 2}].send<&Plain::fail>(0);
        scheduler.run();
    }
    std::fputs("went on\n", stdout);  // a single write, so that lines of ranks do not mix
    MPI_Finalize();
}
