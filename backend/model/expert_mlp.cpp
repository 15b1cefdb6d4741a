#include "backend/model/expert_mlp.h"

#include "kernels/elementwise.h"
#include "kernels/gelu.h"
#include "tracing/model/check.h"

#include <algorithm>
#include <numeric>

namespace rankscope::backend {

namespace {

Linear::Options routerOptions(const GptConfig& config, const TensorPart& part, const std::string& layer)
{
    return { .parameter = layer + ".mlp.router",
        .kernel = "router",
        .inputs = config.width,
        .outputs = config.experts,
        .bias = false,
        .part = part,
        .isTensorSummand = part.parts > 1,
        .inFp32 = true };
}

/// Experts compute the rows that come, whoever has which part of the sequence.
TensorPart withoutSequence(TensorPart part)
{
    part.splitsSequence = false;
    return part;
}

} // namespace

ExpertMlp::ExpertMlp(ParameterStore& store, KernelRunner& runner, const GptConfig& config, const TensorPart& part,
    const ExpertPart& experts, const std::string& layer, int sequences)
    : numbers_(runner.numbers())
    , part_(part)
    , of_(experts)
    , rows_(static_cast<std::int64_t>(rowCount(config, sequences)))
    , sequence_(config.sequence)
    , width_(config.width)
    , inner_(4 * config.width / part.parts)
    , experts_(config.experts)
    , topK_(config.topK)
    , capacity_(expertCapacity(config, sequences))
    , balance_(static_cast<float>(config.balanceLoss))
    , router_(store, runner, routerOptions(config, part, layer))
    , names_{ .gelu = runner.name("gelu"),
        .route = runner.name("route"),
        .take = runner.name("take rows"),
        .sort = runner.name("sort rows"),
        .combine = runner.name("combine"),
        .clear = runner.name("clear") }
{
    RS_CHECK(config.experts % experts.parts == 0, "parts divide the experts");
    const int local = config.experts / experts.parts;
    for (int expert = experts.index * local; expert < (experts.index + 1) * local; ++expert) {
        const std::string name = layer + ".mlp.expert " + std::to_string(expert);
        Linear::Options down{ .parameter = name + ".down",
            .kernel = "expert down",
            .inputs = 4 * width_,
            .outputs = width_,
            .deviation = residualDeviation(config),
            .split = Linear::Options::Split::Rows,
            .part = withoutSequence(part),
            .isExpert = experts.parts > 1 };
        down_.emplace_back(store, runner, down);
        Linear::Options up = down;
        up.parameter = name + ".up";
        up.kernel = "expert up";
        std::swap(up.inputs, up.outputs);
        up.deviation = Linear::Options{}.deviation;
        up.split = Linear::Options::Split::Columns;
        up_.emplace_back(store, runner, up);
    }
}

FeedForward::Saved ExpertMlp::save(bool defersWeights) const
{
    const auto routes = static_cast<std::size_t>(rows_ * experts_);
    Saved saved{ .before = {},
        .after = ProductInput(numbers_, 0),
        .dbefore = ProductInput(numbers_, 0),
        .defersWeights = defersWeights,
        .routing = {} };
    saved.routing.probabilities = Buffer(routes);
    saved.routing.chosen.resize(static_cast<std::size_t>(rows_ * topK_));
    saved.routing.dlogits = Buffer(defersWeights ? routes : 0);
    return saved;
}

template <typename Body> void ExpertMlp::eachExpert(const Routing& routing, const Body& body) const
{
    std::int64_t first = 0;
    const auto local = static_cast<std::size_t>(localExperts());
    for (std::size_t expert = 0; expert < local; ++expert) {
        std::int64_t rows = 0;
        for (std::size_t at = expert; at < routing.came.size(); at += local)
            rows += routing.came[at];
        if (rows > 0)
            body(expert, first, rows);
        first += rows;
    }
}

void ExpertMlp::route(KernelRunner& runner, Routing& routing, const float* x) const
{
    float* probabilities = routing.probabilities.data();
    router_.forward(runner, probabilities, { x, nullptr }, rows_);
    runner.run(names_.route, kernels::routeCost(shape()), { rows_, part_.parts }, [&] {
        kernels::cpu::routeForward(probabilities, routing.chosen.data(), probabilities, shape());
        if (const auto hot = runner.hotExpert())
            prefer(routing.chosen, *hot, shape());
        sortChoices(routing, shape(), capacity_);
    });
}

void ExpertMlp::exchangeCounts(KernelRunner& runner, Routing& routing) const
{
    routing.came = routing.kept;
    if (of_.parts == 1)
        return;
    const auto local = static_cast<std::size_t>(localExperts());
    std::vector<std::span<const std::byte>> to;
    std::vector<std::span<std::byte>> from;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(of_.parts); ++rank) {
        to.push_back(std::as_bytes(std::span(routing.kept).subspan(rank * local, local)));
        from.push_back(std::as_writable_bytes(std::span(routing.came).subspan(rank * local, local)));
    }
    runner.betweenExperts(to, from, "expert counts")();
}

