#pragma once

#include "tracing/analysis/run_ledger.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rankscope::tracing {

// Numbers and words with a blank after each; "-" is none. One function describes the layout for both directions.

class Packer {
public:
    void operator()(std::int64_t value)
    {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        text.append(digits, end).push_back(' ');
    }
    void word(const std::string& value) { text.append(value.empty() ? "-" : value).push_back(' '); }
    /// Any text, blanks and all.
    void sentence(const std::string& value)
    {
        (*this)(static_cast<std::int64_t>(value.size()));
        text.append(value).push_back(' ');
    }
    bool good() const { return true; }

    std::string text;
};

class Unpacker {
public:
    explicit Unpacker(std::string_view text)
        : left_(text)
    {
    }

    std::string_view next()
    {
        const std::size_t blank = left_.find(' ');
        if (blank == std::string_view::npos) {
            good_ = false;
            return {};
        }
        const std::string_view token = left_.substr(0, blank);
        left_.remove_prefix(blank + 1);
        return token;
    }
    template <typename T> void operator()(T& value)
    {
        const std::string_view token = next();
        std::int64_t number = 0;
        const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), number);
        good_ = good_ && code == std::errc() && end == token.data() + token.size();
        value = static_cast<T>(number);
    }
    void word(std::string& value)
    {
        const std::string_view token = next();
        value = token == "-" ? std::string() : std::string(token);
    }
    void sentence(std::string& value)
    {
        std::size_t size = 0;
        (*this)(size);
        good_ = good_ && size < left_.size() && left_[size] == ' ';
        if (!good_)
            return;
        value = left_.substr(0, size);
        left_.remove_prefix(size + 1);
    }
    bool good() const { return good_; }
    std::size_t left() const { return left_.size(); }

private:
    std::string_view left_;
    bool good_ = true;
};

template <typename T> inline void put(Packer& pack, const T& value) { pack(static_cast<std::int64_t>(value)); }
template <typename T> void put(Unpacker& pack, T& value) { pack(value); }

template <typename T> void putOptional(Packer& pack, const std::optional<T>& value)
{
    pack(value ? 1 : 0);
    if (value)
        pack(static_cast<std::int64_t>(*value));
}
template <typename T> void putOptional(Unpacker& pack, std::optional<T>& value)
{
    bool has = false;
    pack(has);
    if (has)
        pack(value.emplace());
}

/// Each element by `one`; a damaged count cannot ask for more elements than there are characters.
template <typename T, typename One> void putAll(Packer& pack, const std::vector<T>& values, One one)
{
    pack(static_cast<std::int64_t>(values.size()));
    for (const T& value : values)
        one(pack, value);
}
template <typename T, typename One> void putAll(Unpacker& pack, std::vector<T>& values, One one)
{
    std::size_t count = 0;
    pack(count);
    if (!pack.good() || count > pack.left())
        return;
    values.resize(count);
    for (T& value : values)
        one(pack, value);
}

/// A struct of nothing but 64-bit integers, field by field.
template <typename T> void putNumbers(Packer& pack, const T& value)
{
    static_assert(std::has_unique_object_representations_v<T> && sizeof(T) % sizeof(std::int64_t) == 0);
    for (const std::int64_t number : std::bit_cast<std::array<std::int64_t, sizeof(T) / sizeof(std::int64_t)>>(value))
        pack(number);
}
template <typename T> void putNumbers(Unpacker& pack, T& value)
{
    std::array<std::int64_t, sizeof(T) / sizeof(std::int64_t)> numbers{};
    for (std::int64_t& number : numbers)
        pack(number);
    value = std::bit_cast<T>(numbers);
}
template <typename Pack, typename T> void putReal(Pack& pack, T& value)
{
    if constexpr (std::is_same_v<Pack, Packer>) {
        pack(std::bit_cast<std::int64_t>(static_cast<double>(value)));
    } else {
        std::int64_t bits = 0;
        pack(bits);
        value = std::bit_cast<double>(bits);
    }
}
inline void putOptionalReal(Packer& pack, const std::optional<double>& value)
{
    putOptional(pack, value ? std::optional(std::bit_cast<std::int64_t>(*value)) : std::nullopt);
}
inline void putOptionalReal(Unpacker& pack, std::optional<double>& value)
{
    std::optional<std::int64_t> bits;
    putOptional(pack, bits);
    value = bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
}

inline constexpr auto kLeaf = [](auto& pack, auto& leaf) {
    put(pack, leaf.leaf);
    put(pack, leaf.dimension);
};

template <typename Pack, typename S> void putSaving(Pack& pack, S& saving)
{
    put(pack, saving.prediction.baselineNs);
    put(pack, saving.prediction.predictedNs);
    put(pack, saving.prediction.lowNs);
    put(pack, saving.prediction.highNs);
    putOptional(pack, saving.culprit);
    pack.word(saving.cause);
}
inline constexpr auto kSaving = [](auto& pack, auto& saving) {
    using Pack = std::remove_cvref_t<decltype(pack)>;
    if constexpr (std::is_same_v<Pack, Packer>) {
        pack(saving.leaf ? 1 : 0);
        kLeaf(pack, saving.leaf ? *saving.leaf : ledger::LeafKey{});
    } else {
        bool has = false;
        ledger::LeafKey leaf;
        pack(has);
        kLeaf(pack, leaf);
        if (has)
            saving.leaf = leaf;
    }
    putSaving(pack, saving);
};

constexpr auto kPop = [](auto& pack, auto& pop) {
    for (auto* number : { &pop.ranks, &pop.computeNs, &pop.mostComputeNs, &pop.elapsedNs, &pop.withoutTransferNs })
        put(pack, *number);
};
inline void putPop(Packer& pack, const std::optional<PopTimes>& pop)
{
    pack(pop ? 1 : 0);
    if (pop)
        kPop(pack, *pop);
}
inline void putPop(Unpacker& pack, std::optional<PopTimes>& pop)
{
    bool has = false;
    pack(has);
    if (has)
        kPop(pack, pop.emplace());
}

} // namespace rankscope::tracing
