// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/input_queued.hpp"

#include <algorithm>
#include <bit>

#include "topoloom/base/error.hpp"
#include "topoloom/base/parallel.hpp"
#include "topoloom/network/arbiter.hpp"
#include "topoloom/network/delay_lines.hpp"
#include "topoloom/network/flits.hpp"
#include "topoloom/network/packets.hpp"
#include "topoloom/network/shards.hpp"
#include "topoloom/network/virtual_channels.hpp"

namespace topoloom {

namespace {

/// Latencies are counted one by one up to this number of cycles.
constexpr std::size_t most_cycles = std::size_t{1} << 16;
/// Credits of what takes all that comes.
constexpr std::uint32_t endless = no_index;

/// A queue at an input, of one virtual channel.
struct Queue {
    std::uint64_t ready = 0;  // the cycle from which on the packet in front may ask
    VcMask open = 0;          // virtual channels of the output that it may take
    std::uint16_t begin = 0;
    std::uint16_t count = 0;
    std::uint16_t output = 0;  // of the router, of the packet in front
    std::uint8_t vc = 0;       // there
};

/// By virtual channels.
struct Input {
    VcMask filled = 0;   // with flits
    VcMask waiting = 0;  // the packet in front asks for a virtual channel
    VcMask active = 0;   // it has one
};

/// Throws Error where there are fewer virtual channels than the paths have classes.
void require_classes(const Fabric& fabric, const Paths& paths, std::uint32_t vcs) {
    if (vcs >= paths.class_count()) return;
    std::string names;
    for (const ChannelId one : paths.circle()) names += (names.empty() ? "" : ", ") + fabric.name(one);
    fail("packets could wait for each other in a circle: ", names, "; '", fabric.machine().text(), "' needs ",
         paths.class_count(), " virtual channels, not ", vcs);
}

}  // namespace

/// What belongs to a router is used by one thread only, and what belongs to a node, too: threads meet in delay lines. Lines are
/// numbered so that what a thread looks at lies together. Flits arrive on the lines of inputs, then of exits; credits on those of
/// outputs, then of entries.
class InputQueuedNetwork::Simulation {
   public:
    Simulation(const Fabric& fabric, const Paths& paths, Workload& workload, const SwitchOptions& options,
               std::uint64_t seed, int threads);

    void run(std::uint64_t cycles);
    [[nodiscard]] std::uint64_t cycle() const { return now_; }
    [[nodiscard]] double lag() const;
    [[nodiscard]] Received take_received();
    [[nodiscard]] std::uint64_t flit_hops() const;
    void check() const;

   private:
    /// A node's network card: the packet that it is sending.
    struct Sender {
        Rng ways;
        std::uint64_t next;  // cycle of its next packet
        std::uint32_t packet = no_index;
        std::uint32_t left = 0;          // flits of the packet that it is sending
        std::uint32_t arrival_line = 0;  // of the channel that it enters by
        std::uint32_t credit_line = 0;
        VcMask open = 0;
        std::uint8_t vc = 0;  // taken last
    };
    /// A thread's part, what has happened there, and room to work in.
    struct alignas(64) Worker {
        std::uint32_t number;
        Shard shard;
        std::vector<std::uint32_t> entry_lines{}, exit_lines{};
        std::uint64_t now = 0;
        std::uint64_t flit_hops = 0;
        std::uint64_t sent = 0;   // flits by nodes
        std::uint64_t taken = 0;  // flits by nodes, all along
        Received received{};
        Paths::Room path{};
        std::vector<Grant> grants{}, accepted{};  // of the router at work
        std::vector<std::uint32_t> asked{}, granted{};
    };

