// SPDX-License-Identifier: BSD-3-Clause
// Exposes the placement of experts to Python.
#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "search_monitor.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/experts/measure.hpp"
#include "topoloom/experts/place_experts.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

/// Layers as arrays: one row of loads per layer, and the same number of rows of token choices for every
/// layer.
struct LayerArrays {
    ArrayArgument<double, 2> loads;
    std::optional<ArrayArgument<std::int64_t, 2>> choices;

    [[nodiscard]] std::vector<ExpertLayer> list_layers() const {
        const std::span<const double> all = loads.values("loads");
        const std::span<const std::int64_t> tokens =
            choices ? choices->values("choices") : std::span<const std::int64_t>{};
        const std::size_t count = loads.size(0);
        const std::size_t columns = choices ? choices->size(1) : 0;
        if (count == 0) fail("there are no layers");
        if (columns > 0 && choices->size(0) % count != 0)
            fail(choices->size(0), " rows of choices cannot be divided equally among ", count, " layers");
        std::vector<ExpertLayer> layers;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t part = tokens.size() / count;
            layers.push_back(
                {all.subspan(i * loads.size(1), loads.size(1)), tokens.subspan(i * part, part), columns});
            layers.back().check();
        }
        return layers;
    }
};

ExpertDispatch select_dispatch(bool nearest) {
    return nearest ? ExpertDispatch::nearest : ExpertDispatch::spread;
}

nb::tuple place_experts(ArrayArgument<double, 2> loads, const Ids& nodes, std::size_t slots,
                        std::optional<ArrayArgument<std::int64_t, 2>> choices, bool nearest, double slack,
                        std::uint64_t seed, int threads) {
    check_threads(threads);
    const LayerArrays given{std::move(loads), std::move(choices)};
    const std::vector<ExpertLayer> layers = given.list_layers();
    const ExpertGpus gpus(nodes.values("nodes"), slots);
    std::vector<std::uint32_t> even;
    std::vector<std::uint32_t> best;
    {
        const nb::gil_scoped_release released;
        for (const auto& one : place_layers(layers, gpus, select_dispatch(nearest), slack, seed, threads)) {
            even.insert(even.end(), one.even.begin(), one.even.end());
            best.insert(best.end(), one.best.begin(), one.best.end());
        }
    }
    return nb::make_tuple(new_array(std::move(even), layers.size()),
                          new_array(std::move(best), layers.size()));
}

nb::object measure_experts(ArrayArgument<double, 2> loads, const Ids& nodes,
                           const ArrayArgument<std::uint32_t, 2>& held,
                           std::optional<ArrayArgument<std::int64_t, 2>> choices, bool nearest) {
    const LayerArrays given{std::move(loads), std::move(choices)};
    const std::vector<ExpertLayer> layers = given.list_layers();
    const std::span<const std::uint32_t> all = held.values("held");
    if (held.size(0) != layers.size())
        fail("held has ", held.size(0), " layers, but loads has ", layers.size());
    const std::span<const std::uint32_t> node = nodes.values("nodes");
    if (node.empty() || held.size(1) % node.size() != 0)
        fail(held.size(1), " slots cannot be divided equally among ", node.size(), " GPUs");
    const ExpertGpus gpus(node, held.size(1) / node.size());
    std::vector<double> rows;
    const nb::gil_scoped_release released;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const ExpertMeasures found = measure_experts(layers[i], gpus, select_dispatch(nearest),
                                                     all.subspan(i * held.size(1), held.size(1)));
        rows.insert(rows.end(), {found.visits, found.load_max, found.load_mean});
    }
    const nb::gil_scoped_acquire acquired;
    return new_array(std::move(rows), layers.size());
}

}  // namespace

void bind_experts(nb::module_& m) {
    m.def("place_experts", &place_experts, "loads"_a, "nodes"_a, "slots"_a, "choices"_a = nb::none(),
          nb::kw_only(), "nearest"_a = false, "slack"_a = 0.01, "seed"_a = 1, "threads"_a = 0,
          nb::sig("def place_experts(loads: numpy.typing.NDArray[numpy.floating] | "
                  "collections.abc.Sequence[collections.abc.Sequence[float]], nodes: "
                  "numpy.typing.NDArray[numpy.integer] | collections.abc.Sequence[int], slots: int, choices: "
                  "numpy.typing.NDArray[numpy.integer] | None = None, *, nearest: bool = False, slack: float "
                  "= 0.01, "
                  "seed: int = 1, threads: int = 0) -> tuple[numpy.typing.NDArray[numpy.uint32], "
                  "numpy.typing.NDArray[numpy.uint32]]"),
          "Places the experts of layers on GPUs: by loads alone, and for few visits of nodes.\n\n"
          "loads: of a layer in each row; nodes: of each GPU; slots: experts on a GPU; choices: experts of a "
          "token in "
          "each row, -1 for none, layer after layer, as many tokens for each. Both results have a row for "
          "each layer: "
          "the experts slot by slot, GPU by GPU. The second keeps within `slack` of the first's busiest GPU, "
          "and was "
          "found from every second token, the first included. Raises Error for invalid input.");
    m.def("measure_experts", &measure_experts, "loads"_a, "nodes"_a, "held"_a, "choices"_a = nb::none(),
          nb::kw_only(), "nearest"_a = false,
          nb::sig("def measure_experts(loads: numpy.typing.NDArray[numpy.floating] | "
                  "collections.abc.Sequence[collections.abc.Sequence[float]], nodes: "
                  "numpy.typing.NDArray[numpy.integer] | collections.abc.Sequence[int], held: "
                  "numpy.typing.NDArray[numpy.integer], choices: numpy.typing.NDArray[numpy.integer] | None "
                  "= None, *, "
                  "nearest: bool = False) -> numpy.typing.NDArray[numpy.float64]"),
          "Rows of a layer each: nodes beside its own that a token visits, or where there are no choices the "
          "share of "
          "tokens that leave their node; the load of the busiest GPU; the mean load of GPUs.\n\n"
          "held: experts slot by slot, a layer in each row; the rest as for `place_experts`.");
}

}  // namespace topoloom::python