ExchangeWait ExpertMlp::exchange(
    KernelRunner& runner, const Routing& routing, float* packed, float* arrived, bool toExperts, const char* name) const
{
    const auto local = static_cast<std::size_t>(localExperts()), width = static_cast<std::size_t>(width_);
    std::vector<std::span<float>> here, there; // by rank: what this one has at home, what it has for that one
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(of_.parts); ++rank) {
        const auto sum = [&](const std::vector<std::int32_t>& counts) {
            const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(rank * local);
            return static_cast<std::size_t>(
                std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(local), std::int64_t{ 0 }));
        };
        here.emplace_back(packed, sum(routing.kept) * width);
        there.emplace_back(arrived, sum(routing.came) * width);
        packed += here.back().size();
        arrived += there.back().size();
    }
    std::vector<std::span<const std::byte>> to;
    std::vector<std::span<std::byte>> from;
    for (std::size_t rank = 0; rank < here.size(); ++rank) {
        to.push_back(std::as_bytes(toExperts ? here[rank] : there[rank]));
        from.push_back(std::as_writable_bytes(toExperts ? there[rank] : here[rank]));
    }
    return runner.betweenExperts(to, from, name);
}

void ExpertMlp::toExperts(KernelRunner& runner, const Routing& routing, float* out, float* packed, Workspace& workspace,
    const char* name) const
{
    if (of_.parts == 1)
        return;
    const std::int64_t rows = routing.arrivals();
    float* arrived = grown(workspace.arrived, static_cast<std::size_t>(rows * width_));
    exchange(runner, routing, packed, arrived, true, name)();
    runner.run(names_.sort, kernels::takeRowsCost(rows, width_), rows,
        [&] { arrange(out, arrived, routing, width_, localExperts(), Arrange::ByExpert); });
}

ExchangeWait ExpertMlp::startFromExperts(KernelRunner& runner, const Routing& routing, float* packed, const float* out,
    Workspace& workspace, const char* name) const
{
    if (of_.parts == 1)
        return [] {};
    const std::int64_t rows = routing.arrivals();
    float* leaving = grown(workspace.arrived, static_cast<std::size_t>(rows * width_));
    runner.run(names_.sort, kernels::takeRowsCost(rows, width_), rows,
        [&] { arrange(leaving, out, routing, width_, localExperts(), Arrange::BySender); });
    return exchange(runner, routing, packed, leaving, false, name);
}

