// SPDX-License-Identifier: BSD-3-Clause
#include "topoloom/qap/qap_tabu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "topoloom/qap/qap_moves.hpp"

namespace topoloom::qap {

namespace {

std::int64_t normalized_value(const NormalizedQap& form, std::span<const std::uint32_t> p) {
    const std::size_t n = form.order;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (!form.linear.empty()) sum += form.linear[i * n + p[i]];
        for (std::size_t j = 0; j < (form.symmetric ? i : n); ++j)
            sum += form.a[i * n + j] * form.b[p[i] * n + p[j]];
    }
    return sum;
}

template <class T>
class RobustTabu final : public QapTabu {
   public:
    RobustTabu(const NormalizedQap& form, const QapTables<T>& tables)
        : form_(form), moves_(tables), max_tenure_(8 * compute_effective_order(tables)) {}

    void start(Permutation p, Rng rng) override {
        moves_.start(p);
        value_ = best_value_ = normalized_value(form_, p);
        best_ = std::move(p);
        rng_ = rng;
        now_ = best_at_ = 0;
    }

    void run(std::uint64_t iterations) override {
        if (moves_.min_any() == QapMoves<T>::nothing) {  // there are only exchanges of twins
            now_ += iterations;
            return;
        }
        for (std::uint64_t i = 0; i < iterations; ++i) step();
    }

    bool descend(std::uint64_t exchanges) override {
        for (std::uint64_t i = 0; i < exchanges; ++i) {
            if (moves_.min_any() >= 0) return true;
            perform(moves_.find_any(rng_.below(static_cast<std::uint32_t>(form_.order))));
        }
        return moves_.min_any() >= 0;
    }

   private:
    void step() {
        const std::uint32_t from = rng_.below(static_cast<std::uint32_t>(form_.order));
        const auto least = static_cast<std::int64_t>(moves_.min_any());
        const bool improves_best = value_ + least < best_value_;
        const bool any = improves_best || moves_.min_free() == QapMoves<T>::nothing;
        perform(any ? moves_.find_any(from) : moves_.find_free(from));
    }

    void perform(const typename QapMoves<T>::Move& move) {
        const Permutation& p = moves_.assignment();
        ++now_;
        moves_.forbid(move.i, p[move.i], draw_tabu_end());
        moves_.forbid(move.j, p[move.j], draw_tabu_end());
        moves_.exchange(move.i, move.j, static_cast<std::uint32_t>(now_));
        value_ += static_cast<std::int64_t>(move.delta);
        if (value_ >= best_value_) return;
        best_value_ = value_;
        best_ = p;
        best_at_ = now_;
    }

    /// Returns the order that determines tenures. It is lower if there are twins, because these reduce the
    /// number of different exchanges.
    [[nodiscard]] static double compute_effective_order(const QapTables<T>& tables) {
        const auto count = [](std::span<const std::uint32_t> classes) {
            std::size_t firsts = 0;
            for (std::uint32_t i = 0; i < classes.size(); ++i) firsts += classes[i] == i ? 1 : 0;
            return static_cast<double>(firsts);
        };
        const double least = std::min(count(tables.item_class), count(tables.location_class));
        return std::sqrt(least * static_cast<double>(tables.order));
    }

    std::uint32_t draw_tabu_end() {
        const double u = rng_.uniform();
        return static_cast<std::uint32_t>(static_cast<double>(now_) + max_tenure_ * u * u * u);
    }

    const NormalizedQap& form_;
    QapMoves<T> moves_;
    double max_tenure_;
    std::int64_t value_ = 0;
    Rng rng_{0};
};

}  // namespace

struct QapContext::Tables {
    std::variant<QapTables<std::int32_t>, QapTables<double>, QapTables<std::int64_t>> of;
};

QapContext::QapContext(const Qap& qap)
    : form_(qap), tables_(with_qap_type(form_, [&]<class T>(T) {
          return std::make_unique<const Tables>(Tables{QapTables<T>(form_)});
      })) {}

QapContext::~QapContext() = default;

std::span<const std::uint32_t> QapContext::item_class() const {
    return std::visit([](const auto& t) { return std::span<const std::uint32_t>(t.item_class); },
                      tables_->of);
}

std::span<const std::uint32_t> QapContext::location_class() const {
    return std::visit([](const auto& t) { return std::span<const std::uint32_t>(t.location_class); },
                      tables_->of);
}

std::unique_ptr<QapTabu> QapContext::search() const {
    return std::visit(
        [&]<class T>(const QapTables<T>& tables) -> std::unique_ptr<QapTabu> {
            return std::make_unique<RobustTabu<T>>(form_, tables);
        },
        tables_->of);
}

}  // namespace topoloom::qap
