// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/network/input_queued.hpp"

#include <algorithm>
#include <bit>

#include "topoloom/base/error.hpp"
#include "topoloom/network/arbiter.hpp"
#include "topoloom/network/delay_lines.hpp"
#include "topoloom/network/flits.hpp"

namespace topoloom {

namespace {

using Mask = std::uint32_t;  // of virtual channels

Mask range_mask(std::uint32_t begin, std::uint32_t end) {
    return static_cast<Mask>(((std::uint64_t{1} << end) - 1) & ~((std::uint64_t{1} << begin) - 1));
}

/// Latencies are counted one by one up to this number of cycles.
constexpr std::size_t most_cycles = std::size_t{1} << 16;

/// A queue at an input, of one virtual channel.
struct Queue {
    std::uint16_t begin = 0;
    std::uint16_t count = 0;
    std::uint16_t output = 0;  // of the router, of the packet in front
    std::uint8_t vc = 0;       // there
    std::uint64_t ready = 0;   // the cycle from which on the packet in front may ask
};

/// By virtual channels.
struct Input {
    Mask filled = 0;   // with flits
    Mask waiting = 0;  // the packet in front asks for a virtual channel
    Mask active = 0;   // it has one
};

}  // namespace

class InputQueuedNetwork::Simulation {
   public:
    Simulation(const Fabric& fabric, const Paths& paths, Workload& workload, const SwitchOptions& options,
               std::uint64_t seed);

    void run(std::uint64_t cycles) {
        for (const std::uint64_t end = now_ + cycles; now_ < end; ++now_) step();
    }
    [[nodiscard]] std::uint64_t cycle() const { return now_; }
    [[nodiscard]] double lag() const;
    [[nodiscard]] Received take_received();
    [[nodiscard]] std::uint64_t flit_hops() const { return flit_hops_; }
    void check() const;

   private:
    /// A node's network card: the packet that it is sending.
    struct Sender {
        Rng ways;
        std::uint64_t next;  // cycle of its next packet
        ChannelId entry{};
        std::uint32_t packet = no_index;
        std::uint32_t left = 0;  // flits of the packet that it is sending
        std::uint8_t vc = 0;
    };

    void step();
    void send(Node node);
    bool begin_packet(Node node);
    void take_arrivals(std::uint32_t router);
    void take_credits(std::uint32_t router);
    void take_credit(ChannelId channel) {
        const std::uint8_t credit = returning_.take(channel.value, now_);
        if (credit != 0) ++credits_[at(channel, credit - 1U)];
    }
    void allocate_vcs(std::uint32_t router);
    void allocate_switch(std::uint32_t router);
    void cross(std::uint32_t router, std::uint32_t input, std::uint32_t vc);
    void receive(Flit flit);
    void show_head(std::uint32_t input, std::uint32_t vc);
    [[nodiscard]] std::size_t at(ChannelId channel, std::uint32_t vc) const {
        return std::size_t{channel.value} * options_.vcs + vc;
    }
    [[nodiscard]] Queue& queue(std::uint32_t input, std::uint32_t vc) {
        return queues_[std::size_t{input} * options_.vcs + vc];
    }
    [[nodiscard]] Flit& stored(std::uint32_t input, std::uint32_t vc, std::uint32_t place) {
        return flits_[(std::size_t{input} * options_.vcs + vc) * options_.buffer + place];
    }
    [[nodiscard]] std::uint32_t place(std::uint32_t number) const {
        return number >= options_.buffer ? number - options_.buffer : number;
    }
    /// Virtual channels of a class that a packet could take now.
    [[nodiscard]] Mask takeable(ChannelId channel, std::uint32_t klass) const {
        Mask free = free_[channel.value] & class_mask_[klass];
        if (fabric_.channel(channel).is_exit()) return free;
        Mask found = 0;
        for (; free != 0; free &= free - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(free));
            if (credits_[at(channel, vc)] >= room_) found |= Mask{1} << vc;
        }
        return found;
    }

