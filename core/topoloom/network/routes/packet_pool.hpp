// SPDX-License-Identifier: BSD-3-Clause
// A pool of packets in flight, shared by threads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "topoloom/base/error.hpp"
#include "topoloom/network/routes/paths.hpp"
#include "topoloom/network/workload.hpp"

namespace topoloom {

/// Packets with their paths. After a packet was freed, the shard that made it reuses its number. Only
/// one shard accesses a packet at a time.
class PacketPool {
   public:
    /// Whether a packet has a fixed path or chooses adaptively at each router, possibly with an escape path.
    enum class RouteMode : std::uint8_t { planned, adaptive, may_escape };
    struct Packet {
        PacketRequest order;
        std::uint16_t hop = 0;  // index in the path of the head's current or next channel
        std::uint16_t hops = 0;
        RouteMode mode = RouteMode::planned;
    };

    /// Makes a pool for at most `most` packets at a time.
    PacketPool(std::size_t longest_path, std::size_t most, std::size_t shards)
        : longest_(longest_path), free_lists_(shards), chunks_(most / chunk_size + shards + 1) {
        for (FreeList& free_list : free_lists_)
            for (auto& returned : free_list.returned) returned.resize(shards);
    }

    [[nodiscard]] std::uint32_t make(std::size_t shard, const PacketRequest& order,
                                     std::span<const Hop> path) {
        std::vector<std::uint32_t>& unused = free_lists_[shard].unused;
        if (unused.empty()) add_chunk(static_cast<std::uint32_t>(shard));
        const std::uint32_t packet = unused.back();
        unused.pop_back();
        (*this)[packet] = {.order = order, .hops = static_cast<std::uint16_t>(path.size())};
        std::ranges::copy(path, hops(packet));
        return packet;
    }
    /// Replaces the path of a packet and moves the packet to the first hop.
    void replace_path(std::uint32_t packet, std::span<const Hop> path) {
        std::ranges::copy(path, hops(packet));
        (*this)[packet].hop = 0;
        (*this)[packet].hops = static_cast<std::uint16_t>(path.size());
    }
    /// Frees a packet. Any shard can call this. The shard that made the packet reclaims it at the second
    /// reclaim_packets() from now.
    void free_packet(std::size_t shard, std::uint32_t packet) {
        FreeList& free_list = free_lists_[shard];
        const std::size_t maker = chunks_[packet / chunk_size]->maker;
        (maker == shard ? free_list.unused : free_list.returned[free_list.turn][maker]).push_back(packet);
    }
    /// Reclaims packets that other shards freed before their last reclaim_packets(). All shards call this in the same
    /// cycles, between barriers.
    void reclaim_packets(std::size_t shard) {
        FreeList& own = free_lists_[shard];
        const std::size_t before = own.turn;
        own.turn = 1 - own.turn;
        for (FreeList& other : free_lists_) {
            std::vector<std::uint32_t>& back = other.returned[before][shard];
            own.unused.insert(own.unused.end(), back.begin(), back.end());
            back.clear();
        }
    }

    [[nodiscard]] Packet& operator[](std::uint32_t packet) {
        return chunks_[packet / chunk_size]->packets[packet % chunk_size];
    }
    [[nodiscard]] const Packet& operator[](std::uint32_t packet) const {
        return chunks_[packet / chunk_size]->packets[packet % chunk_size];
    }
    /// The current hop of the head.
    [[nodiscard]] const Hop& hop(std::uint32_t packet) const { return hops(packet)[(*this)[packet].hop]; }
    /// The hop after the current hop, or null if the current hop leads to a node.
    [[nodiscard]] const Hop* next_hop(std::uint32_t packet) const {
        const Packet& one = (*this)[packet];
        return one.hop + 1 < one.hops ? hops(packet) + one.hop + 1 : nullptr;
    }
    /// Advances to the next hop.
    const Hop& advance(std::uint32_t packet) { return hops(packet)[++(*this)[packet].hop]; }

   private:
    static constexpr std::uint32_t chunk_size = 256;
    struct Chunk {
        std::size_t maker;
        std::array<Packet, chunk_size> packets{};
        std::vector<Hop> hops;  // [packet][hop]
    };
    /// Free list of a shard, on its own cache line.
    struct alignas(64) FreeList {
        std::vector<std::uint32_t> unused;
        /// [turn][maker]: packets freed by this shard. The lists of one turn are filled while the makers
        /// empty those of the other.
        std::array<std::vector<std::vector<std::uint32_t>>, 2> returned;
        std::size_t turn = 0;
    };

    [[nodiscard]] Hop* hops(std::uint32_t packet) const {
        return chunks_[packet / chunk_size]->hops.data() + packet % chunk_size * longest_;
    }
    void add_chunk(std::uint32_t shard) {
        const std::uint32_t number = chunk_count_++;
        if (number >= chunks_.size()) fail("there are more packets than buffers");
        chunks_[number] = std::make_unique<Chunk>(Chunk{shard, {}, std::vector<Hop>(chunk_size * longest_)});
        for (std::uint32_t i = chunk_size; i-- > 0;)
            free_lists_[shard].unused.push_back(number * chunk_size + i);
    }

    std::size_t longest_;
    std::vector<FreeList> free_lists_;            // [shard]
    std::vector<std::unique_ptr<Chunk>> chunks_;  // has its final size from the start, so chunks never move
    std::atomic<std::uint32_t> chunk_count_ = 0;
};

}  // namespace topoloom
