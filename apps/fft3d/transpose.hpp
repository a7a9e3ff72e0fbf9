// SPDX-License-Identifier: BSD-3-Clause
// Transpositions of a distributed array, split into parts that overlap with computation.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <topoloom_objects.hpp>
#include <vector>

namespace fft3d {

using Complex = std::complex<double>;

struct Range {
    int first = 0, count = 0;
    [[nodiscard]] int end() const { return first + count; }
};

/// Block `which` of `total` elements in `blocks` blocks; sizes differ by at most 1.
inline Range get_block(int total, int blocks, int which) {
    const auto start = [&](int block) { return static_cast<int>(1LL * total * block / blocks); };
    return {start(which), start(which + 1) - start(which)};
}

/// A pipeline of parts: compute a part, send its blocks, and store the blocks that arrive.
struct Pipeline {
    int parts = 1;
    bool is_overlapped = false;  // whether a part is sent while the next one is computed
    std::function<void(int part)> compute;
    std::function<std::size_t(int part, int from, int to)> count_elements;
    std::function<void(int part, int to, Complex* block)> pack;
    std::function<void(int part, int from, const Complex* block)> unpack;
    std::function<bool()> work;  // does a slice of independent work; false: none is left
};

/// Sends the blocks of a pipeline to the ranks of a communicator.
class Exchange {
   public:
    virtual ~Exchange() = default;
    virtual void run(const Pipeline& pipeline) = 0;
};

class LibraryExchange : public Exchange {
   public:
    explicit LibraryExchange(MPI_Comm comm) : comm_(comm) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size_);
    }
    void run(const Pipeline& pipeline) override {
        std::vector<Part> parts(static_cast<std::size_t>(pipeline.parts));
        std::vector<MPI_Request> requests(parts.size(), MPI_REQUEST_NULL);
        int is_complete = 0;
        for (int part = 0; part < pipeline.parts; ++part) {
            const auto p = static_cast<std::size_t>(part);
            pipeline.compute(part);
            parts[p] = pack(pipeline, part);
            // MPI need not advance the earlier parts outside of its calls.
            MPI_Testall(part, requests.data(), &is_complete, MPI_STATUSES_IGNORE);
            start(parts[p], pipeline.is_overlapped ? &requests[p] : nullptr);
        }
        const auto test_all = [&] {
            MPI_Testall(pipeline.parts, requests.data(), &is_complete, MPI_STATUSES_IGNORE);
            return is_complete != 0;
        };
        while (!test_all() && pipeline.work()) {
        }
        for (int part = 0; part < pipeline.parts; ++part) {
            const auto p = static_cast<std::size_t>(part);
            MPI_Wait(&requests[p], MPI_STATUS_IGNORE);
            for (int from = 0; from < size_; ++from)
                pipeline.unpack(part, from,
                                &parts[p].in[static_cast<std::size_t>(parts[p].in_offsets[from])]);
        }
    }

   private:
    struct Part {
        std::vector<Complex> out, in;
        std::vector<int> out_counts, out_offsets, in_counts, in_offsets;
    };

    [[nodiscard]] Part pack(const Pipeline& pipeline, int part) const {
        Part made;
        int out = 0, in = 0;
        for (int peer = 0; peer < size_; ++peer) {
            made.out_counts.push_back(static_cast<int>(pipeline.count_elements(part, rank_, peer)));
            made.in_counts.push_back(static_cast<int>(pipeline.count_elements(part, peer, rank_)));
            made.out_offsets.push_back(out);
            made.in_offsets.push_back(in);
            out += made.out_counts.back();
            in += made.in_counts.back();
        }
        // One more element: the address of an empty block at the end is valid.
        made.out.resize(static_cast<std::size_t>(out) + 1);
        made.in.resize(static_cast<std::size_t>(in) + 1);
        for (int to = 0; to < size_; ++to)
            pipeline.pack(part, to, &made.out[static_cast<std::size_t>(made.out_offsets[to])]);
        return made;
    }
    void start(Part& part, MPI_Request* request) const {
        const MPI_Datatype type = MPI_C_DOUBLE_COMPLEX;
        if (request == nullptr)
            MPI_Alltoallv(part.out.data(), part.out_counts.data(), part.out_offsets.data(), type,
                          part.in.data(), part.in_counts.data(), part.in_offsets.data(), type, comm_);
        else
            MPI_Ialltoallv(part.out.data(), part.out_counts.data(), part.out_offsets.data(), type,
                           part.in.data(), part.in_counts.data(), part.in_offsets.data(), type, comm_,
                           request);
    }

    MPI_Comm comm_;
    int rank_ = 0, size_ = 1;
};