    const Fabric& fabric_;
    const Paths& paths_;
    Workload& workload_;
    const SwitchOptions options_;
    std::uint32_t delay_;  // cycles from a switch's decision to the next router
    std::uint32_t room_;   // credits that a packet needs to take a virtual channel
    std::uint64_t now_ = 0;
    std::uint64_t flit_hops_ = 0;
    std::uint64_t sent_ = 0;   // flits by nodes
    std::uint64_t taken_ = 0;  // flits by nodes, all along
    Paths::Room path_room_;
    Packets packets_;
    std::vector<Mask> class_mask_;
    std::vector<Sender> senders_;  // [node]
    std::vector<ChannelId> entries_;
    std::vector<std::uint32_t> credits_;  // [channel][vc]
    std::vector<Mask> free_;              // [channel]: virtual channels that no packet has
    DelayLines<Flit> moving_;             // by channel
    DelayLines<std::uint8_t> returning_;  // by channel: 1 + the virtual channel of a credit
    std::vector<Input> inputs_;
    std::vector<Queue> queues_;            // [input][vc]
    std::vector<Flit> flits_;              // [input][vc][place]
    std::vector<std::uint32_t> stored_;    // [router]: flits there
    std::vector<RoundRobin> vc_turn_;      // [channel][vc]: among the queues of its router
    std::vector<RoundRobin> choice_turn_;  // [input][vc]: among virtual channels of an output
    std::vector<RoundRobin> output_turn_;  // [output]: among inputs
    std::vector<RoundRobin> input_turn_;   // [input]: among outputs
    std::vector<RoundRobin> queue_turn_;   // [input]: among its virtual channels
    std::vector<Grant> grants_;            // of the router at work
    std::vector<Grant> accepted_;
    std::vector<std::uint32_t> asked_, granted_;
    Received received_;
};

InputQueuedNetwork::Simulation::Simulation(const Fabric& fabric, const Paths& paths, Workload& workload,
                                           const SwitchOptions& options, std::uint64_t seed)
    : fabric_(fabric),
      paths_(paths),
      workload_(workload),
      options_(options),
      delay_(options.crossing + options.channel),
      room_(options.switching == Switching::cut_through ? workload.longest_packet() : 1),
      packets_(paths.longest()),
      moving_(fabric.channel_count(), options.crossing + options.channel),
      returning_(fabric.channel_count(), options.crossing + options.channel) {
    require_switches(options, workload.longest_packet());
    const std::uint32_t classes = paths.class_count();
    if (options.vcs < classes) {
        std::string names;
        for (const ChannelId one : paths.circle()) names += (names.empty() ? "" : ", ") + fabric.name(one);
        fail("packets could wait for each other in a circle: ", names, "; '", fabric.machine().text(),
             "' needs ", classes, " virtual channels, not ", options.vcs);
    }
    for (std::uint32_t c = 0; c < classes; ++c)
        class_mask_.push_back(range_mask(c * options.vcs / classes, (c + 1) * options.vcs / classes));
    for (const Node node : ids<Node>(fabric.node_count()))
        senders_.push_back({Rng(seed, fabric.node_count() + node.value), workload.next(node)});
    for (const ChannelId channel : ids<ChannelId>(fabric.channel_count()))
        if (fabric.channel(channel).is_entry()) entries_.push_back(channel);
    const std::size_t vcs = options.vcs;
    credits_.assign(fabric.channel_count() * vcs, options.buffer);
    free_.assign(fabric.channel_count(), range_mask(0, options.vcs));
    inputs_.resize(fabric.input_count());
    queues_.resize(fabric.input_count() * vcs);
    flits_.resize(queues_.size() * options.buffer);
    stored_.assign(fabric.router_count(), 0);
    vc_turn_.resize(fabric.channel_count() * vcs);
    choice_turn_.resize(queues_.size());
    output_turn_.resize(fabric.output_count());
    input_turn_.resize(fabric.input_count());
    queue_turn_.resize(fabric.input_count());
    std::size_t most_inputs = 0, most_outputs = 0;
    for (std::uint32_t r = 0; r < fabric.router_count(); ++r) {
        most_inputs = std::max(most_inputs, fabric.into(r).size());
        most_outputs = std::max(most_outputs, fabric.out_of(r).size());
    }
    grants_.resize(most_outputs * vcs);
    accepted_.resize(most_inputs * vcs);
    asked_.reserve(grants_.size());
    granted_.reserve(accepted_.size());
    received_.by_latency.assign(most_cycles, 0);
}

