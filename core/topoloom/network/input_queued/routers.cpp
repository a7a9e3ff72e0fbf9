// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/input_queued/input_queued.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/network/input_queued/input_queued_network.hpp"

namespace topoloom {

namespace {

/// Interval, in cycles, between checks whether idle cycles can be skipped; longer with several threads.
constexpr std::uint64_t cycles_between_idle_checks = 64;
constexpr std::uint64_t cycles_between_starts = 4096;

/// The receivers of credits: routers, exits, and a null receiver for entries.
std::size_t receiver_count(const Fabric& fabric) {
    return fabric.router_count() + fabric.channel_count() - fabric.input_count() + 1;
}

std::uint32_t max_outputs(const Fabric& fabric) {
    std::size_t most = 0;
    for (std::uint32_t router = 0; router < fabric.router_count(); ++router)
        most = std::max(most, fabric.outputs_of(router).size());
    return static_cast<std::uint32_t>(most);
}

/// Implements queues by output as virtual channels, `options.vcs` per output.
SwitchOptions map_queues_to_vcs(const Fabric& fabric, const Paths& paths, const SwitchOptions& options) {
    if (options.queues == InputQueues::shared) return options;
    if (paths.next_hops() != nullptr)
        fail(
            "adaptive routing does not support queues by output; choose shared queues, or the machine's own "
            "routing");
    const std::uint64_t outputs = max_outputs(fabric), queues = outputs * options.vcs;
    if (queues > max_vcs)
        fail("queues for each of ", outputs, " outputs, ", options.vcs, " each, are ", queues,
             "; an input has at most ", max_vcs, outputs <= max_vcs ? ": choose fewer" : "");
    paths.require_classes(options.vcs);
    SwitchOptions all = options;
    all.vcs = static_cast<std::uint32_t>(queues);
    return all;
}

/// With fewer ports per thread, a barrier takes longer than a cycle: on an 8x8 torus, two threads take twice the CPU
/// time of one, and six times its wall time if other programs use the cores.
constexpr std::size_t min_ports_of_thread = 1024;

/// The number of threads given, or, for 0, one per core as far as each gets enough ports.
std::size_t choose_thread_count(const Fabric& fabric, int threads) {
    const auto wanted = static_cast<std::size_t>(thread_count(threads));
    if (threads != 0) return wanted;
    const std::size_t ports = fabric.input_count() + fabric.output_count();
    return std::clamp<std::size_t>(ports / min_ports_of_thread, 1, wanted);
}

}  // namespace

InputQueuedNetwork::InputQueuedNetwork(const Fabric& fabric, const Paths& paths, Workload& workload,
                                       const SwitchOptions& options, std::uint64_t seed, int threads,
                                       std::span<const ChannelTimes> times)
    : fabric_(fabric),
      paths_(paths),
      workload_(workload),
      options_(options),
      vcs_(options.vcs),
      classed_{paths.escape_classes() > 0 ? paths.escape_classes() : options.vcs, !options.allow_deadlock},
      chosen_(paths.next_hops() != nullptr ? vc_range(std::min(paths.escape_classes(), vcs_), vcs_) : 0),
      matches_(options.allocator != Allocator::islip || options.iterations > 1),
      longest_delay_(times.empty() ? options.channel
                                   : std::ranges::max(times, {}, &ChannelTimes::delay).delay),
      shortest_delay_(times.empty() ? options.channel
                                    : std::ranges::min(times, {}, &ChannelTimes::delay).delay),
      paced_(std::ranges::any_of(times,
                                 [](const ChannelTimes& one) { return one.period > ChannelTimes::cycle; })),
      room_(options.switching == Switching::cut_through ? workload.longest_packet() : 1),
      shards_(make_shards(fabric, choose_thread_count(fabric, threads))),
      ahead_(shortest_delay_ + (shards_.has_foreign_entries ? 0 : options.crossing)),
      // The maximum number of packets. Each packet has a flit in a buffer or node, or waits to be reclaimed.
      packets_(paths.max_path_length(),
               fabric.channel_count() *
                       (std::size_t{options.vcs} * options.buffer + 4 * (options.crossing + longest_delay_)) +
                   fabric.node_count(),
               shards_.parts.size()),
      moving_(fabric.channel_count(), options.crossing + longest_delay_, ahead_),
      returning_(fabric.channel_count(), options.crossing + longest_delay_, ahead_),
      arrivals_(receiver_count(fabric), options.crossing + longest_delay_, ahead_) {
    require_switch_options(options, workload.longest_packet());
    require_channel_times(times, fabric.channel_count());
    if (!options.allow_deadlock) paths.require_classes(vcs_);
    for (const Node node : ids<Node>(fabric.node_count()))
        senders_.push_back({Rng(seed, fabric.node_count() + node.value), workload.next(node)});
    for (const Node node : ids<Node>(fabric.node_count())) due_.push_back(senders_[node.value].next);
    number_lines();
    set_times(times);
    free_.assign(fabric.output_count(), vc_range(0, vcs_));
    inputs_.resize(fabric.input_count());
    queues_.resize(fabric.input_count() * vcs_);
    flits_.resize(queues_.size() * options.buffer);
    stored_.assign(fabric.router_count(), 0);
    vc_turn_.resize(fabric.output_count() * vcs_);
    choice_turn_.resize(queues_.size());
    output_turn_.resize(fabric.output_count());
    input_turn_.resize(fabric.input_count());
    queue_turn_.resize(fabric.input_count());
    if (options.queues == InputQueues::by_output) queue_by_output();
    if (paths.next_hops() != nullptr || options.arbiter == Arbiter::random)
        for (std::uint32_t router = 0; router < fabric.router_count(); ++router)
            choices_.emplace_back(seed, 2 * fabric.node_count() + router);
    for (const Shard& shard : shards_.parts) make_worker(shard);
}

void InputQueuedNetwork::queue_by_output() {
    const std::uint32_t most = max_outputs(fabric_);
    queues_of_.resize(fabric_.output_count());
    for (std::uint32_t router = 0; router < fabric_.router_count(); ++router)
        for (std::uint32_t output = fabric_.first_output(router); output < fabric_.first_output(router + 1);
             ++output)
            for (std::uint32_t vc = output - fabric_.first_output(router); vc < vcs_; vc += most)
                queues_of_[output] |= VcMask{1} << vc;
}

void InputQueuedNetwork::number_lines() {
    auto exits = static_cast<std::uint32_t>(fabric_.input_count());
    auto entries = static_cast<std::uint32_t>(fabric_.output_count());
    output_arrivals_.resize(fabric_.output_count());
    input_credits_.resize(fabric_.input_count());
    next_router_.resize(fabric_.output_count());
    credited_router_.resize(fabric_.input_count());
    credits_.assign(fabric_.channel_count() * vcs_, options_.buffer);
    for (const ChannelId id : ids<ChannelId>(fabric_.channel_count())) {
        const Channel& channel = fabric_.channel(id);
        const std::uint32_t arrivals = channel.is_exit() ? exits++ : channel.input;
        const std::uint32_t credits = channel.is_entry() ? entries++ : channel.output;
        arrival_line_.push_back(arrivals);
        credit_line_.push_back(credits);
        const auto nobody = static_cast<std::uint32_t>(receiver_count(fabric_) - 1);
        if (!channel.is_entry()) {
            output_arrivals_[channel.output] = arrivals;
            next_router_[channel.output] =
                channel.is_exit()
                    ? static_cast<std::uint32_t>(arrivals - fabric_.input_count() + fabric_.router_count())
                    : channel.to;
        }
        if (!channel.is_exit()) {
            input_credits_[channel.input] = credits;
            credited_router_[channel.input] = channel.is_entry() ? nobody : channel.from;
        }
        // Exits never block, since nodes accept all flits.
        if (channel.is_exit())
            std::fill_n(credits_.begin() + std::ptrdiff_t{credits} * vcs_, vcs_, unlimited_credits);
    }
}

void InputQueuedNetwork::set_times(std::span<const ChannelTimes> times) {
    delay_.resize(fabric_.channel_count());
    period_.resize(fabric_.channel_count());
    credit_delay_.resize(fabric_.input_count());
    taken_until_.resize(fabric_.channel_count());
    carried_.resize(fabric_.channel_count());
    for (const ChannelId id : ids<ChannelId>(fabric_.channel_count())) {
        const ChannelTimes own = times.empty() ? ChannelTimes{.delay = options_.channel} : times[id.value];
        delay_[arrival_line_[id.value]] = own.delay;
        period_[arrival_line_[id.value]] = own.period;
        const Channel& channel = fabric_.channel(id);
        if (!channel.is_exit()) credit_delay_[channel.input] = options_.crossing + own.delay;
    }
}

void InputQueuedNetwork::make_worker(Shard shard) {
    Worker& worker = workers_.emplace_back(
        Worker{.number = static_cast<std::uint32_t>(workers_.size()), .shard = std::move(shard)});
    for (const ChannelId entry : worker.shard.entries)
        worker.entry_lines.push_back(credit_line_[entry.value]);
    for (const ChannelId exit : worker.shard.exits) worker.exit_lines.push_back(arrival_line_[exit.value]);
    std::size_t max_inputs = 0, max_outputs = 0;
    for (std::uint32_t router = worker.shard.first_router; router < worker.shard.end_router; ++router) {
        max_inputs = std::max(max_inputs, fabric_.inputs_of(router).size());
        max_outputs = std::max(max_outputs, fabric_.outputs_of(router).size());
    }
    worker.grants.resize(max_outputs * vcs_);
    worker.accepted.resize(max_inputs * vcs_);
    worker.chosen_counts.resize(max_outputs);
    worker.asked.reserve(worker.grants.size());
    worker.granted.reserve(worker.accepted.size());
    worker.received.by_latency.assign(ReceivedPackets::max_cycles, 0);
}

void InputQueuedNetwork::run(std::uint64_t cycles) {
    const std::uint64_t end = now_ + cycles;
    while (now_ < end) {
        now_ = std::min(next_event(), end);
        const std::uint64_t most = workers_.size() == 1 ? cycles_between_idle_checks : cycles_between_starts;
        const std::uint64_t until = std::min(now_ + most, end);
        run_shards(workers_.size(), now_, until, ahead_,
                   [&](std::size_t shard, std::uint64_t from, std::uint64_t to) {
                       Worker& worker = workers_[shard];
                       packets_.reclaim_packets(shard);
                       for (worker.now = from; worker.now < to; ++worker.now) step_cycle(worker);
                   });
        now_ = until;
    }
}

bool InputQueuedNetwork::is_idle(std::uint64_t now) const {
    std::uint64_t sent = 0, taken = 0, idle_from = 0;
    for (const Worker& worker : workers_) {
        sent += worker.sent;
        taken += worker.taken;
        idle_from = std::max(idle_from, worker.idle_from);
    }
    return sent == taken && idle_from <= now;
}

std::uint64_t InputQueuedNetwork::next_event() const {
    if (!is_idle(now_)) return now_;
    std::uint64_t next = never;
    for (const Sender& sender : senders_)
        next = std::min(next, sender.packet == no_index ? sender.next : now_);
    return std::max(next, now_);
}

void InputQueuedNetwork::step_cycle(Worker& worker) {
    serve_nodes(worker);
    std::uint8_t* const coming = arrivals_.at(worker.now);
    for (std::uint32_t router = worker.shard.first_router; router < worker.shard.end_router; ++router) {
        if (std::exchange(coming[router], 0) != 0) {
            take_arrivals(router, worker.now);
            take_credits(router, worker.now);
        }
        if (stored_[router] == 0) continue;
        if (chosen_ != 0) choose_outputs(worker, router);
        if (options_.arbiter != Arbiter::round_robin) {
            allocate<false>(worker, router);
        } else {
            allocate<true>(worker, router);
        }
    }
}

template <bool in_turns>
void InputQueuedNetwork::allocate(Worker& worker, std::uint32_t router) {
    // A virtual channel that was freed can be reallocated in the same cycle only if the next packet's route
    // is already known.
    if (options_.routing > 0) allocate_vcs<in_turns>(worker, router);
    if (matches_) {
        match_switch(worker, router);
    } else {
        allocate_switch<in_turns>(worker, router);
    }
    if (options_.routing == 0) allocate_vcs<in_turns>(worker, router);
}

/// Registers the packet that has reached the front of its queue.
void InputQueuedNetwork::register_head(std::uint32_t input, std::uint32_t vc, std::uint64_t since) {
    Queue& queue = this->queue(input, vc);
    const std::uint32_t packet = flit_at(input, vc, queue.begin).packet();
    queue.ready = since + options_.routing;
    inputs_[input].waiting |= VcMask{1} << vc;
    if (chosen_ != 0 && packets_[packet].mode != PacketPool::RouteMode::planned) {
        packets_[packet].mode = PacketPool::RouteMode::adaptive;
        queue.open = 0;
        return;
    }
    const Hop& hop = packets_.advance(packet);
    const Channel& next = fabric_.channel(hop.channel);
    queue.output = static_cast<std::uint16_t>(next.output - fabric_.first_output(next.from));
    queue.open = classed_.allowed_vcs(hop, vc);
    if (!queues_of_.empty()) queue.open &= queues_after_next_hop(packet);
}

void InputQueuedNetwork::take_arrivals(std::uint32_t router, std::uint64_t now) {
    Flit* const arrived = moving_.at(now);
    for (std::uint32_t input = fabric_.first_input(router); input < fabric_.first_input(router + 1);
         ++input) {
        if (arrived[input].is_none()) continue;
        const Flit flit = std::exchange(arrived[input], Flit{});
        const std::uint32_t vc = flit.vc();
        Queue& queue = this->queue(input, vc);
        flit_at(input, vc, wrap_buffer_index(queue.begin + queue.count)) = flit;
        ++stored_[router];
        inputs_[input].filled |= VcMask{1} << vc;
        if (queue.count++ == 0 && flit.is_head()) register_head(input, vc, now);
    }
}

void InputQueuedNetwork::take_credits(std::uint32_t router, std::uint64_t now) {
    std::uint8_t* const credits = returning_.at(now);
    for (std::uint32_t output = fabric_.first_output(router); output < fabric_.first_output(router + 1);
         ++output)
        take_credit(output, credits[output]);
}

template <bool in_turns>
void InputQueuedNetwork::allocate_vcs(Worker& worker, std::uint32_t router) {
    const std::uint32_t first = fabric_.first_input(router), first_output = fabric_.first_output(router);
    const std::uint32_t count = fabric_.first_input(router + 1) - first;
    worker.asked.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        for (VcMask waiting = inputs_[first + i].waiting; waiting != 0; waiting &= waiting - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(waiting));
            const Queue& queue = this->queue(first + i, vc);
            if (queue.ready > worker.now) continue;
            const std::uint32_t output = first_output + queue.output;
            const std::uint32_t late =
                in_turns ? 0
                         : arbiter_priority(worker.now, router, flit_at(first + i, vc, queue.begin).packet());
            for (VcMask free = select_vcs_with_credits(output, free_[output] & queue.open); free != 0;
                 free &= free - 1) {
                const auto wanted = static_cast<std::uint32_t>(std::countr_zero(free));
                const std::uint32_t requester = i * vcs_ + vc, at_output = queue.output * vcs_ + wanted;
                const std::uint32_t distance =
                    in_turns ? vc_turn_[std::size_t{output} * vcs_ + wanted].distance(requester, count * vcs_)
                             : late;
                if (worker.grants[at_output].consider(requester, distance)) worker.asked.push_back(at_output);
            }
        }
    }
    worker.granted.clear();
    for (const std::uint32_t at_output : worker.asked) {
        const std::uint32_t requester = worker.grants[at_output].requester;
        const std::uint32_t distance =
            in_turns ? choice_turn_[std::size_t{first} * vcs_ + requester].distance(at_output % vcs_, vcs_)
                     : worker.grants[at_output].distance;
        if (worker.accepted[requester].consider(at_output, distance)) worker.granted.push_back(requester);
        worker.grants[at_output] = {};
    }
    for (const std::uint32_t requester : worker.granted) {
        const std::uint32_t at_output = worker.accepted[requester].requester;
        const std::uint32_t input = first + requester / vcs_, vc = requester % vcs_;
        const std::uint32_t output = first_output + at_output / vcs_, wanted = at_output % vcs_;
        worker.accepted[requester] = {};
        choice_turn_[std::size_t{first} * vcs_ + requester].advance_past(wanted, vcs_);
        vc_turn_[std::size_t{output} * vcs_ + wanted].advance_past(requester, count * vcs_);
        free_[output] &= ~(VcMask{1} << wanted);
        Queue& queue = this->queue(input, vc);
        if (chosen_ != 0) fix_escape_path(wanted, flit_at(input, vc, queue.begin).packet());
        queue.vc = static_cast<std::uint8_t>(wanted);
        queue.ready = worker.now + 1;
        inputs_[input].waiting &= ~(VcMask{1} << vc);
        inputs_[input].active |= VcMask{1} << vc;
    }
}

