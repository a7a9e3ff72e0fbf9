// SPDX-License-Identifier: BSD-3-Clause
// Exposes to Python: rank orders for binomial trees, groups in a cost matrix, and collectives along lines of
// grids.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "arrays.hpp"
#include "bindings.hpp"
#include "topoloom/base/error.hpp"
#include "topoloom/schedule/collectives/binomial.hpp"
#include "topoloom/schedule/collectives/chain.hpp"
#include "topoloom/schedule/cost/grid_lines.hpp"
#include "topoloom/schedule/orders/binomial_order.hpp"

namespace topoloom::python {

using namespace nb::literals;

namespace {

using Costs = ArrayArgument<double, 2>;

CostMatrix make_cost_matrix(const Costs& costs) {
    const std::span<const double> values = costs.values("costs");
    if (costs.size(0) != costs.size(1))
        fail("costs are of ", costs.size(0), " by ", costs.size(1),
             " processes; give as many rows as columns");
    return {costs.size(0), {values.begin(), values.end()}};
}

ChannelSharing parse_sharing(std::string_view name) {
    constexpr std::array<std::string_view, 4> names{"growing", "printed", "node", "independent"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<ChannelSharing>(i);
    }
    throw Error(unknown_name_message("reading", std::string(name), {names.begin(), names.end()}));
}

using Message = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;

template <class Line>
std::vector<std::vector<Message>> messages_on_lines(const Extents& extents, Operation operation, Bytes bytes,
                                                    Rank root, std::uint64_t pieces) {
    std::vector<Line> lines;
    for (const std::uint32_t extent : extents)
        lines.emplace_back(Collective(operation, extent, bytes, root, pieces));
    const GridLines grid(std::move(lines));
    std::vector<std::vector<Message>> rounds(grid.rounds());
    for (std::uint64_t round = 0; round < grid.rounds(); ++round) {
        for (const Rank from : ids<Rank>(grid.ranks())) {
            grid.sends(from, round, [&](Rank to, Bytes size) {
                rounds[round].emplace_back(from.value, to.value, size.value);
            });
        }
    }
    return rounds;
}

}  // namespace

void bind_tree_and_grid_orders(nb::module_& m) {
    nb::class_<Sample>(m, "CostSample", "A sample of costs without outliers far above the median.")
        .def_ro("mean", &Sample::mean)
        .def_ro("sigma", &Sample::sigma, "The standard deviation, with n - 1.")
        .def_ro("n", &Sample::count, "The size of the sample without outliers.")
        .def_ro("outliers", &Sample::outliers, "The number of outliers.");
    nb::class_<CostGroup>(m, "CostGroup", "A group of processes.")
        .def_prop_ro(
            "members",
            [](const CostGroup& group) {
                std::vector<std::uint32_t> members;
                for (const Rank member : group.members) members.push_back(member.value);
                return members;
            },
            "The processes of the group, ascending.")
        .def_ro("inside", &CostGroup::inside, "Costs of messages inside the group.")
        .def_ro("into", &CostGroup::into, "Costs of messages from the sibling groups.")
        .def_prop_ro(
            "t", [](const CostGroup& group) { return group.test.t; },
            "Student's t of the incoming against the inner costs, with pooled variance.")
        .def_prop_ro(
            "p", [](const CostGroup& group) { return group.test.p(); },
            "The two-sided probability of that t for equal means.")
        .def_ro("chance", &CostGroup::chance,
                "Upper bound of the probability of finding these subgroups if the group is homogeneous; "
                "1 if there are none.")
        .def_ro("groups", &CostGroup::groups, "The subgroups; none if it is homogeneous.");
    nb::class_<CostGroups>(m, "CostGroups", "Groups of processes with low costs inside.")
        .def_ro("of", &CostGroups::of, "The outermost group of each process, numbered by lowest process.")
        .def_ro("count", &CostGroups::count, "The number of outermost groups.")
        .def_ro("chance", &CostGroups::chance,
                "Upper bound of the probability of finding these groups if all processes are alike; 1 "
                "for one group.")
        .def_ro("groups", &CostGroups::groups, "The outermost groups; none if all processes are alike.");
    m.def(
        "find_cost_groups",
        [](const Costs& costs, double significance) {
            return find_cost_groups(make_cost_matrix(costs), significance);
        },
        "costs"_a, nb::kw_only(), "significance"_a = 0.01,
        "Finds groups of processes by the seconds of messages between them: costs[from, to]. The "
        "significance bounds the probability of splitting processes that are alike.");
    m.def(
        "group_costs",
        [](const Costs& costs, const CostGroups& groups, double significance) {
            const CostMatrix found = group_costs(make_cost_matrix(costs), groups, significance);
            std::vector<double> seconds;
            for (const Rank from : ids<Rank>(found.size())) {
                for (const Rank to : ids<Rank>(found.size())) seconds.push_back(found(from, to));
            }
            return new_array(std::move(seconds), found.size());
        },
        "costs"_a, "groups"_a, nb::kw_only(), "significance"_a = 0.01,
        nb::sig("def group_costs(costs: numpy.typing.NDArray[numpy.integer] | "
                "numpy.typing.NDArray[numpy.floating] | Sequence[Sequence[float]], groups: CostGroups, *, "
                "significance: float = 0.01) -> "
                "numpy.typing.NDArray[numpy.float64]"),
        "Replaces each cost by the mean, without outliers, of its two groups or of its homogeneous group. "
        "Means that do not differ at this significance are pooled.");
    m.def(
        "binomial_order",
        [](const Costs& costs, std::string_view method, std::uint32_t root, std::uint32_t channels,
           std::uint64_t seed) {
            std::vector<std::uint32_t> order;
            for (const Rank process : binomial_order(make_cost_matrix(costs), parse_binomial_order(method),
                                                     Rank{root}, channels, seed))
                order.push_back(process.value);
            return order;
        },
        "costs"_a, "method"_a, nb::kw_only(), "root"_a = 0, "channels"_a = 1, "seed"_a = 1,
        "Chooses the process at each position of a binomial tree. Methods: standard, "
        "fastest-edge-first, channel-aware, random.");
    m.def(
        "binomial_scatter_steps",
        [](const Costs& costs, const Ids& order, std::uint32_t channels, const CostGroups* groups,
           std::string_view reading) {
            const CostMatrix matrix = make_cost_matrix(costs);
            if (groups != nullptr && groups->of.size() != matrix.size())
                fail("groups of ", groups->of.size(), " processes, but costs of ", matrix.size());
            return binomial_scatter_steps(matrix, groups != nullptr ? *groups : find_cost_groups(matrix),
                                          elements<Rank>(order, "order"), channels, parse_sharing(reading));
        },
        "costs"_a, "order"_a, nb::kw_only(), "channels"_a = 1, "groups"_a = nb::none(),
        "reading"_a = "growing",
        "Predicts the seconds of each step of a binomial scatter, with costs per block. Without groups it "
        "calls find_cost_groups(). Readings: "
        "growing, messages of a step within a group share one channel and those between the same two groups "
        "all, and each more adds half the bandwidth of one; printed, those within a group share all too, and "
        "more add nothing; node, all of them share all, and each more adds half; independent, none share.");
    m.def(
        "grid_line_messages",
        [](const Extents& extents, std::string_view operation, std::int64_t bytes, std::uint32_t root,
           std::uint64_t pieces) {
            if (extents.empty() || cell_count(extents) == 0 || cell_count(extents) >= std::uint64_t{1} << 31)
                fail("a grid of ", format_extents(extents), " ranks; there must be 1 to 2147483647");
            const Operation does = parse_operation(operation);
            if (does != Operation::bcast && does != Operation::reduce && does != Operation::scatter &&
                does != Operation::gather)
                fail("lines support bcast, reduce, scatter and gather, not ", operation);
            return pieces == 0 ? messages_on_lines<Binomial>(extents, does, Bytes{bytes}, Rank{root}, 1)
                               : messages_on_lines<Chain>(extents, does, Bytes{bytes}, Rank{root}, pieces);
        },
        "extents"_a, "operation"_a, "bytes"_a, nb::kw_only(), "root"_a = 0, "pieces"_a = 0,
        "Lists (from, to, bytes) by round for a bcast, reduce, scatter or gather along all lines of an "
        "axis at once, axis after axis. Lines are binomial trees, or chains if there are pieces.");
}

}  // namespace topoloom::python
