// SPDX-License-Identifier: BSD-3-Clause
// The last rank stops forever after the first phase, and the other ranks report it: `stopped_rank
// sends|waits`.
#include <csignal>
#include <string_view>
#include <topoloom_objects.hpp>
#include <vector>

namespace {

struct Sink : topoloom::Object<Sink> {
    void take(std::vector<double>) {}
    void serialize(auto&) {}
    using methods = topoloom::Methods<&Sink::take>;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    topoloom::SchedulerOptions options;
    options.stall_timeout = 0.5;
    options.memory_bytes = 100000;
    topoloom::Scheduler scheduler(MPI_COMM_WORLD, options);
    const int last = scheduler.ranks() - 1;
    topoloom::Objects<Sink> sinks(scheduler, {last + 1}, [](topoloom::Index) { return Sink(); });
    scheduler.run();
    if (scheduler.rank() == last) raise(SIGSTOP);
    if (scheduler.rank() == 0 && argc > 1 && std::string_view(argv[1]) == "sends")
        for (int i = 0; i < 1000; ++i) sinks[last].send<&Sink::take>(std::vector<double>(100));
    scheduler.run();
    MPI_Finalize();
    return 0;
}