template <bool in_turns>
void InputQueuedNetwork::allocate_switch(Worker& worker, std::uint32_t router) {
    const std::uint32_t first = fabric_.first_input(router), first_output = fabric_.first_output(router);
    const std::uint32_t count = fabric_.first_input(router + 1) - first;
    const std::uint32_t output_count = fabric_.first_output(router + 1) - first_output;
    worker.asked.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        const Input& input = inputs_[first + i];
        for (VcMask ready = input.active & input.filled; ready != 0; ready &= ready - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(ready));
            const Queue& queue = this->queue(first + i, vc);
            if (queue.ready > worker.now) continue;
            const std::uint32_t output = first_output + queue.output;
            if (credits_[std::size_t{output} * vcs_ + queue.vc] == 0) continue;
            if (is_busy(output_arrivals_[output], worker.now)) continue;
            const std::uint32_t distance =
                in_turns ? output_turn_[output].distance(i, count) * vcs_ +
                               queue_turn_[first + i].distance(vc, vcs_)
                         : arbiter_priority(worker.now, router, flit_at(first + i, vc, queue.begin).packet());
            if (worker.grants[queue.output].consider(i * vcs_ + vc, distance))
                worker.asked.push_back(queue.output);
        }
    }
    worker.granted.clear();
    for (const std::uint32_t output : worker.asked) {
        const std::uint32_t i = worker.grants[output].requester / vcs_;
        const std::uint32_t distance =
            in_turns ? input_turn_[first + i].distance(output, output_count) : worker.grants[output].distance;
        if (worker.accepted[i].consider(output, distance)) worker.granted.push_back(i);
    }
    for (const std::uint32_t i : worker.granted) {
        const std::uint32_t output = worker.accepted[i].requester;
        const std::uint32_t vc = worker.grants[output].requester % vcs_;
        worker.accepted[i] = {};
        output_turn_[first_output + output].advance_past(i, count);
        input_turn_[first + i].advance_past(output, output_count);
        queue_turn_[first + i].advance_past(vc, vcs_);
        traverse_crossbar(worker, router, first + i, vc);
    }
    for (const std::uint32_t output : worker.asked) worker.grants[output] = {};
}

