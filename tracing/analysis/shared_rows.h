#pragma once

#include "tracing/analysis/ledger/ledger_result.h"

#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

namespace rankscope::tracing {

/// Rows of a ledger in pieces that copies share: a ledger that grows is handed out again at the cost of its pieces.
class SharedRows {
public:
    using Piece = std::shared_ptr<const std::vector<ledger::LedgerRow>>;

    SharedRows() = default;
    SharedRows(std::vector<ledger::LedgerRow> rows) // NOLINT: any rows are one piece
    {
        add(std::make_shared<const std::vector<ledger::LedgerRow>>(std::move(rows)));
    }

    void add(Piece piece)
    {
        if (piece->empty())
            return;
        size_ += piece->size();
        pieces_.push_back(std::move(piece));
    }

    class Iterator {
    public:
        using value_type = ledger::LedgerRow;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        Iterator(const Piece* piece, std::size_t row)
            : piece_(piece)
            , row_(row)
        {
        }
        const value_type& operator*() const { return (**piece_)[row_]; }
        const value_type* operator->() const { return &**this; }
        Iterator& operator++()
        {
            if (++row_ == (*piece_)->size()) {
                ++piece_;
                row_ = 0;
            }
            return *this;
        }
        Iterator operator++(int)
        {
            const Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator&) const = default;

    private:
        const Piece* piece_ = nullptr;
        std::size_t row_ = 0;
    };

    Iterator begin() const { return { pieces_.data(), 0 }; }
    Iterator end() const { return { pieces_.data() + pieces_.size(), 0 }; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    /// Those that pass; pieces that pass as a whole stay shared.
    template <typename Filter> SharedRows where(Filter filter) const
    {
        SharedRows chosen;
        for (const Piece& piece : pieces_) {
            std::vector<ledger::LedgerRow> some;
            for (const ledger::LedgerRow& row : *piece) {
                if (filter(row))
                    some.push_back(row);
            }
            if (some.size() == piece->size())
                chosen.add(piece);
            else if (!some.empty())
                chosen.add(std::make_shared<const std::vector<ledger::LedgerRow>>(std::move(some)));
        }
        return chosen;
    }

private:
    std::vector<Piece> pieces_; ///< none is empty
    std::size_t size_ = 0;
};

} // namespace rankscope::tracing
