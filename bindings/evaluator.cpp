// SPDX-License-Identifier: BSD-3-Clause
// Exposes the incremental evaluation of placements, for searches written in Python.
#include "topoloom/place/evaluator.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "objectives.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/place/capacity.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// An evaluator that keeps the objects alive to which it refers.
class OwningEvaluator {
   public:
    OwningEvaluator(const CommGraph& graph, const Allocation& allocation, const Placement& placement,
                    const ObjectiveOrName& objective, const std::vector<const CommGraph*>& phases,
                    const std::optional<Numbers>& background)
        : measured_(resolve_objective(objective), phases, background) {
        for (const CommGraph* const phase : phases) phases_.push_back(nb::find(*phase));
        placement.require_compatible_with(allocation);
        if (placement.use() == SlotUse::shared && !graph.proxied().empty())
            fail(
                "an Evaluator counts every message, but this pattern sends through proxies where ranks share "
                "slots; judge whole placements instead");
        evaluator_.emplace(graph, allocation, placement,
                           measured_.for_slot_use(graph, allocation, placement.use()));
    }
    [[nodiscard]] Evaluator& operator*() { return *evaluator_; }
    [[nodiscard]] Evaluator* operator->() { return &*evaluator_; }

   private:
    ObjectiveInput measured_;
    std::vector<nb::object> phases_;
    std::optional<Evaluator> evaluator_;
};

constexpr std::size_t candidates_between_signals = 256;

/// Computes gain(first, second) for all candidates; a single number is paired with each element of the other
/// array.
template <class Gain>
nb::object compute_gains(const Ids& first, const Ids& second, const char* first_name, const char* second_name,
                         const Gain& gain) {
    const std::span<const std::uint32_t> a = first.values(first_name);
    const std::span<const std::uint32_t> b = second.values(second_name);
    if (first.is_single() && second.is_single()) return nb::cast(gain(a[0], b[0]));
    if (!first.is_single() && !second.is_single() && a.size() != b.size())
        fail(first_name, " has ", a.size(), " entries, but ", second_name, " has ", b.size(),
             "; give equally many");
    std::vector<double> gains(first.is_single() ? b.size() : a.size());
    for (std::size_t i = 0; i < gains.size(); ++i) {
        if (i % candidates_between_signals == candidates_between_signals - 1 && PyErr_CheckSignals() != 0)
            throw nb::python_error();
        gains[i] = gain(a[first.is_single() ? 0 : i], b[second.is_single() ? 0 : i]);
    }
    return new_array(std::move(gains));
}

nb::object slot_capacities(const CommGraph& graph, const Allocation& allocation,
                           const std::optional<Sharing>& sharing) {
    const Capacity capacity(graph, allocation, sharing.value_or(Sharing{}));
    return nb::make_tuple(new_array(std::vector(capacity.masses().begin(), capacity.masses().end())),
                          new_array(std::vector(capacity.capacities().begin(), capacity.capacities().end())));
}

}  // namespace

/// Makes a method that computes the gains of many candidates.
template <auto gain>
auto gains_by(const char* first, const char* second) {
    return [first, second](OwningEvaluator& e, const Ids& a, const Ids& b) {
        return compute_gains(a, b, first, second,
                             [&](std::uint32_t one, std::uint32_t other) { return gain(*e, one, other); });
    };
}

double compute_swap_gain(Evaluator& e, std::uint32_t a, std::uint32_t b) {
    return e.gain_of_exchange(Rank{a}, Rank{b});
}
double compute_move_gain(Evaluator& e, std::uint32_t rank, std::uint32_t slot) {
    return e.gain_of_move(Rank{rank}, Slot{slot});
}

#define TOPOLOOM_IDS "numpy.typing.NDArray[numpy.integer] | Sequence[int]"
#define TOPOLOOM_GAINS ") -> numpy.typing.NDArray[numpy.float64]"