void InputQueuedNetwork::Simulation::step() {
    for (const ChannelId entry : entries_) take_credit(entry);
    for (const Node node : ids<Node>(senders_.size())) send(node);
    for (std::uint32_t router = 0; router < fabric_.router_count(); ++router) {
        take_arrivals(router);
        take_credits(router);
        if (stored_[router] == 0) continue;
        allocate_switch(router);
        allocate_vcs(router);
    }
}

// ---- nodes -------------------------------------------------------------------------------------------------------

bool InputQueuedNetwork::Simulation::begin_packet(Node node) {
    Sender& sender = senders_[node.value];
    // The path says which channel the packet enters by, hence it is drawn before there is room.
    if (sender.packet == no_index) {
        const Order order = workload_.take(node);
        sender.packet = packets_.make(order, paths_.find(node, order.to, sender.ways, path_room_));
        sender.next = workload_.next(node);
        sender.entry = packets_.hop(sender.packet).channel;
    }
    const Mask takeable_now = takeable(sender.entry, packets_.hop(sender.packet).klass);
    if (takeable_now == 0) return false;
    sender.vc = static_cast<std::uint8_t>(std::countr_zero(takeable_now));
    sender.left = packets_[sender.packet].order.flits;
    return true;
}

void InputQueuedNetwork::Simulation::send(Node node) {
    Sender& sender = senders_[node.value];
    if (sender.left == 0) {
        if (sender.packet == no_index && sender.next > now_) return;
        if (!begin_packet(node)) return;
    }
    std::uint32_t& credits = credits_[at(sender.entry, sender.vc)];
    if (credits == 0) return;
    --credits;
    ++sent_;
    const bool is_head = sender.left == packets_[sender.packet].order.flits;
    const bool is_tail = --sender.left == 0;
    moving_.put(sender.entry.value, now_ + options_.channel,
                Flit(sender.packet, sender.vc, is_head, is_tail));
    if (is_tail) sender.packet = no_index;
}

void InputQueuedNetwork::Simulation::receive(Flit flit) {
    ++received_.flits;
    ++taken_;
    if (!flit.is_tail()) return;
    const Order& order = packets_[flit.packet()].order;
    const std::uint64_t there = now_ + delay_, latency = there - order.made;
    ++received_.packets;
    received_.latency += latency;
    ++received_.by_latency[std::min<std::size_t>(latency, most_cycles - 1)];
    workload_.receive(order.to, order, there);
    senders_[order.to.value].next = workload_.next(order.to);
    packets_.free(flit.packet());
}

// ---- routers -----------------------------------------------------------------------------------------------------

/// Of the packet that has come to the front of its queue.
void InputQueuedNetwork::Simulation::show_head(std::uint32_t input, std::uint32_t vc) {
    Queue& queue = this->queue(input, vc);
    const std::uint32_t packet = stored(input, vc, queue.begin).packet();
    packets_.step(packet);
    const Channel& next = fabric_.channel(packets_.hop(packet).channel);
    queue.output = static_cast<std::uint16_t>(next.output - fabric_.first_output(next.from));
    queue.ready = now_ + options_.routing;
    inputs_[input].waiting |= Mask{1} << vc;
}

void InputQueuedNetwork::Simulation::take_arrivals(std::uint32_t router) {
    std::uint32_t input = fabric_.first_input(router);
    for (const ChannelId channel : fabric_.into(router)) {
        const Flit flit = moving_.take(channel.value, now_);
        if (!flit.is_none()) {
            const std::uint32_t vc = flit.vc();
            Queue& queue = this->queue(input, vc);
            stored(input, vc, place(queue.begin + queue.count)) = flit;
            ++stored_[router];
            inputs_[input].filled |= Mask{1} << vc;
            if (queue.count++ == 0 && flit.is_head()) show_head(input, vc);
        }
        ++input;
    }
}