/// The object of a rank in a many-to-many. Its methods run a pipeline.
struct Endpoint : topoloom::Object<Endpoint> {
    void start(int part) {
        pipeline->compute(part);
        std::vector<Complex> block;
        const auto from = static_cast<int>(index().x);
        for (int to = 0; to < static_cast<int>(array().size()); ++to) {
            block.resize(pipeline->count_elements(part, from, to));
            if (block.empty()) continue;
            pipeline->pack(part, to, block.data());
            insert<&Endpoint::receive>(exchange, to, part, from, std::span<const Complex>(block));
        }
        done(exchange);
        if (part + 1 < pipeline->parts)
            array()[index()].send<&Endpoint::start>(part + 1);
        else
            array()[index()].send_with_priority<&Endpoint::work>(1);
    }
    void receive(int part, int from, std::span<const Complex> block) {
        pipeline->unpack(part, from, block.data());
        --missing;
    }
    void work() {
        if (missing > 0 && pipeline->work()) array()[index()].send_with_priority<&Endpoint::work>(1);
    }
    void serialize(auto& archive) { archive(exchange); }  // endpoints do not migrate
    using methods = topoloom::Methods<&Endpoint::start, &Endpoint::receive, &Endpoint::work>;

    topoloom::ManyToMany<Endpoint> exchange;
    const Pipeline* pipeline = nullptr;
    int missing = 0;  // blocks that have not arrived
};

class CombinedExchange : public Exchange {
   public:
    /// `bytes` is the largest sum of bytes that a rank of the communicator sends.
    CombinedExchange(MPI_Comm comm, topoloom::Combining strategy, std::size_t bytes)
        : scheduler_(comm, get_options(bytes)),
          endpoints_(scheduler_, {scheduler_.ranks()}, [](topoloom::Index) { return Endpoint(); }),
          own_(endpoints_.local(scheduler_.rank())) {
        own_->exchange = endpoints_.many_to_many({.strategies = {strategy}});
    }
    void run(const Pipeline& pipeline) override {
        own_->pipeline = &pipeline;
        for (int part = 0; part < pipeline.parts; ++part)
            for (int from = 0; from < scheduler_.ranks(); ++from)
                own_->missing += pipeline.count_elements(part, from, scheduler_.rank()) > 0 ? 1 : 0;
        endpoints_[scheduler_.rank()].send<&Endpoint::start>(0);
        scheduler_.run();
    }

   private:
    static topoloom::SchedulerOptions get_options(std::size_t bytes) {
        // Longer messages need a rendezvous, which costs another round trip.
        const auto longest = std::clamp<std::size_t>(2 * bytes, 1 << 14, 1 << 22);
        return {.message_bytes = static_cast<int>(longest), .measure = false};
    }

    topoloom::Scheduler scheduler_;
    topoloom::Objects<Endpoint> endpoints_;
    Endpoint* own_;
};

/// Makes an exchange by name: library, or a strategy of a many-to-many. Collective.
inline std::unique_ptr<Exchange> make_exchange(const std::string& name, MPI_Comm comm, std::size_t bytes) {
    using enum topoloom::Combining;
    int size = 1;
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UNSIGNED_LONG, MPI_MAX, comm);
    if (name == "library" || size == 1) return std::make_unique<LibraryExchange>(comm);
    const auto strategy = name == "direct" ? direct
                          : name == "mesh" ? mesh
                          : name == "grid" ? grid
                                           : hypercube;
    return std::make_unique<CombinedExchange>(comm, strategy, bytes);
}

