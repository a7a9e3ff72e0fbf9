// SPDX-License-Identifier: BSD-3-Clause
// Exposes programs compiled for single ranks to Python.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bindings.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/execute/compile.hpp"
#include "topoloom/schedule/any_schedule.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

nb::tuple make_tuple(const Location& place) {
    constexpr std::array<const char*, 3> names{"input", "output", "scratch"};
    return nb::make_tuple(names[static_cast<std::size_t>(place.memory)], place.offset);
}

nb::list make_list(std::span<const LocalOperation> operations) {
    nb::list list;
    for (const LocalOperation& work : operations)
        list.append(nb::make_tuple(work.combines, make_tuple(work.from), make_tuple(work.to), work.units));
    return list;
}

nb::list make_list(std::span<const BufferMessage> messages) {
    nb::list list;
    for (const BufferMessage& message : messages)
        list.append(nb::make_tuple(message.peer.value, make_tuple(message.at), message.units));
    return list;
}

nb::tuple compile_program(const AnySchedule& schedule, std::uint32_t rank) {
    const Collective& collective = schedule.collective();
    if (rank >= collective.ranks()) fail("no rank ", rank, "; there are ", collective.ranks());
    const RankProgram program = compile(schedule, BlockLayout(collective, Rank{rank}));
    nb::list rounds;
    for (const ProgramRound& round : program.rounds)
        rounds.append(nb::make_tuple(
            make_list(program.operations_of(round.before)), make_list(program.messages_of(round.receives)),
            make_list(program.messages_of(round.sends)), make_list(program.operations_of(round.meanwhile)),
            make_list(program.operations_of(round.after))));
    return nb::make_tuple(program.scratch_units, rounds);
}

}  // namespace

void bind_rank_program(nb::module_& m) {
    m.def("rank_program", &compile_program, "schedule"_a, "rank"_a,
          nb::sig("def rank_program(schedule: Schedule, rank: int) -> tuple[int, list[tuple["
                  "list[tuple[bool, tuple[str, int], tuple[str, int], int]], "
                  "list[tuple[int, tuple[str, int], int]], list[tuple[int, tuple[str, int], int]], "
                  "list[tuple[bool, tuple[str, int], tuple[str, int], int]], "
                  "list[tuple[bool, tuple[str, int], tuple[str, int], int]]]]]"),
          "Compiles a schedule for a rank: (scratch bytes, rounds). A round has copies before, receives, "
          "sends,\n"
          "copies meanwhile, and operations after. A message is (peer, location, bytes), an operation\n"
          "(combines, from, to, bytes), a location (memory, offset) in `input`, `output` or `scratch`.\n"
          "A bcast has no input.");
}

}  // namespace topoloom::python