void InputQueuedNetwork::Simulation::take_credits(std::uint32_t router) {
    for (const ChannelId channel : fabric_.out_of(router)) take_credit(channel);
}

void InputQueuedNetwork::Simulation::allocate_vcs(std::uint32_t router) {
    const std::span<const ChannelId> outputs = fabric_.out_of(router);
    const std::uint32_t first = fabric_.first_input(router), vcs = options_.vcs;
    const auto count = static_cast<std::uint32_t>(fabric_.into(router).size());
    asked_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        for (Mask waiting = inputs_[first + i].waiting; waiting != 0; waiting &= waiting - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(waiting));
            const Queue& queue = this->queue(first + i, vc);
            if (queue.ready > now_) continue;
            const std::uint32_t packet = stored(first + i, vc, queue.begin).packet();
            const ChannelId channel = outputs[queue.output];
            for (Mask free = takeable(channel, packets_.hop(packet).klass); free != 0; free &= free - 1) {
                const auto wanted = static_cast<std::uint32_t>(std::countr_zero(free));
                const std::uint32_t requester = i * vcs + vc, at_output = queue.output * vcs + wanted;
                const std::uint32_t distance = vc_turn_[at(channel, wanted)].distance(requester, count * vcs);
                if (grants_[at_output].offer(requester, distance)) asked_.push_back(at_output);
            }
        }
    }
    granted_.clear();
    for (const std::uint32_t at_output : asked_) {
        const std::uint32_t requester = grants_[at_output].requester;
        const std::uint32_t distance =
            choice_turn_[std::size_t{first} * vcs + requester].distance(at_output % vcs, vcs);
        if (accepted_[requester].offer(at_output, distance)) granted_.push_back(requester);
        grants_[at_output] = {};
    }
    for (const std::uint32_t requester : granted_) {
        const std::uint32_t at_output = accepted_[requester].requester;
        const std::uint32_t input = first + requester / vcs, vc = requester % vcs, wanted = at_output % vcs;
        const ChannelId channel = outputs[at_output / vcs];
        accepted_[requester] = {};
        choice_turn_[std::size_t{first} * vcs + requester].served(wanted, vcs);
        vc_turn_[at(channel, wanted)].served(requester, count * vcs);
        free_[channel.value] &= ~(Mask{1} << wanted);
        Queue& queue = this->queue(input, vc);
        queue.vc = static_cast<std::uint8_t>(wanted);
        queue.ready = now_ + 1;
        inputs_[input].waiting &= ~(Mask{1} << vc);
        inputs_[input].active |= Mask{1} << vc;
    }
}

void InputQueuedNetwork::Simulation::allocate_switch(std::uint32_t router) {
    const std::span<const ChannelId> outputs = fabric_.out_of(router);
    const std::uint32_t first = fabric_.first_input(router), vcs = options_.vcs;
    const auto count = static_cast<std::uint32_t>(fabric_.into(router).size());
    const auto output_count = static_cast<std::uint32_t>(outputs.size());
    asked_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        const Input& input = inputs_[first + i];
        for (Mask ready = input.active & input.filled; ready != 0; ready &= ready - 1) {
            const auto vc = static_cast<std::uint32_t>(std::countr_zero(ready));
            const Queue& queue = this->queue(first + i, vc);
            if (queue.ready > now_) continue;
            const ChannelId channel = outputs[queue.output];
            if (credits_[at(channel, queue.vc)] == 0) continue;
            const std::uint32_t distance =
                output_turn_[fabric_.channel(channel).output].distance(i, count) * vcs +
                queue_turn_[first + i].distance(vc, vcs);
            if (grants_[queue.output].offer(i * vcs + vc, distance)) asked_.push_back(queue.output);
        }
    }
    granted_.clear();
    for (const std::uint32_t output : asked_) {
        const std::uint32_t i = grants_[output].requester / vcs;
        if (accepted_[i].offer(output, input_turn_[first + i].distance(output, output_count)))
            granted_.push_back(i);
    }
    for (const std::uint32_t i : granted_) {
        const std::uint32_t output = accepted_[i].requester, vc = grants_[output].requester % vcs;
        accepted_[i] = {};
        output_turn_[fabric_.channel(outputs[output]).output].served(i, count);
        input_turn_[first + i].served(output, output_count);
        queue_turn_[first + i].served(vc, vcs);
        cross(router, first + i, vc);
    }
    for (const std::uint32_t output : asked_) grants_[output] = {};
}