/// Transposes [outer][own block of middle][inner] to [own block of inner][outer][middle], and back, over the ranks of a
/// communicator. Messages are boxes of both arrays, in the order [outer][middle][inner].
class Transpose {
   public:
    Transpose(MPI_Comm comm, int outer, int middle, int inner, const std::string& how) : outer_(outer) {
        int rank = 0, size = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        for (int i = 0; i < size; ++i) {
            middle_blocks_.push_back(get_block(middle, size, i));
            inner_blocks_.push_back(get_block(inner, size, i));
        }
        middle_ = middle, inner_ = inner, rank_ = static_cast<std::size_t>(rank);
        before_.resize(count(outer) * count(middle_blocks_[rank_].count) * count(inner));
        after_.resize(count(outer) * count(middle) * count(inner_blocks_[rank_].count));
        exchange_ = make_exchange(how, comm, sizeof(Complex) * std::max(before_.size(), after_.size()));
    }
    [[nodiscard]] std::vector<Complex>& before() { return before_; }
    [[nodiscard]] std::vector<Complex>& after() { return after_; }
    [[nodiscard]] int outer() const { return outer_; }
    [[nodiscard]] Range own_inner() const { return inner_blocks_[rank_]; }

    /// Calls `compute` for a range of the first axis of the source, then sends this range.
    template <typename Compute>
    void run(bool is_forward, bool is_overlapped, const Compute& compute, const std::function<bool()>& work) {
        // Equal on all ranks of the communicator. An empty part would still cost messages.
        const int rows = is_forward ? outer_ : std::ranges::max(inner_blocks_, {}, &Range::count).count;
        const int parts = is_overlapped ? std::clamp(rows, 1, 4) : 1;
        Pipeline pipeline;
        pipeline.parts = parts;
        pipeline.is_overlapped = is_overlapped;
        pipeline.work = work;
        pipeline.compute = [&](int part) {
            compute(is_forward ? get_block(outer_, parts, part)
                               : get_block(inner_blocks_[rank_].count, parts, part));
        };
        const auto get = [&](int part, int from, int to) {
            return get_box(is_forward, parts, part, from, to);
        };
        pipeline.count_elements = [&](int part, int from, int to) {
            const Box box = get(part, from, to);
            return count(box.outer.count) * count(box.middle.count) * count(box.inner.count);
        };
        const int own = static_cast<int>(rank_);
        pipeline.pack = [&](int part, int to, Complex* block) {
            for_each_element(get(part, own, to), is_forward,
                             [&](const Complex& element) { *block++ = element; });
        };
        pipeline.unpack = [&](int part, int from, const Complex* block) {
            for_each_element(get(part, from, own), !is_forward,
                             [&](Complex& element) { element = *block++; });
        };
        exchange_->run(pipeline);
    }

   private:
    struct Box {
        Range outer, middle, inner;
    };

    static std::size_t count(int value) { return static_cast<std::size_t>(value); }
    [[nodiscard]] Box get_box(bool is_forward, int parts, int part, int from, int to) const {
        const Range everything{0, outer_};
        if (is_forward)
            return {get_block(outer_, parts, part), middle_blocks_[count(from)], inner_blocks_[count(to)]};
        const Range whole = inner_blocks_[count(from)], some = get_block(whole.count, parts, part);
        return {everything, middle_blocks_[count(to)], {whole.first + some.first, some.count}};
    }
    template <typename Visit>
    void for_each_element(const Box& box, bool is_before, const Visit& visit) {
        const Range middle = middle_blocks_[rank_], inner = inner_blocks_[rank_];
        for (int i = box.outer.first; i < box.outer.end(); ++i)
            for (int j = box.middle.first; j < box.middle.end(); ++j)
                for (int k = box.inner.first; k < box.inner.end(); ++k)
                    visit(is_before
                              ? before_[(count(i) * count(middle.count) + count(j - middle.first)) *
                                            count(inner_) +
                                        count(k)]
                              : after_[(count(k - inner.first) * count(outer_) + count(i)) * count(middle_) +
                                       count(j)]);
    }

    int outer_, middle_ = 0, inner_ = 0;
    std::size_t rank_ = 0;
    std::vector<Range> middle_blocks_, inner_blocks_;
    std::vector<Complex> before_, after_;
    std::unique_ptr<Exchange> exchange_;
};

}  // namespace fft3d
