#include "kernels/matmul.h"

#include <algorithm>
#include <functional>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

namespace rankscope::kernels::cpu {

namespace {

// A primitive is generated machine code: it fits one shape and one number of threads, and is made once.
struct Key {
    MatmulShape shape;
    bool bias;
    int threads;
    dnnl::memory::data_type inputs;
    bool operator==(const Key&) const = default;
};

struct KeyHash {
    std::size_t operator()(const Key& key) const
    {
        const MatmulShape& s = key.shape;
        std::size_t hash = 0;
        for (const std::int64_t field : { s.M, s.N, s.K, s.rowA(), s.rowB(), s.rowC() })
            hash = hash * 1000003U + static_cast<std::size_t>(field);
        const int flags = s.transposeA + 2 * s.transposeB + 4 * s.accumulate + 8 * key.bias
            + 16 * (key.inputs == dnnl::memory::data_type::bf16) + 32 * key.threads;
        return hash * 1000003U + static_cast<std::size_t>(flags);
    }
};

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, std::int64_t leading, bool transposed,
    dnnl::memory::data_type type = dnnl::memory::data_type::f32)
{
    const dnnl::memory::dims strides = transposed ? dnnl::memory::dims{ 1, leading } : dnnl::memory::dims{ leading, 1 };
    return { { rows, columns }, type, strides };
}

struct Product {
    dnnl::memory::desc a, b, c, bias;
    dnnl::matmul primitive;

    Product(const dnnl::engine& engine, const Key& key)
        : a(matrix(key.shape.M, key.shape.K, key.shape.rowA(), key.shape.transposeA, key.inputs))
        , b(matrix(key.shape.K, key.shape.N, key.shape.rowB(), key.shape.transposeB, key.inputs))
        , c(matrix(key.shape.M, key.shape.N, key.shape.rowC(), false))
        , bias(matrix(1, key.shape.N, key.shape.N, false))
    {
        dnnl::primitive_attr attributes;
        if (key.shape.accumulate) {
            dnnl::post_ops sum;
            sum.append_sum(1.0F);
            attributes.set_post_ops(sum);
        }
        const dnnl::matmul::desc operation = key.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
        primitive = dnnl::matmul(dnnl::matmul::primitive_desc(operation, attributes, engine));
    }
};

// One a calling thread: ranks may run as threads of one process, and a oneDNN stream is not shared between threads.
struct Library {
    dnnl::engine engine{ dnnl::engine::kind::cpu, 0 };
    dnnl::stream stream{ engine };
    std::unordered_map<Key, Product, KeyHash> products;

    const Product& product(const Key& key)
    {
        auto found = products.find(key);
        if (found == products.end())
            found = products.emplace(key, Product(engine, key)).first;
        return found->second;
    }
};

void multiply(
    float* c, const void* a, const void* b, const float* bias, const MatmulShape& shape, dnnl::memory::data_type inputs)
{
    thread_local Library library;
    const Product& product = library.product({ shape, bias != nullptr, omp_get_max_threads(), inputs });
    const auto memory = [&](const dnnl::memory::desc& desc, const void* data) {
        return dnnl::memory(desc, library.engine, const_cast<void*>(data)); // the library's inputs are not const
    };
    std::unordered_map<int, dnnl::memory> arguments{ { DNNL_ARG_SRC, memory(product.a, a) },
        { DNNL_ARG_WEIGHTS, memory(product.b, b) }, { DNNL_ARG_DST, memory(product.c, c) } };
    if (bias)
        arguments.emplace(DNNL_ARG_BIAS, memory(product.bias, bias));
    product.primitive.execute(library.stream, arguments);
    library.stream.wait();
}

const float* widen(std::vector<float>& wide, const Bf16* x, std::int64_t rows, std::int64_t row, std::int64_t columns)
{
    // The last row ends with its last column: what follows it may be another's.
    wide.resize(static_cast<std::size_t>((rows - 1) * row + columns));
    std::transform(x, x + wide.size(), wide.begin(), [](Bf16 value) { return value.toFloat(); });
    return wide.data();
}

} // namespace

void matmul(float* c, const float* a, const float* b, const float* bias, const MatmulShape& shape)
{
    multiply(c, a, b, bias, shape, dnnl::memory::data_type::f32);
}

void matmul(float* c, const Bf16* a, const Bf16* b, const float* bias, const MatmulShape& s)
{
    if (hasBf16()) {
        multiply(c, a, b, bias, s, dnnl::memory::data_type::bf16);
        return;
    }
    thread_local std::vector<float> wideA, wideB;
    matmul(c, widen(wideA, a, s.transposeA ? s.K : s.M, s.rowA(), s.transposeA ? s.M : s.K),
        widen(wideB, b, s.transposeB ? s.N : s.K, s.rowB(), s.transposeB ? s.K : s.N), bias, s);
}

} // namespace rankscope::kernels::cpu