/// Moves the flit in front of a queue to its output.
void InputQueuedNetwork::Simulation::cross(std::uint32_t router, std::uint32_t input, std::uint32_t vc) {
    Queue& queue = this->queue(input, vc);
    const Flit flit = stored(input, vc, queue.begin);
    const ChannelId channel = fabric_.out_of(router)[queue.output];
    queue.begin = static_cast<std::uint16_t>(place(queue.begin + 1U));
    --stored_[router];
    ++flit_hops_;
    returning_.put(fabric_.into(router)[input - fabric_.first_input(router)].value, now_ + delay_,
                   static_cast<std::uint8_t>(vc + 1));
    const Mask bit = Mask{1} << vc;
    if (--queue.count == 0) inputs_[input].filled &= ~bit;
    if (flit.is_tail()) {
        inputs_[input].active &= ~bit;
        free_[channel.value] |= Mask{1} << queue.vc;
    }
    if (fabric_.channel(channel).is_exit()) {
        receive(flit);
    } else {
        --credits_[at(channel, queue.vc)];
        moving_.put(channel.value, now_ + delay_, flit.on(queue.vc));
    }
    if (flit.is_tail() && queue.count > 0) show_head(input, vc);
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
    Received taken;
    taken.by_latency.assign(most_cycles, 0);
    std::swap(taken, received_);
    return taken;
}

void InputQueuedNetwork::Simulation::check() const {
    std::vector<std::uint32_t> seen(credits_);
    std::uint64_t flits = taken_;
    for (const ChannelId channel : ids<ChannelId>(fabric_.channel_count())) {
        if (fabric_.channel(channel).is_exit()) continue;
        const auto see = [&](std::uint32_t vc, std::uint32_t number) { seen[at(channel, vc)] += number; };
        moving_.each(channel.value, [&](Flit flit) {
            see(flit.vc(), 1);
            ++flits;
        });
        returning_.each(channel.value, [&](std::uint8_t credit) { see(credit - 1U, 1); });
        for (std::uint32_t vc = 0; vc < options_.vcs; ++vc) {
            const std::uint32_t stored =
                queues_[std::size_t{fabric_.channel(channel).input} * options_.vcs + vc].count;
            see(vc, stored);
            flits += stored;
            if (seen[at(channel, vc)] != options_.buffer)
                fail("virtual channel ", vc, " of ", fabric_.name(channel), " has ", seen[at(channel, vc)],
                     " flits and credits for a buffer of ", options_.buffer);
        }
    }
    if (flits != sent_)
        fail("nodes have sent ", sent_, " flits, but ", flits, " were received or are on their way");
}

InputQueuedNetwork::InputQueuedNetwork(const Fabric& fabric, const Paths& paths, Workload& workload,
                                       const SwitchOptions& options, std::uint64_t seed)
    : simulation_(std::make_unique<Simulation>(fabric, paths, workload, options, seed)) {}
InputQueuedNetwork::~InputQueuedNetwork() = default;
void InputQueuedNetwork::run(std::uint64_t cycles) { simulation_->run(cycles); }
std::uint64_t InputQueuedNetwork::cycle() const { return simulation_->cycle(); }
double InputQueuedNetwork::lag() const { return simulation_->lag(); }
Received InputQueuedNetwork::take_received() { return simulation_->take_received(); }
std::uint64_t InputQueuedNetwork::flit_hops() const { return simulation_->flit_hops(); }
void InputQueuedNetwork::check() const { simulation_->check(); }

}  // namespace topoloom
