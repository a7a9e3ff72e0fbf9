// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/strategy/cost_basis.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/machine/text/machine_text.hpp"
#include "topoloom/schedule/cost/cost.hpp"
#include "topoloom/strategy/machine_file.hpp"
#include "topoloom/strategy/placement_file.hpp"

namespace topoloom {

namespace {

/// The model of models/hdr.toml.
NetworkModel default_model() {
    return NetworkModel::regimes({{562.6e-9, 0.2085e-9, 64},
                                  {610.4e-9, 0.1183e-9, 2047},
                                  {424.4e-9, 0.1268e-9, 32767},
                                  {477.2e-9, 0.04696e-9}},
                                 {.latency = 637e-9, .gamma = 0.1e-9, .node_beta = 1 / 25e9});
}

/// Raises the receive overhead to at least the send overhead, so that fan-in costs as much as fan-out.
/// Changes only models without receive overhead; the cost of an exchange stays the same.
NetworkModel add_receive_costs(const NetworkModel& model) {
    MessageCosts costs = model.costs();
    if (costs.receive_cpu > 0 || costs.receive_cpu_per_byte > 0) return model;
    costs.receive_cpu = model.time(Bytes{0}) / 2;
    costs.send_cpu = std::max(costs.send_cpu, costs.receive_cpu);
    costs.receive_cpu_per_byte = model.lines().back().beta;
    return model.with_costs(costs);
}

/// Calls read(); prefixes the messages of its errors with `name`.
template <class Read>
auto read_named(std::string_view name, const Read& read) {
    try {
        return read();
    } catch (const Error& error) {
        fail(name, ": ", error.what());
    }
}

/// By rank: the first slot of its node. Locations are node numbers.
std::vector<Slot> find_first_slots_of_nodes(const Machine& machine, const Setting& setting) {
    std::vector<Slot> slots;
    for (std::size_t rank = 0; rank < setting.ranks; ++rank) {
        const std::int64_t node =
            setting.locations.empty() ? static_cast<std::int64_t>(rank) : setting.locations[rank];
        if (node < 0) fail("the machine file: no line 'node NUMBER HOST' names the host of rank ", rank);
        if (static_cast<std::uint64_t>(node) >= machine.node_count())
            fail("rank ", rank, " is on node ", node, ", but the machine has ", machine.node_count(),
                 " nodes");
        slots.push_back(machine.slot(Node{static_cast<std::size_t>(node)}, 0));
    }
    return slots;
}

/// By rank: its slot in a placement. Locations are ranks of the placement.
std::vector<Slot> find_slots_of_placement(const Machine& machine, const Setting& setting,
                                          const PlacementFile& placement) {
    std::vector<Slot> slots;
    for (std::size_t rank = 0; rank < setting.ranks; ++rank) {
        const std::int64_t there =
            setting.locations.empty() ? static_cast<std::int64_t>(rank) : setting.locations[rank];
        if (there < 0 || static_cast<std::uint64_t>(there) >= placement.slots.size())
            fail("the placement has ", placement.slots.size(), " ranks; rank ", rank,
                 " of the communicator is not one of them");
        const Slot slot{placement.slots[static_cast<std::size_t>(there)]};
        if (slot.value >= machine.slot_count())
            fail("the placement: rank ", there, " is on slot ", slot.value, ", but '", machine.text(),
                 "' has ", machine.slot_count());
        slots.push_back(slot);
    }
    return slots;
}

/// By rank: its node. Ranks with equal locations share a node; each -1 is a separate node. Nodes are numbered
/// in order of appearance.
std::vector<std::size_t> number_nodes(const Setting& setting) {
    std::vector<std::size_t> groups;
    std::map<std::int64_t, std::size_t> known;
    std::size_t count = 0;
    for (std::size_t rank = 0; rank < setting.ranks; ++rank) {
        const std::int64_t location = setting.locations.empty() ? -1 : setting.locations[rank];
        groups.push_back(location < 0 ? count : known.try_emplace(location, count).first->second);
        count += groups.back() == count;
    }
    return groups;
}

void check_machine(const Machine& machine, const std::vector<Slot>& slots) {
    if (machine.link_count() > 0 && !machine.has_bandwidths())
        fail("the links of '", machine.text(),
             "' have no bandwidth; add one, as in torus:8x8x8,bandwidth=10GB/s");
    std::set<Node> nodes;
    for (const Slot slot : slots) nodes.insert(machine.node(slot));
    machine.require_usable(std::vector<Node>(nodes.begin(), nodes.end()), "the job");
}

std::size_t count_nodes(const Machine& machine, const std::vector<Slot>& slots) {
    std::set<Node> nodes;
    for (const Slot slot : slots) nodes.insert(machine.node(slot));
    return nodes.size();
}

CostBasis make_basis_on_machine(const Setting& setting, std::string_view text,
                                std::optional<NetworkModel> model,
                                const std::optional<PlacementFile>& placement) {
    auto machine =
        std::make_shared<const Machine>(read_named("the machine", [&] { return make_machine(text); }));
    std::vector<Slot> slots = placement ? find_slots_of_placement(*machine, setting, *placement)
                                        : find_first_slots_of_nodes(*machine, setting);
    if (!model && !machine->node_spec().startup) model = default_model();
    CostBasis basis = cost_basis_on(std::move(machine), std::move(slots), std::move(model));
    basis.placement_is_given = placement.has_value();
    return basis;
}

CostBasis make_basis_without_machine(const Setting& setting, const NetworkModel& model) {
    const std::vector<std::size_t> groups = number_nodes(setting);
    const std::size_t nodes = std::set<std::size_t>(groups.begin(), groups.end()).size();
    CostBasis basis{add_receive_costs(model), nullptr, {}, nodes, false};
    if (nodes == 1 || nodes == setting.ranks) return basis;
    // The model limits only injection into the network; links between nodes are unlimited.
    basis.machine = std::make_shared<const Machine>(
        make_machine("tree:" + std::to_string(nodes) + ",bandwidth=1000GB/s"));
    for (const std::size_t group : groups) basis.slots.push_back(basis.machine->slot(Node{group}, 0));
    return basis;
}

}  // namespace

std::vector<std::size_t> CostBasis::node_of_rank(std::size_t ranks) const {
    std::vector<std::size_t> found;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        found.push_back(nodes == 1 ? 0 : machine == nullptr ? rank : machine->node(slots[rank]).value);
    return found;
}

CostBasis cost_basis_on(std::shared_ptr<const Machine> machine, std::vector<Slot> slots,
                        std::optional<NetworkModel> model) {
    check_machine(*machine, slots);
    const std::size_t nodes = count_nodes(*machine, slots);
    const NetworkModel known = add_receive_costs(model ? *model : machine_model(*machine));
    return {known, std::move(machine), std::move(slots), nodes, true};
}

CostBasis cost_basis_apart(std::size_t ranks, const NetworkModel& model) {
    if (ranks == 0) fail("there are no ranks");
    return {add_receive_costs(model), nullptr, {}, ranks, false};
}

CostBasis find_cost_basis(const Setting& setting) {
    if (setting.ranks == 0) fail("there are no ranks");
    MachineFile file = read_named("the machine file", [&] { return read_machine_file(setting.machine); });
    std::optional<PlacementFile> placement;
    if (!setting.placement.empty())
        placement = read_named("the placement", [&] { return read_placement_file(setting.placement); });
    if (placement && !file.machine.empty() &&
        make_machine(file.machine).text() != make_machine(placement->machine).text())
        fail("the placement is for the machine '", placement->machine, "', the machine file says '",
             file.machine, "'");
    const std::string& machine = placement ? placement->machine : file.machine;
    if (machine.empty())
        return make_basis_without_machine(setting, file.model ? *file.model : default_model());
    return make_basis_on_machine(setting, machine, file.model, placement);
}

}  // namespace topoloom