/// Each input requests an output for the queue that the input's round-robin pointer selects.
void InputQueuedNetwork::match_switch(Worker& worker, std::uint32_t router) {
    const std::uint32_t first = fabric_.first_input(router), first_output = fabric_.first_output(router);
    const std::uint32_t count = fabric_.first_input(router + 1) - first;
    const std::uint32_t output_count = fabric_.first_output(router + 1) - first_output;
    Matching& matching = worker.matching;
    matching.reset(count, output_count);
    bool any = false;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Input& input = inputs_[first + i];
        for (VcMask ready = input.active & input.filled; ready != 0; ready &= ready - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(ready));
            const Queue& queue = this->queue(first + i, vc);
            if (queue.ready > worker.now) continue;
            if (credits_[std::size_t{first_output + queue.output} * vcs_ + queue.vc] == 0) continue;
            if (is_busy(output_arrivals_[first_output + queue.output], worker.now)) continue;
            std::uint8_t& request = matching.request(i, queue.output);
            const RoundRobin& turn = queue_turn_[first + i];
            if (request == 0 || turn.distance(vc, vcs_) < turn.distance(request - 1U, vcs_))
                request = static_cast<std::uint8_t>(vc + 1);
            any = true;
        }
    }
    if (!any) return;
    if (options_.allocator == Allocator::wavefront) {
        matching.match_wavefront(worker.now);
    } else {
        matching.match_islip(options_.iterations, std::span(output_turn_).subspan(first_output, output_count),
                             std::span(input_turn_).subspan(first, count));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t output = matching.output_of(i);
        if (output == no_index) continue;
        const std::uint32_t vc = matching.request(i, output) - 1U;
        queue_turn_[first + i].advance_past(vc, vcs_);
        traverse_crossbar(worker, router, first + i, vc);
    }
}

