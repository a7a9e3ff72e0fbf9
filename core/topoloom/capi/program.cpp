// SPDX-License-Identifier: BSD-3-Clause
// C interface of programs of ranks. It exposes the core's arrays directly, because C and C++ structs have the
// same layout.
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

#include "topoloom/base/error.hpp"
#include "topoloom/capi/error_boundary.hpp"
#include "topoloom/capi/topoloom_schedules.h"
#include "topoloom/execute/compile.hpp"
#include "topoloom/schedule/collectives/registry.hpp"

using namespace topoloom;

namespace {

static_assert(TOPOLOOM_EXSCAN == static_cast<int>(Operation::exscan));
static_assert(TOPOLOOM_ALLTOALL == static_cast<int>(Operation::alltoall));
static_assert(TOPOLOOM_SCRATCH == static_cast<int>(ProgramBuffer::scratch));

/// Whether a C struct has the same layout as a struct of the core.
template <class Ours, class Theirs>
constexpr bool same_layout = sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs) &&
                             std::is_standard_layout_v<Ours> && std::is_trivially_copyable_v<Ours>;

static_assert(same_layout<Location, topoloom_place> &&
              offsetof(Location, offset) == offsetof(topoloom_place, offset));
static_assert(same_layout<LocalOperation, topoloom_work> &&
              offsetof(LocalOperation, to) == offsetof(topoloom_work, to) &&
              offsetof(LocalOperation, units) == offsetof(topoloom_work, units));
static_assert(same_layout<BufferMessage, topoloom_message> &&
              offsetof(BufferMessage, units) == offsetof(topoloom_message, units));
static_assert(same_layout<ProgramRound, topoloom_round> &&
              offsetof(ProgramRound, after) == offsetof(topoloom_round, after));

BlockCounts make_block_counts(std::size_t ranks, const std::int64_t* units, const std::int64_t* offsets) {
    if (units == nullptr) return {};
    return {{units, units + ranks}, {offsets, offsets + ranks}};
}

BlockLayout make_layout(const Collective& collective, const topoloom_call& call) {
    const auto entries = [&](bool of_all) { return of_all ? call.ranks : 1; };
    const Operation operation = collective.operation();
    const bool is_root = call.rank == call.root;
    const bool has_all = collective.is_personalized() || operation == Operation::reduce_scatter ||
                         (operation == Operation::scatter && is_root);
    const bool gets_all = collective.is_personalized() || operation == Operation::allgather ||
                          (operation == Operation::gather && is_root);
    BlockLayout layout(collective, Rank{call.rank},
                       make_block_counts(entries(has_all), call.input_units, call.input_offsets),
                       make_block_counts(entries(gets_all), call.output_units, call.output_offsets),
                       call.in_place != 0);
    return call.wants_result != 0 ? layout : layout.without_result();
}

}  // namespace

int topoloom_program_make(const topoloom_call* call, const char* schedule, topoloom_program* program,
                          char* error, size_t error_size) {
    return run_guarded(error, error_size, [&] {
        Call arguments{static_cast<Operation>(call->operation), call->ranks, Bytes{call->units},
                       Rank{call->root}};
        arguments.unit_bytes = call->unit_bytes;
        const AnySchedule made = make_schedule(arguments, schedule);
        const Collective& collective = made.collective();
        auto owner = std::make_unique<RankProgram>(
            compile(made, make_layout(collective, *call),
                    call->in_rank_order != 0 ? OperandOrder::by_rank : OperandOrder::any));
        *program = {owner->rounds.size(),
                    reinterpret_cast<const topoloom_round*>(owner->rounds.data()),
                    reinterpret_cast<const topoloom_work*>(owner->operations.data()),
                    reinterpret_cast<const topoloom_message*>(owner->messages.data()),
                    owner->messages.size(),
                    owner->scratch_units,
                    owner.get()};
        (void)owner.release();  // freed by topoloom_program_free
    });
}

void topoloom_program_free(topoloom_program* program) {
    delete static_cast<RankProgram*>(program->owner);
    program->owner = nullptr;
}
