// SPDX-License-Identifier: BSD-3-Clause
// Exposes message combining to Python: closed-form predicted times, and the peers of ranks on virtual meshes.
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "bindings.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/schedule/collectives/virtual_mesh.hpp"
#include "topoloom/schedule/cost/combining_cost.hpp"

namespace topoloom::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

CombiningStrategy parse_combining(std::string_view name) {
    constexpr std::array<std::string_view, 4> names{"direct", "mesh", "grid", "hypercube"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<CombiningStrategy>(i);
    }
    throw Error(unknown_name_message("strategy", std::string(name), {names.begin(), names.end()}));
}

FormulaVariant select_reading(bool printed) {
    return printed ? FormulaVariant::printed : FormulaVariant::counted;
}

VirtualMesh make_mesh(std::size_t ranks, int axes) {
    if (ranks == 0 || ranks >= std::size_t{1} << 31) fail(ranks, " ranks; there must be 1 to 2147483647");
    if (axes != 2 && axes != 3) fail("a virtual mesh of ", axes, " axes; there are 2 or 3");
    return {ranks, axes};
}

}  // namespace

void bind_message_combining(nb::module_& m) {
    nb::class_<CombiningCosts>(m, "CombiningCosts", "Seconds per message and per byte.")
        .def(
            "__init__",
            [](CombiningCosts* costs, double alpha, double beta, double gamma, double beta_em, double delta) {
                new (costs) CombiningCosts{alpha, beta, gamma, beta_em, delta};
            },
            nb::kw_only(), "alpha"_a = 0.0, "beta"_a = 0.0, "gamma"_a = 0.0, "beta_em"_a = 0.0,
            "delta"_a = 0.0,
            "alpha per message; beta per byte sent, gamma copied, beta_em sent from NIC memory, delta copied "
            "there.");
    m.def(
        "alltoall_time",
        [](std::string_view strategy, std::size_t ranks, double bytes, const CombiningCosts& costs,
           bool printed) {
            return alltoall_time(parse_combining(strategy), ranks, bytes, costs, select_reading(printed));
        },
        "strategy"_a, "ranks"_a, "bytes"_a, "costs"_a, nb::kw_only(), "printed"_a = false,
        "Predicts the seconds of an alltoall with bytes per pair. Strategies: direct, mesh, grid, "
        "hypercube.");
    m.def(
        "allgather_time",
        [](std::string_view strategy, std::size_t ranks, double bytes, const CombiningCosts& costs,
           bool printed) {
            return allgather_time(parse_combining(strategy), ranks, bytes, costs, select_reading(printed));
        },
        "strategy"_a, "ranks"_a, "bytes"_a, "costs"_a, nb::kw_only(), "printed"_a = false,
        "Predicts the seconds of an allgather with bytes per rank.");
    m.def(
        "nic_allgather_time",
        [](std::string_view strategy, std::size_t ranks, double bytes, const CombiningCosts& costs,
           unsigned direct, bool printed) {
            return nic_allgather_time(parse_combining(strategy), ranks, bytes, costs, direct,
                                      select_reading(printed));
        },
        "strategy"_a, "ranks"_a, "bytes"_a, "costs"_a, nb::kw_only(), "direct"_a = 0, "printed"_a = false,
        "Predicts the same for sends from NIC memory; the last `direct` dimensions of a hypercube are "
        "one round.");
    m.def("relay_allgather_time", &relay_allgather_time, "ranks"_a, "k"_a, "bytes"_a, "costs"_a,
          "Predicts the same for k-prefix or k-shift.");
    m.def(
        "many_to_many_time",
        [](std::string_view strategy, std::size_t ranks, double degree, double bytes,
           const CombiningCosts& costs, bool printed) {
            return many_to_many_time(parse_combining(strategy), ranks, degree, bytes, costs,
                                     select_reading(printed));
        },
        "strategy"_a, "ranks"_a, "degree"_a, "bytes"_a, "costs"_a, nb::kw_only(), "printed"_a = false,
        "Predicts the seconds of a many-to-many with bytes to each of `degree` ranks.");
    m.def(
        "virtual_mesh_receivers",
        [](std::size_t ranks, int axes, std::uint32_t rank) {
            const VirtualMesh mesh = make_mesh(ranks, axes);
            if (rank >= ranks) fail("rank ", rank, " is none of 0 to ", ranks - 1);
            std::vector<std::vector<std::uint32_t>> receivers(mesh.rounds());
            for (std::uint64_t round = 0; round < mesh.rounds(); ++round) {
                mesh.each_receiver(mesh.cell(Rank{rank}), mesh.axis(round),
                                   [&](const VirtualMesh::Cell& to, const VirtualMesh::Cell&) {
                                       receivers[round].push_back(mesh.rank(to).value);
                                   });
            }
            return receivers;
        },
        "ranks"_a, "axes"_a, "rank"_a,
        "By round: the receivers of a rank on a virtual mesh of 2 or 3 axes, with substitutes for holes.");
}

}  // namespace topoloom::python