void bind_evaluator(nb::module_& m) {
    nb::class_<OwningEvaluator>(
        m, "Evaluator",
        "A placement whose objective value is updated incrementally, and which computes gains of changes.")
        .def(nb::init<const CommGraph&, const Allocation&, const Placement&, const ObjectiveOrName&,
                      const std::vector<const CommGraph*>&, const std::optional<Numbers>&>(),
             "graph"_a, "allocation"_a, "placement"_a, nb::kw_only(), "objective"_a = NamedObjective("auto"),
             "phases"_a = std::vector<const CommGraph*>{}, "background"_a = nb::none(),
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
             "Starts from a placement, in which ranks may share slots. Capacities are not checked. "
             "Objective,\n"
             "phases and background are as for `topoloom.place`.")
        .def_prop_ro(
            "value", [](OwningEvaluator& e) { return e->value(); },
            "The value of the objective, equal to that of `objective_value`.")
        .def_prop_ro(
            "placement", [](OwningEvaluator& e) { return e->placement(); },
            "A copy of the current placement.")
        .def(
            "gain_of_swap",
            [](OwningEvaluator& e, std::uint32_t rank_a, std::uint32_t rank_b) {
                return compute_swap_gain(*e, rank_a, rank_b);
            },
            "rank_a"_a, "rank_b"_a,
            "Computes by how much the value falls if two ranks exchange slots; negative: it rises.")
        .def("gain_of_swap", gains_by<compute_swap_gain>("rank_a", "rank_b"), "rank_a"_a, "rank_b"_a,
             nb::sig("def gain_of_swap(self, rank_a: " TOPOLOOM_IDS ", rank_b: " TOPOLOOM_IDS
                     " | int" TOPOLOOM_GAINS),
             "The same for many independent candidates: arrays of equal length, or one rank for all.")
        .def("gain_of_swap", gains_by<compute_swap_gain>("rank_a", "rank_b"), "rank_a"_a, "rank_b"_a,
             nb::sig("def gain_of_swap(self, rank_a: int, rank_b: " TOPOLOOM_IDS TOPOLOOM_GAINS),
             "The same for one rank and each element of an array.")
        .def(
            "gain_of_move",
            [](OwningEvaluator& e, std::uint32_t rank, std::uint32_t slot) {
                return compute_move_gain(*e, rank, slot);
            },
            "rank"_a, "slot"_a,
            "Computes by how much the value falls if a rank moves to a slot, which must be free unless "
            "ranks\n"
            "share slots; negative: it rises.")
        .def("gain_of_move", gains_by<compute_move_gain>("rank", "slot"), "rank"_a, "slot"_a,
             nb::sig("def gain_of_move(self, rank: " TOPOLOOM_IDS ", slot: " TOPOLOOM_IDS
                     " | int" TOPOLOOM_GAINS),
             "The same for many independent candidates: arrays of equal length, or one slot for all.")
        .def("gain_of_move", gains_by<compute_move_gain>("rank", "slot"), "rank"_a, "slot"_a,
             nb::sig("def gain_of_move(self, rank: int, slot: " TOPOLOOM_IDS TOPOLOOM_GAINS),
             "The same for one rank and each element of an array.")
        .def(
            "swap",
            [](OwningEvaluator& e, std::uint32_t a, std::uint32_t b) { e->exchange(Rank{a}, Rank{b}); },
            "rank_a"_a, "rank_b"_a, "Exchanges the slots of two ranks.")
        .def(
            "move",
            [](OwningEvaluator& e, std::uint32_t rank, std::uint32_t slot) {
                e->move(Rank{rank}, Slot{slot});
            },
            "rank"_a, "slot"_a, "Moves a rank to a slot, which must be free unless ranks share slots.")
        .def(
            "undo", [](OwningEvaluator& e) { e->undo(); },
            "Reverts the last swap or move; earlier ones cannot be reverted.");
    m.def(
        "slot_capacities", &slot_capacities, "graph"_a, "allocation"_a, "sharing"_a = nb::none(),
        nb::sig(
            "def slot_capacities(graph: CommGraph, allocation: Allocation, sharing: Sharing | None = None) "
            "-> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
        "Computes integer loads of ranks, and capacities of the slots of the allocation. All are 1 if ranks\n"
        "do not share slots.");
}

#undef TOPOLOOM_IDS
#undef TOPOLOOM_GAINS

}  // namespace topoloom::python