    void number_lines();
    void make_worker(Shard shard);
    void step(Worker& worker);
    void send(Worker& worker, Node node);
    bool begin_packet(Worker& worker, Node node);
    void receive(Worker& worker, Flit flit);
    void take_arrivals(std::uint32_t router, std::uint64_t now);
    void take_credits(std::uint32_t router, std::uint64_t now);
    void take_credit(std::uint32_t line, std::uint8_t& credit) {
        if (credit == 0) return;
        ++credits_[line * vcs_ + credit - 1U];
        credit = 0;
    }
    void allocate_vcs(Worker& worker, std::uint32_t router);
    void allocate_switch(Worker& worker, std::uint32_t router);
    void cross(Worker& worker, std::uint32_t router, std::uint32_t input, std::uint32_t vc);
    void show_head(std::uint32_t input, std::uint32_t vc, std::uint64_t since);
    [[nodiscard]] Queue& queue(std::uint32_t input, std::uint32_t vc) {
        return queues_[std::size_t{input} * vcs_ + vc];
    }
    [[nodiscard]] Flit& stored(std::uint32_t input, std::uint32_t vc, std::uint32_t place) {
        return flits_[(std::size_t{input} * vcs_ + vc) * options_.buffer + place];
    }
    [[nodiscard]] std::uint32_t place(std::uint32_t number) const {
        return number >= options_.buffer ? number - options_.buffer : number;
    }
    /// Those of some virtual channels that have as much room as a packet needs to begin.
    [[nodiscard]] VcMask with_room(std::size_t credit_line, VcMask some) const {
        VcMask found = 0;
        for (; some != 0; some &= some - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(some));
            if (credits_[credit_line * vcs_ + vc] >= room_) found |= VcMask{1} << vc;
        }
        return found;
    }

    const Fabric& fabric_;
    const Paths& paths_;
    Workload& workload_;
    const SwitchOptions options_;
    const std::uint32_t vcs_;
    const ClassedVcs classed_;
    const std::uint32_t delay_;  // cycles from a switch's decision to the next router
    const std::uint32_t room_;   // credits that a packet needs to take a virtual channel
    std::uint64_t now_ = 0;
    const Shards shards_;
    const std::uint32_t ahead_;  // cycles that a thread may be ahead of another
    std::vector<Worker> workers_;
    Packets packets_;
    std::vector<Sender> senders_;                            // [node]
    std::vector<std::uint32_t> arrival_line_, credit_line_;  // [channel]
    std::vector<std::uint32_t> output_arrivals_;             // [output]: the line of its channel
    std::vector<std::uint32_t> input_credits_;               // [input]: the line of its channel
    std::vector<std::uint32_t> credits_;                     // [credit line][vc]
    std::vector<VcMask> free_;                               // [output]: virtual channels that no packet has
    DelayLines<Flit> moving_;
    DelayLines<std::uint8_t> returning_;  // 1 + the virtual channel of a credit
    std::vector<Input> inputs_;
    std::vector<Queue> queues_;            // [input][vc]
    std::vector<Flit> flits_;              // [input][vc][place]
    std::vector<std::uint32_t> stored_;    // [router]: flits there
    std::vector<RoundRobin> vc_turn_;      // [output][vc]: among the queues of its router
    std::vector<RoundRobin> choice_turn_;  // [input][vc]: among virtual channels of an output
    std::vector<RoundRobin> output_turn_;  // [output]: among inputs
    std::vector<RoundRobin> input_turn_;   // [input]: among outputs
    std::vector<RoundRobin> queue_turn_;   // [input]: among its virtual channels
};

InputQueuedNetwork::Simulation::Simulation(const Fabric& fabric, const Paths& paths, Workload& workload,
                                           const SwitchOptions& options, std::uint64_t seed, int threads)
    : fabric_(fabric),
      paths_(paths),
      workload_(workload),
      options_(options),
      vcs_(options.vcs),
      classed_{options.vcs},
      delay_(options.crossing + options.channel),
      room_(options.switching == Switching::cut_through ? workload.longest_packet() : 1),
      shards_(make_shards(fabric, static_cast<std::size_t>(thread_count(threads)))),
      ahead_(shards_.are_entered_from_others ? options.channel : delay_),
      // Each holds a flit of a buffer or of a node, or is to be taken back.
      packets_(paths.longest(),
               fabric.channel_count() * (std::size_t{options.vcs} * options.buffer + 4 * delay_) +
                   fabric.node_count(),
               shards_.parts.size()),
      moving_(fabric.channel_count(), delay_, ahead_),
      returning_(fabric.channel_count(), delay_, ahead_) {
    require_switches(options, workload.longest_packet());
    require_classes(fabric, paths, vcs_);
    for (const Node node : ids<Node>(fabric.node_count()))
        senders_.push_back({Rng(seed, fabric.node_count() + node.value), workload.next(node)});
    number_lines();
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
    for (const Shard& shard : shards_.parts) make_worker(shard);
}