/// Moves the flit in front of a queue to its output.
void InputQueuedNetwork::traverse_crossbar(Worker& worker, std::uint32_t router, std::uint32_t input,
                                           std::uint32_t vc) {
    Queue& queue = this->queue(input, vc);
    const Flit flit = flit_at(input, vc, queue.begin);
    const std::uint32_t output = fabric_.first_output(router) + queue.output;
    queue.begin = static_cast<std::uint16_t>(wrap_buffer_index(queue.begin + 1U));
    --stored_[router];
    ++worker.flit_hops;
    const std::uint32_t line = output_arrivals_[output];
    const std::uint64_t arrival = worker.now + options_.crossing + delay_[line];
    const std::uint64_t return_time = worker.now + credit_delay_[input];
    worker.idle_from = std::max(worker.idle_from, return_time + 1);
    occupy_channel(line, worker.now);
    returning_.put(input_credits_[input], return_time, static_cast<std::uint8_t>(vc + 1));
    moving_.put(line, arrival, flit.with_vc(queue.vc));
    mark_arrival(credited_router_[input], return_time);
    mark_arrival(next_router_[output], arrival);
    std::uint32_t& credits = credits_[std::size_t{output} * vcs_ + queue.vc];
    if (credits != unlimited_credits) --credits;
    const VcMask bit = VcMask{1} << vc;
    if (--queue.count == 0) inputs_[input].filled &= ~bit;
    if (!flit.is_tail()) return;
    inputs_[input].active &= ~bit;
    free_[output] |= VcMask{1} << queue.vc;
    // Route computation of the next packet begins in the next cycle, except with lookahead routing.
    if (queue.count > 0) register_head(input, vc, worker.now + (options_.routing == 0 ? 0 : 1));
}

std::unique_ptr<PacketNetwork> make_input_queued_network(const Fabric& fabric, const Paths& paths,
                                                         Workload& workload, const SwitchOptions& options,
                                                         std::uint64_t seed, int threads,
                                                         std::span<const ChannelTimes> times) {
    return std::make_unique<InputQueuedNetwork>(
        fabric, paths, workload, map_queues_to_vcs(fabric, paths, options), seed, threads, times);
}

}  // namespace topoloom
