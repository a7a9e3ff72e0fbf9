// SPDX-License-Identifier: BSD-3-Clause
// Calls user-defined mappers of shared libraries by their addresses.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "objectives.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/capi/topoloom_mapper.h"
#include "topoloom/place/evaluator.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

/// The state behind the callbacks that a mapper may call.
class MapperContext {
   public:
    MapperContext(const CommGraph& graph, const Allocation& allocation, SlotUse use,
                  const PhasedObjective& objective, SearchMonitor& monitor)
        : graph_(graph), allocation_(allocation), use_(use), objective_(objective), monitor_(monitor) {}

    bool continue_search(std::uint64_t work) { return monitor_(work); }
    [[nodiscard]] const Machine& machine() const { return allocation_.machine(); }
    void start_evaluation(const std::uint32_t* slot_of_rank) {
        std::vector<Slot> slots;
        for (std::size_t rank = 0; rank < graph_.rank_count(); ++rank) slots.emplace_back(slot_of_rank[rank]);
        evaluator_.emplace(graph_, allocation_, Placement(allocation_, std::move(slots), use_), objective_);
    }
    Evaluator& evaluator() {
        if (!evaluator_) fail("it asks for values before it calls start()");
        return *evaluator_;
    }
    void record_problem(const char* problem) {
        if (problem_.empty()) problem_ = problem;
    }
    /// What was wrong with the first invalid call; empty if all calls were valid.
    [[nodiscard]] const std::string& problem() const { return problem_; }

   private:
    const CommGraph& graph_;
    const Allocation& allocation_;
    SlotUse use_;
    const PhasedObjective& objective_;
    SearchMonitor& monitor_;
    std::optional<Evaluator> evaluator_;
    std::string problem_;
};

/// Returns use(context). If use() throws, records its message as the problem and returns `otherwise`.
template <class Result, class Use>
Result call_or_default(void* context, Result otherwise, const Use& use) noexcept {
    auto& mapper = *static_cast<MapperContext*>(context);
    try {
        return use(mapper);
    } catch (const std::exception& problem) {
        mapper.record_problem(problem.what());
    } catch (...) {
        mapper.record_problem("it threw an unknown exception");
    }
    return otherwise;
}

template <class Use>
int call_for_status(void* context, const Use& use) noexcept {
    return call_or_default(context, 1, [&](MapperContext& mapper) {
        use(mapper);
        return 0;
    });
}

constexpr double no_gain = std::numeric_limits<double>::quiet_NaN();

void set_callbacks(topoloom_mapper_problem& problem) {
    problem.go_on = [](void* context, std::uint64_t work) {
        return call_or_default(context, 0,
                               [&](MapperContext& mapper) { return mapper.continue_search(work) ? 1 : 0; });
    };
    problem.distance = [](void* context, std::uint32_t a, std::uint32_t b) {
        const Machine& machine = static_cast<MapperContext*>(context)->machine();
        if (a >= machine.slot_count() || b >= machine.slot_count()) return no_index;
        return machine.distance(Slot{a}, Slot{b});
    };
    problem.start = [](void* context, const std::uint32_t* slot_of_rank) {
        return call_for_status(context,
                               [&](MapperContext& mapper) { mapper.start_evaluation(slot_of_rank); });
    };
    problem.value = [](void* context) {
        return call_or_default(context, no_gain,
                               [](MapperContext& mapper) { return mapper.evaluator().value(); });
    };
    problem.gain_of_swap = [](void* context, std::uint32_t a, std::uint32_t b) {
        return call_or_default(context, no_gain, [&](MapperContext& mapper) {
            return mapper.evaluator().gain_of_exchange(Rank{a}, Rank{b});
        });
    };
    problem.gain_of_move = [](void* context, std::uint32_t rank, std::uint32_t slot) {
        return call_or_default(context, no_gain, [&](MapperContext& mapper) {
            return mapper.evaluator().gain_of_move(Rank{rank}, Slot{slot});
        });
    };
    problem.swap = [](void* context, std::uint32_t a, std::uint32_t b) {
        return call_for_status(context,
                               [&](MapperContext& mapper) { mapper.evaluator().exchange(Rank{a}, Rank{b}); });
    };
    problem.move = [](void* context, std::uint32_t rank, std::uint32_t slot) {
        return call_for_status(
            context, [&](MapperContext& mapper) { mapper.evaluator().move(Rank{rank}, Slot{slot}); });
    };
    problem.undo = [](void* context) {
        return call_for_status(context, [](MapperContext& mapper) { mapper.evaluator().undo(); });
    };
    problem.placement = [](void* context, std::uint32_t* slot_of_rank) {
        return call_for_status(context, [&](MapperContext& mapper) {
            for (const Rank rank : ids<Rank>(mapper.evaluator().rank_count()))
                slot_of_rank[rank.value] = mapper.evaluator().slot(rank).value;
        });
    };
}