void InputQueuedNetwork::Simulation::number_lines() {
    auto exits = static_cast<std::uint32_t>(fabric_.input_count());
    auto entries = static_cast<std::uint32_t>(fabric_.output_count());
    output_arrivals_.resize(fabric_.output_count());
    input_credits_.resize(fabric_.input_count());
    credits_.assign(fabric_.channel_count() * vcs_, options_.buffer);
    for (const ChannelId id : ids<ChannelId>(fabric_.channel_count())) {
        const Channel& channel = fabric_.channel(id);
        const std::uint32_t arrivals = channel.is_exit() ? exits++ : channel.input;
        const std::uint32_t credits = channel.is_entry() ? entries++ : channel.output;
        arrival_line_.push_back(arrivals);
        credit_line_.push_back(credits);
        if (!channel.is_entry()) output_arrivals_[channel.output] = arrivals;
        if (!channel.is_exit()) input_credits_[channel.input] = credits;
        // Nodes take all that comes.
        if (channel.is_exit())
            std::fill_n(credits_.begin() + std::ptrdiff_t{credits} * vcs_, vcs_, endless);
    }
}

void InputQueuedNetwork::Simulation::make_worker(Shard shard) {
    Worker& worker = workers_.emplace_back(
        Worker{.number = static_cast<std::uint32_t>(workers_.size()), .shard = std::move(shard)});
    for (const ChannelId entry : worker.shard.entries)
        worker.entry_lines.push_back(credit_line_[entry.value]);
    for (const ChannelId exit : worker.shard.exits) worker.exit_lines.push_back(arrival_line_[exit.value]);
    std::size_t most_inputs = 0, most_outputs = 0;
    for (std::uint32_t router = worker.shard.first_router; router < worker.shard.end_router; ++router) {
        most_inputs = std::max(most_inputs, fabric_.into(router).size());
        most_outputs = std::max(most_outputs, fabric_.out_of(router).size());
    }
    worker.grants.resize(most_outputs * vcs_);
    worker.accepted.resize(most_inputs * vcs_);
    worker.asked.reserve(worker.grants.size());
    worker.granted.reserve(worker.accepted.size());
    worker.received.by_latency.assign(most_cycles, 0);
}

void InputQueuedNetwork::Simulation::run(std::uint64_t cycles) {
    run_shards(workers_.size(), now_, now_ + cycles, ahead_,
               [&](std::size_t shard, std::uint64_t from, std::uint64_t to) {
                   Worker& worker = workers_[shard];
                   packets_.collect(shard);
                   for (worker.now = from; worker.now < to; ++worker.now) step(worker);
               });
    now_ += cycles;
}

void InputQueuedNetwork::Simulation::step(Worker& worker) {
    std::uint8_t* const credits = returning_.at(worker.now);
    for (const std::uint32_t line : worker.entry_lines) take_credit(line, credits[line]);
    Flit* const arrived = moving_.at(worker.now);
    for (const std::uint32_t line : worker.exit_lines)
        if (Flit& flit = arrived[line]; !flit.is_none()) receive(worker, std::exchange(flit, Flit{}));
    for (const Node node : worker.shard.nodes) send(worker, node);
    for (std::uint32_t router = worker.shard.first_router; router < worker.shard.end_router; ++router) {
        take_arrivals(router, worker.now);
        take_credits(router, worker.now);
        if (stored_[router] == 0) continue;
        // What a packet leaves can be given on in the same cycle only if the next one's way is known already.
        if (options_.routing == 0) {
            allocate_switch(worker, router);
            allocate_vcs(worker, router);
        } else {
            allocate_vcs(worker, router);
            allocate_switch(worker, router);
        }
    }
}

// ---- nodes -------------------------------------------------------------------------------------------------------