void ExpertMlp::up(KernelRunner& runner, Saved& saved, const Operand& x, Workspace& workspace) const
{
    Routing& routing = saved.routing;
    route(runner, routing, x.full);
    exchangeCounts(runner, routing);
    const auto sent = static_cast<std::int64_t>(routing.rows.size()), rows = routing.arrivals();
    float* input = grown(routing.input, static_cast<std::size_t>(rows * width_));
    float* packed = of_.parts == 1 ? input : grown(workspace.packed, static_cast<std::size_t>(sent * width_));
    runner.run(names_.take, kernels::takeRowsCost(sent, width_), sent,
        [&] { kernels::cpu::takeRows(packed, x.full, routing.rows.data(), sent, width_); });
    toExperts(runner, routing, input, packed, workspace, "dispatch");
    float* before = grown(saved.before, static_cast<std::size_t>(rows * inner_));
    eachExpert(routing, [&](std::size_t expert, std::int64_t first, std::int64_t count) {
        up_[expert].forward(runner, before + first * inner_, { input + first * width_, nullptr }, count);
    });
}

void ExpertMlp::activate(KernelRunner& runner, Saved& saved) const
{
    const std::int64_t rows = saved.routing.arrivals(), inside = rows * inner_;
    saved.after.grow(static_cast<std::size_t>(inside));
    if (rows == 0)
        return;
    saved.after.write([&](auto* after) {
        runner.run(names_.gelu, kernels::geluForwardCost(inside, saved.after.bytes()), rows,
            [&] { kernels::cpu::geluForward(after, saved.before.data(), inside); });
    });
}

void ExpertMlp::recomputeDown(KernelRunner& runner, Saved& saved, Workspace& workspace) const
{
    Routing& routing = saved.routing;
    float* output = grown(routing.output, routing.rows.size() * static_cast<std::size_t>(width_));
    float* z = output;
    if (of_.parts > 1)
        z = grown(workspace.atExperts, static_cast<std::size_t>(routing.arrivals() * width_));
    eachExpert(routing, [&](std::size_t expert, std::int64_t first, std::int64_t count) {
        down_[expert].forward(runner, z + first * width_, saved.after.operand().from(first * inner_), count);
    });
    startFromExperts(runner, routing, output, z, workspace, "combine")();
}

void ExpertMlp::down(KernelRunner& runner, Saved& saved, float* y, bool accumulates, Workspace& workspace) const
{
    recomputeDown(runner, saved, workspace);
    const Routing& routing = saved.routing;
    const auto sent = static_cast<std::int64_t>(routing.rows.size());
    if (!accumulates)
        runner.run(
            names_.clear, kernels::clearCost(rows_ * width_), rows_, [&] { kernels::cpu::clear(y, rows_ * width_); });
    runner.run(names_.combine, kernels::addRowsCost(sent, width_, true), sent, [&] {
        kernels::cpu::addRows(y, routing.output.data(), routing.rows.data(), routing.gates.data(), sent, width_);
    });
}

void ExpertMlp::backward(KernelRunner& runner, Saved& saved, float* dx, Operand& dout, Workspace& workspace) const
{
    Routing& routing = saved.routing;
    const auto sent = static_cast<std::int64_t>(routing.rows.size()), rows = routing.arrivals();
    const bool isAlone = of_.parts == 1;
    const auto floats = [](std::int64_t count, std::int64_t width) { return static_cast<std::size_t>(count * width); };
    float* doutput = grown(saved.defersWeights ? routing.doutput : workspace.atExperts, floats(rows, width_));
    float* packed = isAlone ? doutput : grown(workspace.packed, floats(sent, width_));
    workspace.gates.resize(static_cast<std::size_t>(sent));
    runner.run(names_.combine, kernels::addRowsBackwardCost(sent, width_), sent, [&] {
        kernels::cpu::addRowsBackward(packed, workspace.gates.data(), dout.full, routing.output.data(),
            routing.rows.data(), routing.gates.data(), sent, width_);
    });
    toExperts(runner, routing, doutput, packed, workspace, "combine gradient");

    ProductInput& dbefore = saved.defersWeights ? saved.dbefore : workspace.wide;
    dbefore.grow(floats(rows, inner_));
    float* dafter = dbefore.unrounded(workspace.unrounded);
    eachExpert(routing, [&](std::size_t expert, std::int64_t first, std::int64_t count) {
        down_[expert].inputGradient(runner, dafter + first * inner_, { doutput + first * width_, nullptr }, count);
    });
    if (rows > 0)
        dbefore.write([&](auto* written) {
            runner.run(names_.gelu, kernels::geluBackwardCost(rows * inner_, dbefore.bytes()), rows,
                [&] { kernels::cpu::geluBackward(written, dafter, saved.before.data(), rows * inner_); });
        });
    float* dinput = grown(workspace.gradients, floats(rows, width_));
    eachExpert(routing, [&](std::size_t expert, std::int64_t first, std::int64_t count) {
        up_[expert].inputGradient(runner, dinput + first * width_, dbefore.operand().from(first * inner_), count);
    });
    const ExchangeWait back = startFromExperts(runner, routing, packed, dinput, workspace, "dispatch gradient");
    if (!saved.defersWeights)
        addExpertGradients(runner, saved, doutput, dbefore);

    float* dlogits = saved.defersWeights ? routing.dlogits.data() : grown(workspace.routes, floats(rows_, experts_));
    routeBackward(runner, routing, dlogits, workspace);
    router_.inputGradient(runner, dx, { dlogits, nullptr }, rows_);
    back();
    runner.run(names_.take, kernels::addRowsCost(sent, width_, false), sent,
        [&] { kernels::cpu::addRows(dx, isAlone ? dinput : packed, routing.rows.data(), nullptr, sent, width_); });
}

