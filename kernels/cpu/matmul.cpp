#include "kernels/matmul.h"

#include <functional>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace rankscope::kernels::cpu {

namespace {

// A primitive is generated machine code: it fits one shape and one number of threads, and is made once.
struct Key {
    MatmulShape shape;
    bool bias;
    int threads;
    bool operator==(const Key&) const = default;
};

struct KeyHash {
    std::size_t operator()(const Key& key) const
    {
        const MatmulShape& s = key.shape;
        std::size_t hash = 0;
        for (const std::int64_t field : { s.M, s.N, s.K, s.rowA(), s.rowB(), s.rowC() })
            hash = hash * 1000003U + static_cast<std::size_t>(field);
        const int flags = s.transposeA + 2 * s.transposeB + 4 * s.accumulate + 8 * key.bias + 16 * key.threads;
        return hash * 1000003U + static_cast<std::size_t>(flags);
    }
};

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, std::int64_t leading, bool transposed)
{
    const dnnl::memory::dims strides = transposed ? dnnl::memory::dims{ 1, leading } : dnnl::memory::dims{ leading, 1 };
    return { { rows, columns }, dnnl::memory::data_type::f32, strides };
}

struct Product {
    dnnl::memory::desc a, b, c, bias;
    dnnl::matmul primitive;

    Product(const dnnl::engine& engine, const Key& key)
        : a(matrix(key.shape.M, key.shape.K, key.shape.rowA(), key.shape.transposeA))
        , b(matrix(key.shape.K, key.shape.N, key.shape.rowB(), key.shape.transposeB))
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

} // namespace

void matmul(float* c, const float* a, const float* b, const float* bias, const MatmulShape& shape)
{
    thread_local Library library;
    const Product& product = library.product({ shape, bias != nullptr, omp_get_max_threads() });
    const auto memory = [&](const dnnl::memory::desc& desc, const float* data) {
        return dnnl::memory(desc, library.engine, const_cast<float*>(data)); // the library's inputs are not const
    };
    std::unordered_map<int, dnnl::memory> arguments{ { DNNL_ARG_SRC, memory(product.a, a) },
        { DNNL_ARG_WEIGHTS, memory(product.b, b) }, { DNNL_ARG_DST, memory(product.c, c) } };
    if (bias)
        arguments.emplace(DNNL_ARG_BIAS, memory(product.bias, bias));
    product.primitive.execute(library.stream, arguments);
    library.stream.wait();
}

} // namespace rankscope::kernels::cpu