bool InputQueuedNetwork::Simulation::begin_packet(Worker& worker, Node node) {
    Sender& sender = senders_[node.value];
    // The path says which channel the packet enters by, hence it is drawn before there is room.
    if (sender.packet == no_index) {
        const Order order = workload_.take(node);
        sender.packet =
            packets_.make(worker.number, order, paths_.find(node, order.to, sender.ways, worker.path));
        sender.next = workload_.next(node);
        const Hop& entry = packets_.hop(sender.packet);
        sender.arrival_line = arrival_line_[entry.channel.value];
        sender.credit_line = credit_line_[entry.channel.value];
        sender.open = classed_.open_to(entry, 0);
    }
    const VcMask takeable = with_room(sender.credit_line, sender.open);
    if (takeable == 0) return false;
    const VcMask later = takeable & ~vc_range(0, sender.vc + 1U);
    sender.vc = static_cast<std::uint8_t>(std::countr_zero(later != 0 ? later : takeable));
    sender.left = packets_[sender.packet].order.flits;
    return true;
}

void InputQueuedNetwork::Simulation::send(Worker& worker, Node node) {
    Sender& sender = senders_[node.value];
    if (sender.left == 0) {
        if (sender.packet == no_index && sender.next > worker.now) return;
        if (!begin_packet(worker, node)) return;
    }
    std::uint32_t& credits = credits_[std::size_t{sender.credit_line} * vcs_ + sender.vc];
    if (credits == 0) return;
    --credits;
    ++worker.sent;
    const bool is_head = sender.left == packets_[sender.packet].order.flits;
    const bool is_tail = --sender.left == 0;
    moving_.put(sender.arrival_line, worker.now + options_.channel,
                Flit(sender.packet, sender.vc, is_head, is_tail));
    if (is_tail) sender.packet = no_index;
}

void InputQueuedNetwork::Simulation::receive(Worker& worker, Flit flit) {
    Received& received = worker.received;
    ++received.flits;
    ++worker.taken;
    if (!flit.is_tail()) return;
    const Order& order = packets_[flit.packet()].order;
    const std::uint64_t latency = worker.now - order.made;
    ++received.packets;
    received.latency += latency;
    ++received.by_latency[std::min<std::size_t>(latency, most_cycles - 1)];
    workload_.receive(order.to, order, worker.now);
    senders_[order.to.value].next = workload_.next(order.to);
    packets_.free(worker.number, flit.packet());
}

// ---- routers -----------------------------------------------------------------------------------------------------

/// Of the packet that has come to the front of its queue.
void InputQueuedNetwork::Simulation::show_head(std::uint32_t input, std::uint32_t vc, std::uint64_t since) {
    Queue& queue = this->queue(input, vc);
    const Hop& hop = packets_.step(stored(input, vc, queue.begin).packet());
    const Channel& next = fabric_.channel(hop.channel);
    queue.output = static_cast<std::uint16_t>(next.output - fabric_.first_output(next.from));
    queue.open = classed_.open_to(hop, vc);
    queue.ready = since + options_.routing;
    inputs_[input].waiting |= VcMask{1} << vc;
}

void InputQueuedNetwork::Simulation::take_arrivals(std::uint32_t router, std::uint64_t now) {
    Flit* const arrived = moving_.at(now);
    for (std::uint32_t input = fabric_.first_input(router); input < fabric_.first_input(router + 1);
         ++input) {
        if (arrived[input].is_none()) continue;
        const Flit flit = std::exchange(arrived[input], Flit{});
        const std::uint32_t vc = flit.vc();
        Queue& queue = this->queue(input, vc);
        stored(input, vc, place(queue.begin + queue.count)) = flit;
        ++stored_[router];
        inputs_[input].filled |= VcMask{1} << vc;
        if (queue.count++ == 0 && flit.is_head()) show_head(input, vc, now);
    }
}

void InputQueuedNetwork::Simulation::take_credits(std::uint32_t router, std::uint64_t now) {
    std::uint8_t* const credits = returning_.at(now);
    for (std::uint32_t output = fabric_.first_output(router); output < fabric_.first_output(router + 1);
         ++output)
        take_credit(output, credits[output]);
}