void ExpertMlp::routeBackward(
    KernelRunner& runner, const Routing& routing, float* dlogits, const Workspace& workspace) const
{
    double balance = 0;
    runner.run(names_.route, kernels::routeBackwardCost(shape()), rows_, [&] {
        std::fill_n(dlogits, rows_ * experts_, 0.0F);
        std::size_t slot = 0;
        for (std::size_t expert = 0; expert < routing.kept.size(); ++expert) {
            for (std::int32_t i = 0; i < routing.kept[expert]; ++i, ++slot)
                dlogits[routing.rows[slot] * experts_ + static_cast<std::int64_t>(expert)] = workspace.gates[slot];
        }
        const kernels::RouteShape each{ sequence_, experts_, topK_ };
        for (std::int64_t row = 0; row < rows_; row += sequence_) {
            const std::int32_t* chosen = routing.chosen.data() + row * topK_;
            balance += kernels::cpu::balanceLoss(routing.probabilities.data() + row * experts_, chosen, each);
            if (part_.index == 0) // a summand, once
                kernels::cpu::balanceBackward(dlogits + row * experts_, chosen, balance_ * workspace.lossScale, each);
        }
        kernels::cpu::routeBackward(dlogits, dlogits, routing.probabilities.data(), shape());
    });
    const auto dropped = rows_ * topK_ - static_cast<std::int64_t>(routing.rows.size());
    runner.countExperts(
        of_, routing.came, dropped, balance * static_cast<double>(sequence_) / static_cast<double>(rows_));
}

void ExpertMlp::addExpertGradients(
    KernelRunner& runner, const Saved& saved, const float* doutput, const ProductInput& dbefore) const
{
    eachExpert(saved.routing, [&](std::size_t expert, std::int64_t first, std::int64_t count) {
        down_[expert].addGradients(
            runner, { doutput + first * width_, nullptr }, saved.after.operand().from(first * inner_), count);
        up_[expert].addGradients(runner, dbefore.operand().from(first * inner_),
            { saved.routing.input.data() + first * width_, nullptr }, count);
    });
}

void ExpertMlp::addGradients(
    KernelRunner& runner, const Saved& saved, const Operand& x, const Operand&, const Workspace& workspace) const
{
    if (saved.defersWeights)
        addExpertGradients(runner, saved, saved.routing.doutput.data(), saved.dbefore);
    const Buffer& dlogits = saved.defersWeights ? saved.routing.dlogits : workspace.routes;
    router_.addGradients(runner, { dlogits.data(), nullptr }, x, rows_);
}

} // namespace rankscope::backend
