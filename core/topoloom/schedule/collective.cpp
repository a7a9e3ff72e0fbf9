// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/collective.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "topoloom/base/error.hpp"

namespace topoloom {

namespace {

constexpr std::array<std::string_view, 13> names{"bcast",
                                                 "reduce",
                                                 "scatter",
                                                 "gather",
                                                 "allgather",
                                                 "allreduce",
                                                 "reduce_scatter",
                                                 "alltoall",
                                                 "barrier",
                                                 "many-to-many",
                                                 "many-to-many-multicast",
                                                 "scan",
                                                 "exscan"};

}  // namespace

std::string_view operation_name(Operation operation) { return names[static_cast<std::size_t>(operation)]; }

Operation parse_operation(std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<Operation>(found - names.begin());
    std::string all;
    for (const std::string_view known : names) all += (all.empty() ? "" : ", ") + std::string(known);
    fail("no collective '", name, "'; there are: ", all);
}

void require_rank_count(Operation operation, std::size_t ranks) {
    if (ranks == 0 || ranks >= std::size_t{1} << 31)
        fail(operation_name(operation), ": ", ranks, " ranks; there must be 1 to 2147483647");
}

Collective::Collective(Operation operation, std::size_t ranks, Bytes bytes, Rank root, std::uint64_t pieces,
                       Cut cut)
    : operation_(operation), ranks_(ranks), bytes_(bytes), root_(root), pieces_(pieces), cut_(cut) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    const std::string_view name = operation_name(operation);
    require_rank_count(operation, ranks);
    if (bytes.value < 0) fail(name, ": ", bytes.value, " bytes; there must be 0 or more");
    if (bytes.value > most / static_cast<std::int64_t>(ranks)) {
        fail(name, ": ", bytes.value, " bytes for each of ", ranks,
             " ranks are more than 2^62; scale them down");
    }
    if (operation == Operation::barrier && bytes.value > 0) fail("barrier: it carries no bytes");
    if (root.value >= ranks)
        fail(name, ": the root ", root.value, " is not a rank; ranks are 0 to ", ranks - 1);
    if (operation == Operation::many_to_many || operation == Operation::many_to_many_multicast)
        fail(name, ": it needs a demand: the ranks to which each rank sends");
    const bool in_pieces =
        operation == Operation::bcast || operation == Operation::reduce || operation == Operation::allreduce;
    const bool in_blocks = operation == Operation::allgather || operation == Operation::reduce_scatter;
    if (pieces == 0 || pieces > std::uint64_t{1} << 31 ||
        (pieces > 1 && !in_pieces && !(in_blocks && pieces == ranks && cut == Cut::even))) {
        fail(name, ": it can't be divided into ", pieces, " pieces");
    }
}

Collective::Collective(Operation operation, std::shared_ptr<const Demand> demand)
    : operation_(operation), ranks_(demand->ranks()), root_(0), pieces_(1), demand_(std::move(demand)) {
    if (operation != Operation::many_to_many && operation != Operation::many_to_many_multicast)
        fail(operation_name(operation), ": only a many-to-many has a demand");
}

Bytes Collective::demanded_bytes(std::uint64_t first, std::uint64_t count) const {
    Bytes sum;
    for (std::uint64_t block = first; block < first + count; ++block) {
        sum += is_personalized() ? demand_->bytes(Rank{block / ranks_}, Rank{block % ranks_})
                                 : demand_->max_bytes(Rank{block});
    }
    return sum;
}

bool Collective::reduces() const {
    return operation_ == Operation::reduce || operation_ == Operation::allreduce ||
           operation_ == Operation::reduce_scatter || operation_ == Operation::barrier ||
           operation_ == Operation::scan || operation_ == Operation::exscan;
}

std::uint64_t Collective::block_count() const {
    switch (operation_) {
        case Operation::bcast:
        case Operation::reduce:
        case Operation::allreduce:
            return pieces_;
        case Operation::barrier:
        case Operation::scan:
        case Operation::exscan:
            return 1;
        case Operation::alltoall:
        case Operation::many_to_many:
            return std::uint64_t{ranks_} * ranks_;
        default:
            return ranks_;
    }
}

bool Collective::has_initially(Rank rank, std::uint64_t block) const {
    switch (operation_) {
        case Operation::bcast:
            return rank == root_ || is_empty(block);
        case Operation::scatter:
            return rank == root_;
        case Operation::gather:
        case Operation::allgather:
        case Operation::many_to_many_multicast:
            return rank.value == block;
        case Operation::alltoall:
            return rank.value == block / ranks_;
        case Operation::many_to_many:
            return rank.value == block / ranks_ && is_target(rank, Rank{block % ranks_});
        default:
            return true;
    }
}

bool Collective::has_finally(Rank rank, std::uint64_t block) const {
    switch (operation_) {
        case Operation::reduce:
            return rank == root_ && !is_empty(block);
        case Operation::gather:
            return rank == root_;
        case Operation::scatter:
        case Operation::reduce_scatter:
            return rank.value == block;
        case Operation::alltoall:
            return rank.value == block % ranks_;
        case Operation::many_to_many:
            return rank.value == block % ranks_ && is_target(Rank{block / ranks_}, rank);
        case Operation::many_to_many_multicast:
            return rank.value == block || is_target(Rank{block}, rank);
        default:
            return true;
    }
}

}  // namespace topoloom