void InputQueuedNetwork::Simulation::allocate_vcs(Worker& worker, std::uint32_t router) {
    const std::uint32_t first = fabric_.first_input(router), first_output = fabric_.first_output(router);
    const std::uint32_t count = fabric_.first_input(router + 1) - first;
    worker.asked.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        for (VcMask waiting = inputs_[first + i].waiting; waiting != 0; waiting &= waiting - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(waiting));
            const Queue& queue = this->queue(first + i, vc);
            if (queue.ready > worker.now) continue;
            const std::uint32_t output = first_output + queue.output;
            for (VcMask free = with_room(output, free_[output] & queue.open); free != 0; free &= free - 1) {
                const auto wanted = static_cast<std::uint32_t>(std::countr_zero(free));
                const std::uint32_t requester = i * vcs_ + vc, at_output = queue.output * vcs_ + wanted;
                const std::uint32_t distance =
                    vc_turn_[std::size_t{output} * vcs_ + wanted].distance(requester, count * vcs_);
                if (worker.grants[at_output].offer(requester, distance)) worker.asked.push_back(at_output);
            }
        }
    }
    worker.granted.clear();
    for (const std::uint32_t at_output : worker.asked) {
        const std::uint32_t requester = worker.grants[at_output].requester;
        const std::uint32_t distance =
            choice_turn_[std::size_t{first} * vcs_ + requester].distance(at_output % vcs_, vcs_);
        if (worker.accepted[requester].offer(at_output, distance)) worker.granted.push_back(requester);
        worker.grants[at_output] = {};
    }
    for (const std::uint32_t requester : worker.granted) {
        const std::uint32_t at_output = worker.accepted[requester].requester;
        const std::uint32_t input = first + requester / vcs_, vc = requester % vcs_;
        const std::uint32_t output = first_output + at_output / vcs_, wanted = at_output % vcs_;
        worker.accepted[requester] = {};
        choice_turn_[std::size_t{first} * vcs_ + requester].served(wanted, vcs_);
        vc_turn_[std::size_t{output} * vcs_ + wanted].served(requester, count * vcs_);
        free_[output] &= ~(VcMask{1} << wanted);
        Queue& queue = this->queue(input, vc);
        queue.vc = static_cast<std::uint8_t>(wanted);
        queue.ready = worker.now + 1;
        inputs_[input].waiting &= ~(VcMask{1} << vc);
        inputs_[input].active |= VcMask{1} << vc;
    }
}

void InputQueuedNetwork::Simulation::allocate_switch(Worker& worker, std::uint32_t router) {
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
            const std::uint32_t distance = output_turn_[output].distance(i, count) * vcs_ +
                                           queue_turn_[first + i].distance(vc, vcs_);
            if (worker.grants[queue.output].offer(i * vcs_ + vc, distance))
                worker.asked.push_back(queue.output);
        }
    }
    worker.granted.clear();
    for (const std::uint32_t output : worker.asked) {
        const std::uint32_t i = worker.grants[output].requester / vcs_;
        if (worker.accepted[i].offer(output, input_turn_[first + i].distance(output, output_count)))
            worker.granted.push_back(i);
    }
    for (const std::uint32_t i : worker.granted) {
        const std::uint32_t output = worker.accepted[i].requester;
        const std::uint32_t vc = worker.grants[output].requester % vcs_;
        worker.accepted[i] = {};
        output_turn_[first_output + output].served(i, count);
        input_turn_[first + i].served(output, output_count);
        queue_turn_[first + i].served(vc, vcs_);
        cross(worker, router, first + i, vc);
    }
    for (const std::uint32_t output : worker.asked) worker.grants[output] = {};
}