/// The rows of a graph as arrays for the C interface.
struct GraphArrays {
    std::vector<std::uint64_t> first{0};
    std::vector<std::uint32_t> peers;
    std::vector<std::int64_t> bytes, messages;

    explicit GraphArrays(const CommGraph& graph) {
        for (const Rank u : ids<Rank>(graph.rank_count())) {
            for (const Edge edge : graph.sends(u)) {
                peers.push_back(edge.peer.value);
                bytes.push_back(edge.bytes.value);
                messages.push_back(edge.messages);
            }
            first.push_back(peers.size());
        }
    }
};

std::vector<std::uint32_t> call_mapper(std::uintptr_t address, const CommGraph& graph,
                                       const Allocation& allocation, const ObjectiveOrName& objective,
                                       const std::vector<const CommGraph*>& phases,
                                       const std::optional<Numbers>& background, const Integers& load,
                                       const Integers& capacity, bool shared, std::uint64_t seed,
                                       std::optional<double> seconds, std::optional<std::uint64_t> work,
                                       const std::optional<Progress>& progress) {
    const SlotUse use = shared ? SlotUse::shared : SlotUse::one_rank;
    const ObjectiveInput measured(resolve_objective(objective), phases, background);
    const std::vector<std::int64_t> loads = copy_elements<std::int64_t>(load, "load");
    const std::vector<std::int64_t> capacities = copy_elements<std::int64_t>(capacity, "capacity");
    if (loads.size() != graph.rank_count() || capacities.size() != allocation.slot_count())
        fail("give a load for each rank, and a capacity for each slot");
    SearchMonitor monitor(progress);
    return monitor.run([&] {
        const PhasedObjective wanted = measured.for_slot_use(graph, allocation, use);
        MapperContext context(graph, allocation, use, wanted, monitor);
        const GraphArrays rows(graph);
        std::vector<std::uint32_t> slots, nodes;
        for (const Slot slot : allocation.slots()) {
            slots.push_back(slot.value);
            nodes.push_back(allocation.machine().node(slot).value);
        }
        topoloom_mapper_problem problem{};
        problem.version = TOPOLOOM_MAPPER_VERSION;
        problem.ranks = graph.rank_count();
        problem.first = rows.first.data();
        problem.peers = rows.peers.data();
        problem.bytes = rows.bytes.data();
        problem.messages = rows.messages.data();
        problem.slots = slots.size();
        problem.slot = slots.data();
        problem.node = nodes.data();
        problem.capacity = capacities.data();
        problem.load = loads.data();
        problem.shared = shared ? 1 : 0;
        problem.machine = allocation.machine().text().c_str();
        problem.seed = seed;
        problem.seconds = seconds.value_or(std::numeric_limits<double>::infinity());
        problem.work = work.value_or(std::numeric_limits<std::uint64_t>::max());
        problem.context = &context;
        set_callbacks(problem);
        std::vector<std::uint32_t> slot_of_rank(graph.rank_count(), no_index);
        char error[256] = "";
        const auto mapper = reinterpret_cast<topoloom_mapper>(address);
        if (mapper(&problem, slot_of_rank.data(), error, sizeof error) == 0) return slot_of_rank;
        error[sizeof error - 1] = '\0';
        if (error[0] != '\0') throw Error(static_cast<const char*>(error));
        throw Error(context.problem().empty() ? "it failed without a message" : context.problem());
    });
}

}  // namespace

void bind_c_mapper(nb::module_& m) {
    m.def("call_mapper", &call_mapper, "address"_a, "graph"_a, "allocation"_a, nb::kw_only(), "objective"_a,
          "phases"_a, "background"_a.none(), "load"_a, "capacity"_a, "shared"_a, "seed"_a, "seconds"_a.none(),
          "work"_a.none(), "progress"_a.none(),
          "Calls the topoloom_mapper at this address and returns its slots. The address is not checked.");
}

}  // namespace topoloom::python
