// SPDX-License-Identifier: BSD-3-Clause
// Setup and event loop of the crosspoint network.
#include "topoloom/network/crosspoint/crosspoint_network.hpp"

#include <string>

#include "topoloom/base/error.hpp"
#include "topoloom/base/memory.hpp"

namespace topoloom {

namespace {

std::uint32_t longest_delay(const SwitchOptions& options, std::span<const ChannelTimes> times) {
    return times.empty() ? options.channel : std::ranges::max(times, {}, &ChannelTimes::delay).delay;
}

std::uint32_t longest_period(std::span<const ChannelTimes> times, const CombineOptions& combine) {
    const std::uint32_t of_channels =
        times.empty() ? ChannelTimes::cycle : std::ranges::max(times, {}, &ChannelTimes::period).period;
    return std::max(of_channels, combine.period);
}

const SwitchOptions& require_crosspoints(const SwitchOptions& options, const CombineOptions& combine,
                                         std::uint32_t longest_packet) {
    if (options.buffer < longest_packet)
        fail("the buffer of a crosspoint, ", options.buffer, " flits, cannot hold a packet of ",
             longest_packet, "; enlarge it");
    require_switch_options(options, longest_packet);
    if (options.allocator != Allocator::islip || options.iterations > 1)
        fail(
            "output-queued switches have no allocator and no iterations; choose input-queued or voq "
            "switches");
    if (options.allow_deadlock)
        fail("deadlocks can be detected only in input-queued switches; choose input-queued or voq switches");
    if (combine.units < 1 || combine.units > 64)
        fail("a switch has 1 to 64 combining units, not ", combine.units);
    if (combine.period < 1 || combine.period > CombineOptions::longest)
        fail("the time of a combining unit per flit must be 1 to ", CombineOptions::longest,
             " parts of a cycle, not ", combine.period);
    return options;
}

/// Returns the maximum number of packets in buffers, in flight to nodes, in NICs and in incomplete
/// operations.
std::size_t max_packets(const Fabric& fabric, const GroupTrees& trees, const SwitchOptions& options,
                        std::uint32_t room, std::uint32_t delay) {
    std::size_t windows = fabric.channel_count() * options.vcs;
    for (const TreeVertex& vertex : trees.vertices()) windows += 3 * vertex.branches.size();
    return windows * room + fabric.channel_count() * (delay + std::size_t{2}) + fabric.node_count();
}

/// Whether multicasts may share buffers with other packets.
bool can_share_buffers(const Paths& paths, const GroupTrees& trees, std::span<const SwitchGroup> groups) {
    const auto is_multicast = [](const SwitchGroup& group) {
        return group.collective == SwitchCollective::multicast;
    };
    if (groups.empty()) return true;
    if (paths.class_count() > 1 || !std::ranges::all_of(groups, is_multicast)) return false;
    Turns turns = paths.turns();
    trees.add_turns(turns);
    return break_cycles(turns, [](ChannelId, ChannelId) { return false; }).circle.empty();
}

}  // namespace

CrosspointNetwork::CrosspointNetwork(const Fabric& fabric, const Paths& paths, Workload& workload,
                                     const SwitchOptions& options, std::uint64_t seed,
                                     std::span<const ChannelTimes> times, std::span<const SwitchGroup> groups,
                                     const CombineOptions& combine)
    : fabric_(fabric),
      paths_(paths),
      workload_(workload),
      options_(require_crosspoints(options, combine, workload.longest_packet())),
      combine_(combine),
      vcs_(options.vcs),
      longest_packet_(workload.longest_packet()),
      room_(options.buffer / longest_packet_),
      inside_(options.routing + options.crossing),
      classed_{options.vcs},
      trees_(fabric, groups),
      packets_(paths.max_path_length(),
               max_packets(fabric, trees_, options, room_, longest_delay(options, times)), 1),
      choices_(seed, 2 * fabric.node_count()),
      calendar_(longest_delay(options, times) + inside_ + 2 +
                std::uint64_t{longest_packet_} * longest_period(times, combine) / ChannelTimes::cycle) {
    if (paths.escape_classes() > 0)
        fail("adaptive routing on '", fabric.machine().text(),
             "' needs escape channels, which output-queued switches do not have; choose the machine's own "
             "routing ('own'), or input-queued switches");
    paths.require_classes(vcs_);
    const auto combines = [](const SwitchGroup& group) {
        return group.collective != SwitchCollective::multicast;
    };
    if (has_input_queues() && (std::ranges::any_of(groups, combines) || paths.next_hops() != nullptr))
        fail(
            "switches with input queues support neither reductions nor adaptive routing; choose switches "
            "with "
            "crosspoints, or the machine's own routing");
    require_channel_times(times, fabric.channel_count());
    set_times(times);
    number_windows(can_share_buffers(paths, trees_, groups));
    number_ports();
    number_queues();
    node_of_.resize(fabric.channel_count(), Node::none);
    const NodeChannels node_channels(fabric);
    for (const Node node : ids<Node>(fabric.node_count())) {
        for (const ChannelId entry : node_channels.entries[node.value]) node_of_[entry.value] = node;
        senders_.push_back({Rng(seed, fabric.node_count() + node.value), workload.next(node)});
        wake_sender(node.value);
    }
    received_.by_latency.assign(ReceivedPackets::max_cycles, 0);
}

void CrosspointNetwork::set_times(std::span<const ChannelTimes> times) {
    for (const ChannelId id : ids<ChannelId>(fabric_.channel_count())) {
        const ChannelTimes own = times.empty() ? ChannelTimes{.delay = options_.channel} : times[id.value];
        delay_.push_back(own.delay);
        period_.push_back(own.period);
    }
    taken_until_.resize(fabric_.channel_count());
    carried_.resize(fabric_.channel_count());
}

void CrosspointNetwork::number_windows(bool shares) {
    for (const ChannelId id : ids<ChannelId>(fabric_.channel_count()))
        channel_of_.insert(channel_of_.end(), vcs_, id);
    ports_.assign(fabric_.router_count(), {.lanes = vcs_});
    if (shares) return;
    auto next = static_cast<std::uint32_t>(channel_of_.size());
    for (std::uint32_t group = 0; group < trees_.group_count(); ++group)
        next = trees_.assign_windows(group, next);
    channel_of_.resize(next);
    for (TreeVertex& vertex : trees_.vertices()) {
        vertex.lane = ports_[vertex.router].lanes++;
        for (const TreeBranch& branch : vertex.branches)
            if (branch.window != no_index) channel_of_[branch.window] = branch.out;
    }
    for (std::uint32_t group = 0; group < trees_.group_count(); ++group)
        for (const Node member : trees_.members(group)) {
            const TreeEntry& entry = trees_.entry(group, member);
            channel_of_[entry.window] = entry.channel;
        }
}

void CrosspointNetwork::number_ports() {
    for (TreeVertex& vertex : trees_.vertices())
        if (trees_.collective(vertex.group) != SwitchCollective::multicast) set_combiners(vertex);
    for (std::uint32_t router = 0; router < fabric_.router_count(); ++router) {
        RouterPorts& ports = ports_[router];
        ports.first_unit = static_cast<std::uint32_t>(router_of_unit_.size());
        if (ports.units > 0) router_of_unit_.insert(router_of_unit_.end(), ports.units, router);
    }
    credits_.assign(channel_of_.size(), room_);
    for (const ChannelId channel : channel_of_)
        if (!fabric_.channel(channel).is_exit()) flits_room_ += std::uint64_t{room_} * longest_packet_;
}

/// Distributes the inputs evenly over the units below the root unit. Omits the root unit if a single unit has
/// all inputs. Omits all units if only one branch delivers packets.
void CrosspointNetwork::set_combiners(TreeVertex& vertex) {
    const auto inputs = static_cast<std::uint32_t>(fabric_.inputs_of(vertex.router).size());
    const std::uint32_t first = fabric_.first_input(vertex.router), leaves = std::max(combine_.units - 1, 1U);
    std::vector<std::uint32_t> of_leaf(leaves, no_index);
    std::uint32_t parts = 0;
    const auto operations = [&] { return std::vector<Combiner::Operation>(room_); };
    for (std::uint32_t b = 0; b < vertex.branches.size(); ++b) {
        if (b == vertex.up) continue;
        TreeBranch& branch = vertex.branches[b];
        const std::uint32_t input = fabric_.channel(branch.in).input - first;
        const std::uint32_t leaf = input * leaves / inputs;
        if (of_leaf[leaf] == no_index) {
            of_leaf[leaf] = static_cast<std::uint32_t>(vertex.combiners.size());
            vertex.combiners.push_back({.unit = leaf, .table = operations()});
        }
        branch.combiner = of_leaf[leaf];
        ++vertex.combiners[branch.combiner].needed;
        ++parts;
    }
    if (parts < 2) {
        vertex.combiners.clear();
        return;
    }
    ports_[vertex.router].units = combine_.units;
    const auto used = static_cast<std::uint32_t>(vertex.combiners.size());
    if (used == 1) return;
    for (Combiner& combiner : vertex.combiners) combiner.above = used;
    vertex.combiners.push_back({.unit = combine_.units - 1, .needed = used, .table = operations()});
}

void CrosspointNetwork::number_queues() {
    constexpr std::size_t word = 64;
    sinks_.resize(fabric_.output_count() + router_of_unit_.size());
    std::size_t queues = 0, words = 0;
    for (std::uint32_t sink = 0; sink < sinks_.size(); ++sink) {
        Sink& one = sinks_[sink];
        const auto outputs = static_cast<std::uint32_t>(fabric_.output_count());
        one.router = is_unit(sink) ? router_of_unit_[sink - outputs]
                                   : fabric_.channel(fabric_.channel_at_output(sink)).from;
        const RouterPorts& ports = ports_[one.router];
        const auto inputs = static_cast<std::uint32_t>(fabric_.inputs_of(one.router).size());
        one.requesters = (inputs + ports.units) * ports.lanes;
        one.first_queue = queues;
        one.first_word = words;
        queues += one.requesters;
        words += (one.requesters + word - 1) / word;
    }
    const std::uint64_t needed = queues * sizeof(Queue);
    if (needed > usable_memory())
        fail("the crosspoints of ", fabric_.router_count(), " switches take ", needed >> 20,
             " MiB, more than the available memory; choose switches with fewer ports, or fewer groups");
    queues_.resize(queues);
    if (has_input_queues()) number_input_queues();
    filled_.resize(words);
}

void CrosspointNetwork::number_input_queues() {
    std::uint32_t lines = 0;
    for (std::uint32_t router = 0; router < fabric_.router_count(); ++router) {
        ports_[router].first_input_queue = lines;
        lines += static_cast<std::uint32_t>(fabric_.inputs_of(router).size()) * ports_[router].lanes;
    }
    input_queues_.resize(lines);
}

std::uint64_t CrosspointNetwork::next_event() const {
    if (!awake_nodes_.empty()) return now_;
    const std::uint64_t next = calendar_.next_event_cycle(now_);
    return later_.empty() ? next : std::min(next, std::max(later_.top().first, now_));
}

void CrosspointNetwork::run(std::uint64_t cycles) {
    const std::uint64_t end = now_ + cycles;
    for (;;) {
        const std::uint64_t next = next_event();
        if (next >= end) break;
        now_ = next;
        step_cycle();
    }
    now_ = end;
}

void CrosspointNetwork::step_cycle() {
    calendar_.take_events(now_, current_events_);
    for (const Event& event : current_events_) process_event(event);
    for (; !later_.empty() && later_.top().first <= now_; later_.pop()) {
        senders_[later_.top().second].woken = never;
        wake_sender(later_.top().second);
    }
    for (const std::uint32_t sink : awake_sinks_) {
        sinks_[sink].is_awake = false;
        serve_sink(sink);
    }
    awake_sinks_.clear();
    for (const std::uint32_t node : awake_nodes_) {
        senders_[node].is_awake = false;
        send_from(node);
    }
    awake_nodes_.clear();
}

void CrosspointNetwork::process_event(const Event& event) {
    switch (event.what) {
        case EventKind::enter:
            return enter_switch(event.whose);
        case EventKind::receive:
            return receive(event.whose, event.place);
        case EventKind::credit: {
            ++credits_[event.whose];
            const ChannelId channel = channel_of_[event.whose];
            const Channel& one = fabric_.channel(channel);
            return one.is_entry() ? wake_sender(node_of_[channel.value].value) : wake_sink(one.output);
        }
        case EventKind::wake_sink:
            return wake_sink(event.whose);
        case EventKind::send:
            return wake_sender(event.whose);
        case EventKind::begin:
            return wake_front_outputs(event.whose);
        case EventKind::combined:
            return combine(event.whose);
        case EventKind::left: {
            const TreeVertex& vertex = trees_.vertices()[event.whose];
            Combiner& combiner = trees_.vertices()[event.whose].combiners[event.place];
            ++combiner.first;
            return wake_sink(unit_of(vertex, combiner));
        }
    }
}

std::unique_ptr<PacketNetwork> make_crosspoint_network(const Fabric& fabric, const Paths& paths,
                                                       Workload& workload, const SwitchOptions& options,
                                                       std::uint64_t seed,
                                                       std::span<const ChannelTimes> times,
                                                       std::span<const SwitchGroup> groups,
                                                       const CombineOptions& combine) {
    return std::make_unique<CrosspointNetwork>(fabric, paths, workload, options, seed, times, groups,
                                               combine);
}

}  // namespace topoloom