/// Moves the flit in front of a queue to its output.
void InputQueuedNetwork::Simulation::cross(Worker& worker, std::uint32_t router, std::uint32_t input,
                                           std::uint32_t vc) {
    Queue& queue = this->queue(input, vc);
    const Flit flit = stored(input, vc, queue.begin);
    const std::uint32_t output = fabric_.first_output(router) + queue.output;
    queue.begin = static_cast<std::uint16_t>(place(queue.begin + 1U));
    --stored_[router];
    ++worker.flit_hops;
    returning_.put(input_credits_[input], worker.now + delay_, static_cast<std::uint8_t>(vc + 1));
    moving_.put(output_arrivals_[output], worker.now + delay_, flit.on(queue.vc));
    std::uint32_t& credits = credits_[std::size_t{output} * vcs_ + queue.vc];
    if (credits != endless) --credits;
    const VcMask bit = VcMask{1} << vc;
    if (--queue.count == 0) inputs_[input].filled &= ~bit;
    if (!flit.is_tail()) return;
    inputs_[input].active &= ~bit;
    free_[output] |= VcMask{1} << queue.vc;
    // The next packet's way is looked up from the next cycle on, unless it is known already.
    if (queue.count > 0) show_head(input, vc, worker.now + (options_.routing == 0 ? 0 : 1));
}

// ---- measures ----------------------------------------------------------------------------------------------------

double InputQueuedNetwork::Simulation::lag() const {
    std::uint64_t sum = 0;
    for (const Sender& sender : senders_) {
        const bool waits = sender.packet != no_index && sender.left == 0;
        const std::uint64_t made = waits ? packets_[sender.packet].order.made : sender.next;
        if (made < now_) sum += now_ - made;
    }
    return static_cast<double>(sum);
}

Received InputQueuedNetwork::Simulation::take_received() {
    Received sum;
    sum.by_latency.assign(most_cycles, 0);
    for (Worker& worker : workers_) {
        Received& part = worker.received;
        sum.packets += std::exchange(part.packets, 0);
        sum.flits += std::exchange(part.flits, 0);
        sum.latency += std::exchange(part.latency, 0);
        for (std::size_t i = 0; i < most_cycles; ++i) sum.by_latency[i] += std::exchange(part.by_latency[i], 0);
    }
    return sum;
}

std::uint64_t InputQueuedNetwork::Simulation::flit_hops() const {
    std::uint64_t sum = 0;
    for (const Worker& worker : workers_) sum += worker.flit_hops;
    return sum;
}

void InputQueuedNetwork::Simulation::check() const {
    std::vector<std::uint32_t> seen(credits_);
    std::uint64_t sent = 0, flits = 0;
    for (const Worker& worker : workers_) {
        sent += worker.sent;
        flits += worker.taken;
    }
    for (const ChannelId id : ids<ChannelId>(fabric_.channel_count())) {
        const Channel& channel = fabric_.channel(id);
        std::uint32_t* const at = seen.data() + std::size_t{credit_line_[id.value]} * vcs_;
        moving_.each(arrival_line_[id.value], [&](Flit flit) {
            ++at[flit.vc()];
            ++flits;
        });
        if (channel.is_exit()) continue;
        returning_.each(credit_line_[id.value], [&](std::uint8_t credit) { ++at[credit - 1U]; });
        for (std::uint32_t vc = 0; vc < vcs_; ++vc) {
            const std::uint32_t stored = queues_[std::size_t{channel.input} * vcs_ + vc].count;
            at[vc] += stored;
            flits += stored;
            if (at[vc] != options_.buffer)
                fail("virtual channel ", vc, " of ", fabric_.name(id), " has ", at[vc],
                     " flits and credits for a buffer of ", options_.buffer);
        }
    }
    if (flits != sent)
        fail("nodes have sent ", sent, " flits, but ", flits, " were received or are on their way");
}

InputQueuedNetwork::InputQueuedNetwork(const Fabric& fabric, const Paths& paths, Workload& workload,
                                       const SwitchOptions& options, std::uint64_t seed, int threads)
    : simulation_(std::make_unique<Simulation>(fabric, paths, workload, options, seed, threads)) {}
InputQueuedNetwork::~InputQueuedNetwork() = default;
void InputQueuedNetwork::run(std::uint64_t cycles) { simulation_->run(cycles); }
std::uint64_t InputQueuedNetwork::cycle() const { return simulation_->cycle(); }
double InputQueuedNetwork::lag() const { return simulation_->lag(); }
Received InputQueuedNetwork::take_received() { return simulation_->take_received(); }
std::uint64_t InputQueuedNetwork::flit_hops() const { return simulation_->flit_hops(); }
void InputQueuedNetwork::check() const { simulation_->check(); }

}  // namespace topoloom
