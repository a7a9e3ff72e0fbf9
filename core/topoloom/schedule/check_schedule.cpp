// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/schedule/check_schedule.hpp"

#include <algorithm>

namespace topoloom {

namespace {

/// Calls visit(block) for each block that the collective allows a rank to have before the first round or
/// after the last.
template <class Visit>
void each_allowed_block(const Collective& collective, Rank rank, bool last, const Visit& visit) {
    const std::uint64_t ranks = collective.ranks();
    if (!collective.is_personalized()) {
        for (std::uint64_t block = 0; block < collective.block_count(); ++block) visit(block);
    } else {
        for (std::uint64_t peer = 0; peer < ranks; ++peer)
            visit(last ? peer * ranks + rank.value : rank.value * ranks + peer);
    }
}

}  // namespace

ScheduleVerifier::ScheduleVerifier(const Collective& collective) : collective_(collective) {
    const std::size_t who = collective.reduces() ? collective.ranks() : 1;
    for (std::size_t left = who; left > 0; left -= std::min<std::size_t>(left, 64))
        whole_.push_back(left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1);
    shares_.resize(collective.ranks() * collective.block_count() * whole_.size());
    for (const Rank rank : ids<Rank>(collective.ranks())) {
        const std::size_t whose = collective.reduces() ? rank.value : 0;
        each_allowed_block(collective, rank, false, [&](std::uint64_t block) {
            if (collective.has_initially(rank, block))
                shares_[at(rank, block) + whose / 64] |= std::uint64_t{1} << (whose % 64);
        });
    }
}

bool ScheduleVerifier::has_any_share(Rank rank, std::uint64_t block) const {
    return std::ranges::any_of(shares(rank, block), [](std::uint64_t word) { return word != 0; });
}

bool ScheduleVerifier::has_all_shares(Rank rank, std::uint64_t block) const {
    const auto have = shares(rank, block);
    std::size_t left = collective_.promised_shares(rank);
    for (std::size_t k = 0; k < whole_.size() && left > 0; ++k) {
        const std::uint64_t promised = left >= 64 ? whole_[k] : whole_[k] & ((std::uint64_t{1} << left) - 1);
        if ((have[k] & promised) != promised) return false;
        left -= std::min<std::size_t>(left, 64);
    }
    return true;
}

void ScheduleVerifier::fail_message(std::uint64_t round, const TracedMessage& message, std::uint64_t block,
                                    const char* what) const {
    fail(operation_name(collective_.operation()), " of ", collective_.ranks(), " ranks, round ", round,
         ": rank ", message.from.value, " sends block ", block, " to rank ", message.to.value, ", ", what);
}

void ScheduleVerifier::apply_block(std::uint64_t round, Transfer transfer, const TracedMessage& message,
                                   std::uint64_t block, std::span<const std::uint64_t> with) {
    std::uint64_t* there = &shares_[at(message.to, block)];
    std::uint64_t common = 0, lost = 0, fresh = 0;
    for (std::size_t k = 0; k < with.size(); ++k) {
        common |= there[k] & with[k];
        lost |= there[k] & ~with[k];
        fresh |= ~there[k] & with[k];
    }
    if (transfer == Transfer::combine) {
        if (common != 0 && collective_.operation() != Operation::barrier)
            fail_message(round, message, block, "which already has a part of this block");
    } else {
        if (lost != 0) fail_message(round, message, block, "which would lose a part of its data");
        if (fresh == 0) fail_message(round, message, block, "which already has this block");
    }
    for (std::size_t k = 0; k < with.size(); ++k) there[k] |= with[k];
}

void ScheduleVerifier::verify_round(std::uint64_t round, Transfer transfer,
                                    std::span<const TracedMessage> messages) {
    std::vector<std::uint64_t> carried;  // contributions in the messages, as they were before the round
    for (const TracedMessage& message : messages) {
        Bytes bytes;
        for (const std::uint64_t block : message.blocks) {
            if (block >= collective_.block_count())
                fail_message(round, message, block, "but the block does not exist");
            if (!has_any_share(message.from, block))
                fail_message(round, message, block, "but does not have this block");
            const auto own = shares(message.from, block);
            carried.insert(carried.end(), own.begin(), own.end());
            bytes += collective_.bytes_of(block);
        }
        if (bytes != message.bytes) {
            fail("round ", round, ": the message from rank ", message.from.value, " to rank ",
                 message.to.value, " has ", message.bytes.value, " bytes, but its blocks have ", bytes.value);
        }
    }
    if (transfer == Transfer::move) {
        for (const TracedMessage& message : messages) {
            for (const std::uint64_t block : message.blocks) {
                if (!has_any_share(message.from, block))
                    fail_message(round, message, block, "but has already sent it to another rank");
                std::fill_n(&shares_[at(message.from, block)], whole_.size(), 0);
            }
        }
    }
    std::span<const std::uint64_t> rest = carried;
    for (const TracedMessage& message : messages) {
        for (const std::uint64_t block : message.blocks) {
            apply_block(round, transfer, message, block, rest.first(whole_.size()));
            rest = rest.subspan(whole_.size());
        }
    }
}

void ScheduleVerifier::finish() const {
    const auto wrong = [&](Rank rank, std::uint64_t block, const char* what) {
        fail(operation_name(collective_.operation()), " of ", collective_.ranks(), " ranks: in the end rank ",
             rank.value, what, block);
    };
    for (const Rank rank : ids<Rank>(collective_.ranks())) {
        std::ptrdiff_t promised = 0;
        each_allowed_block(collective_, rank, true, [&](std::uint64_t block) {
            if (!collective_.has_finally(rank, block)) return;
            if (!has_all_shares(rank, block)) wrong(rank, block, " lacks data of block ");
            ++promised;
        });
        if (collective_.allows_extra_blocks()) continue;
        const auto begin = shares_.begin() + static_cast<std::ptrdiff_t>(at(rank, 0));
        const auto end = begin + static_cast<std::ptrdiff_t>(collective_.block_count());
        if (std::count(begin, end, true) == promised) continue;
        for (std::uint64_t block = 0; block < collective_.block_count(); ++block) {
            if (!collective_.has_finally(rank, block) && has_any_share(rank, block))
                wrong(rank, block, " still has block ");
        }
    }
}

void check_agreement(std::uint64_t round, std::vector<MessageKey> sent, std::vector<MessageKey> received) {
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    const auto same_ranks = [](const MessageKey& a, const MessageKey& b) {
        return a.from == b.from && a.to == b.to;
    };
    const auto twice = std::adjacent_find(sent.begin(), sent.end(), same_ranks);
    if (twice != sent.end())
        fail("round ", round, ": rank ", twice->from.value, " sends to ", twice->to.value, " twice");
    const auto [left, waiting] = std::mismatch(sent.begin(), sent.end(), received.begin(), received.end());
    if (waiting != received.end() && (left == sent.end() || *waiting < *left || same_ranks(*waiting, *left)))
        fail("round ", round, ": rank ", waiting->to.value, " waits for ", waiting->bytes.value,
             " bytes that rank ", waiting->from.value, " does not send");
    if (left != sent.end())
        fail("round ", round, ": rank ", left->to.value, " does not wait for the message of rank ",
             left->from.value);
}

}  // namespace topoloom
