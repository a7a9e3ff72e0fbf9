// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of keys between all ranks: by MPI, by combined messages, and by streams.
#pragma once

#include <mpi.h>

#include <topoloom_exchange.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <topoloom_objects.hpp>
#include <topoloom_stream.hpp>
#include <vector>

namespace radix_sort {

using Key = std::uint64_t;

/// Sends counts[r] consecutive keys to each rank r. Returns the received keys in the order of their sources.
class Exchange {
   public:
    virtual ~Exchange() = default;
    virtual std::vector<Key> run(const std::vector<Key>& keys, const std::vector<int>& counts) = 0;
};

class AlltoallvExchange : public Exchange {
   public:
    std::vector<Key> run(const std::vector<Key>& keys, const std::vector<int>& counts) override {
        std::vector<int> arriving(counts.size());
        MPI_Alltoall(counts.data(), 1, MPI_INT, arriving.data(), 1, MPI_INT, MPI_COMM_WORLD);
        const std::vector<int> out = get_offsets(counts), in = get_offsets(arriving);
        std::vector<Key> received(static_cast<std::size_t>(in.back() + arriving.back()));
        MPI_Alltoallv(keys.data(), counts.data(), out.data(), MPI_UINT64_T, received.data(), arriving.data(),
                      in.data(), MPI_UINT64_T, MPI_COMM_WORLD);
        return received;
    }

   private:
    static std::vector<int> get_offsets(const std::vector<int>& counts) {
        std::vector<int> offsets(counts.size());
        for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
        return offsets;
    }
};

/// Sparse exchange: short messages are combined, long ones are sent directly.
class SparseExchange : public Exchange {
   public:
    /// The first exchange on a communicator prepares it.
    explicit SparseExchange(std::size_t ranks) { run({}, std::vector<int>(ranks)); }
    std::vector<Key> run(const std::vector<Key>& keys, const std::vector<int>& counts) override {
        std::vector<int> destinations, lengths;
        for (std::size_t to = 0; to < counts.size(); ++to) {
            if (counts[to] == 0) continue;
            destinations.push_back(static_cast<int>(to));
            lengths.push_back(counts[to]);
        }
        int source_count = 0, *sources = nullptr, *arrived = nullptr;
        Key* buffer = nullptr;
        topoloom_sparse_exchange(static_cast<int>(destinations.size()), destinations.data(), lengths.data(),
                                 keys.data(), nullptr, MPI_UINT64_T, &source_count, &sources, &arrived,
                                 &buffer, MPI_UINT64_T, MPI_COMM_WORLD);
        const std::vector<Key> received(buffer, buffer + std::reduce(arrived, arrived + source_count));
        topoloom_sparse_free(&sources, &arrived, &buffer);
        return received;
    }
};

/// Received keys of each source, and their concatenation.
class Inbox {
   public:
    explicit Inbox(std::size_t sources) : by_source_(sources) {}
    std::vector<Key>& operator[](std::size_t source) { return by_source_[source]; }
    std::vector<Key> take_all() {
        std::vector<Key> all;
        for (std::vector<Key>& keys : by_source_) {
            all.insert(all.end(), keys.begin(), keys.end());
            keys.clear();
        }
        return all;
    }

   private:
    std::vector<std::vector<Key>> by_source_;
};

/// The object of a rank in a many-to-many.
struct Endpoint : topoloom::Object<Endpoint> {
    void send_keys() {
        const Key* from = keys->data();
        for (std::size_t to = 0; to < counts->size(); ++to) {
            const auto count = static_cast<std::size_t>((*counts)[to]);
            if (count > 0)
                insert<&Endpoint::receive>(exchange, to, static_cast<int>(index().x), std::span(from, count));
            from += count;
        }
        done(exchange);
    }
    void receive(int source, std::span<const Key> some) {
        (*inbox)[static_cast<std::size_t>(source)].assign(some.begin(), some.end());
    }
    void serialize(auto& archive) { archive(exchange); }  // endpoints do not migrate
    using methods = topoloom::Methods<&Endpoint::send_keys, &Endpoint::receive>;

    topoloom::ManyToMany<Endpoint> exchange;
    const std::vector<Key>* keys = nullptr;
    const std::vector<int>* counts = nullptr;
    Inbox* inbox = nullptr;
};

class CombinedExchange : public Exchange {
   public:
    CombinedExchange(topoloom::Combining strategy, std::size_t keys)
        : scheduler_(MPI_COMM_WORLD, get_options(keys)),
          endpoints_(scheduler_, {scheduler_.ranks()}, [](topoloom::Index) { return Endpoint(); }),
          inbox_(endpoints_.size()),
          own_(endpoints_.local(scheduler_.rank())) {
        own_->exchange = endpoints_.many_to_many({.strategies = {strategy}});
        own_->inbox = &inbox_;
    }
    std::vector<Key> run(const std::vector<Key>& keys, const std::vector<int>& counts) override {
        own_->keys = &keys;
        own_->counts = &counts;
        endpoints_[scheduler_.rank()].send<&Endpoint::send_keys>();
        scheduler_.run();
        return inbox_.take_all();
    }

   private:
    static topoloom::SchedulerOptions get_options(std::size_t keys) {
        // Longer messages need a rendezvous, which costs another round trip.
        const auto longest = std::clamp<std::size_t>(2 * sizeof(Key) * keys, 1 << 14, 1 << 22);
        return {.message_bytes = static_cast<int>(longest), .measure = false};
    }

    topoloom::Scheduler scheduler_;
    topoloom::Objects<Endpoint> endpoints_;
    Inbox inbox_;
    Endpoint* own_;
};

/// Keys of one source stay in order, but those of several sources are interleaved: each item names its source.
class StreamExchange : public Exchange {
   public:
    StreamExchange(int rank, std::size_t ranks, int dimensions)
        : rank_(static_cast<std::uint32_t>(rank)),
          inbox_(ranks),
          stream_(
              MPI_COMM_WORLD,
              [this](const Item& item) {
                  inbox_[item.source].push_back(Key{item.halves[1]} << 32 | item.halves[0]);
              },
              get_options(dimensions)) {}
    std::vector<Key> run(const std::vector<Key>& keys, const std::vector<int>& counts) override {
        const Key* from = keys.data();
        for (std::size_t to = 0; to < counts.size(); ++to)
            for (const Key* const end = from + counts[to]; from != end; ++from)
                stream_.push(
                    {{static_cast<std::uint32_t>(*from), static_cast<std::uint32_t>(*from >> 32)}, rank_},
                    static_cast<int>(to));
        stream_.wait();
        return inbox_.take_all();
    }

   private:
    static topoloom_stream_options get_options(int dimensions) {
        topoloom_stream_options options{};
        options.dimensions = dimensions;
        return options;
    }

    /// 12 bytes: a key of 64 bits would be aligned, and need 16.
    struct Item {
        std::array<std::uint32_t, 2> halves;
        std::uint32_t source;
    };

    std::uint32_t rank_;
    Inbox inbox_;
    topoloom::Stream<Item> stream_;
};

}  // namespace radix_sort
