#include "tests/tracing/analysis/ledger/golden_case.h"
#include "tracing/analysis/ledger/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace rankscope::tracing::ledger {

namespace {

using rapidjson::Value;
using Leaves = std::map<std::string, Ns>;

std::filesystem::path goldenFolder()
{
    const char* traces = std::getenv("RANKSCOPE_TRACES");
    return std::filesystem::path(traces ? traces : "../shared/traces") / "ledger_golden";
}

std::vector<std::string> goldenFiles()
{
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(goldenFolder(), error)) {
        if (entry.path().extension() == ".json")
            files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
}

/// Leaf to ns of one rank (and step), zeros left out.
Leaves leavesOf(
    const LedgerResult& result, std::int32_t rank, std::optional<std::int32_t> step = {}, bool mergeDimensions = false)
{
    Leaves leaves;
    for (const LedgerRow& row : result.rows) {
        if (row.rank != rank || (step && row.step != *step) || row.ns == 0)
            continue;
        std::string name = leafName(row.leaf);
        if (mergeDimensions && (name.starts_with("wait.") || name.starts_with("transfer.")))
            name.resize(name.find('.'));
        leaves[name] += row.ns;
    }
    return leaves;
}

Leaves expectedLeaves(const Value& object)
{
    Leaves leaves;
    for (const auto& member : object.GetObject()) {
        if (member.value.GetInt64() != 0)
            leaves[member.name.GetString()] = member.value.GetInt64();
    }
    return leaves;
}

std::vector<CauseRow> expectedRows(const Value& rows)
{
    std::vector<CauseRow> out;
    for (const Value& row : rows.GetArray()) {
        const bool named = row.HasMember("culprit") && row["culprit"].IsNumber();
        out.push_back({ named ? std::optional(row["culprit"].GetInt()) : std::nullopt, row["cause"].GetString(),
            row["ns"].GetInt64() });
    }
    return out;
}

std::string show(const std::vector<CauseRow>& rows)
{
    std::string out;
    for (const CauseRow& row : rows)
        out += (row.culprit ? std::to_string(*row.culprit) : "-") + "." + row.cause + "=" + std::to_string(row.ns)
            + " ";
    return out;
}

void expectResidualZero(const LedgerInput& input, const LedgerResult& result)
{
    for (std::size_t r = 0; r < input.ranks.size(); ++r) {
        Ns sum = 0;
        for (const LedgerRow& row : result.rows)
            sum += row.rank == input.ranks[r].rank ? row.ns : 0;
        EXPECT_EQ(sum, result.ranks[r].window) << "rank " << input.ranks[r].rank;
    }
    Ns total = 0;
    for (const LedgerTotal& leaf : result.totals)
        total += leaf.ns;
    EXPECT_EQ(total, result.capacity);
}

class Golden : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override
    {
        golden_ = readGoldenCase(GetParam());
        ASSERT_FALSE(golden_.json.HasParseError()) << GetParam();
        result_ = computeLedger(golden_.input);
    }
    const Value* find(const char* key) const { return golden_.json.HasMember(key) ? &golden_.json[key] : nullptr; }

    GoldenCase golden_;
    LedgerResult result_;
};

TEST_P(Golden, LeavesAreThoseWorkedOutByHand)
{
    expectResidualZero(golden_.input, result_);
    const bool oldest = !find("groups");
    for (const auto& member : (*find("expect")).GetObject()) {
        const auto rank = std::atoi(member.name.GetString());
        EXPECT_EQ(leavesOf(result_, rank, {}, oldest), expectedLeaves(member.value)) << "rank " << rank;
    }
}

TEST_P(Golden, CausesOfEveryWaitAreThoseWorkedOutByHand)
{
    const Value* expected = find("expect_cause");
    if (!expected || !expected->IsArray())
        return;
    EXPECT_EQ(result_.waits.size(), expected->Size());
    for (const Value& row : expected->GetArray()) {
        const std::size_t instance = golden_.instanceOf.at(row["g"].GetString());
        const auto wait = std::ranges::find_if(result_.waits,
            [&](const WaitRecord& w) { return w.rank == row["rank"].GetInt() && w.instance == instance; });
        ASSERT_NE(wait, result_.waits.end()) << row["g"].GetString();
        if (row.HasMember("late") && row["late"].IsNumber()) {
            EXPECT_EQ(wait->late, row["late"].GetInt());
        }
        if (row.HasMember("since")) {
            EXPECT_EQ(wait->since, row["since"].GetInt64());
        }
        EXPECT_EQ(wait->exposed, row["exposed"].GetInt64());
        EXPECT_EQ(show(wait->rows), show(expectedRows(row["rows"])))
            << "rank " << wait->rank << " in " << row["g"].GetString();
    }
}

TEST_P(Golden, BubbleTakesItsQuotaAndLeavesTheCauseOfImbalance)
{
    if (const Value* quotas = find("expect_quota")) {
        for (const auto& member : quotas->GetObject()) {
            const auto r = std::ranges::find(result_.ranks, std::atoi(member.name.GetString()), &RankLedger::rank);
            ASSERT_NE(r, result_.ranks.end());
            EXPECT_EQ(r->quota[0], member.value["fill"].GetInt64());
            for (rapidjson::SizeType phase = 0; phase < 3; ++phase)
                EXPECT_EQ(r->quota[1 + phase], member.value["steady"][phase].GetInt64());
            EXPECT_EQ(r->quota[4], member.value["drain"].GetInt64());
        }
    }
    if (const Value* rows = find("expect_imbalance")) {
        std::map<std::tuple<int, int, std::string>, Ns> expected, found;
        for (const Value& row : rows->GetArray())
            expected[{ row["rank"].GetInt(), row["culprit"].GetInt(), row["cause"].GetString() }]
                += row["ns"].GetInt64();
        for (const LedgerRow& row : result_.rows) {
            if (row.leaf.leaf == Leaf::BubbleImbalance && row.ns > 0)
                found[{ row.rank, row.culprit.value_or(-1), row.cause }] += row.ns;
        }
        EXPECT_EQ(found, expected);
    }
    if (const Value* before = find("expect_level1")) {
        LedgerInput input = golden_.input;
        input.pipeline.reset();
        const LedgerResult level1 = computeLedger(input);
        for (const auto& member : before->GetObject())
            EXPECT_EQ(leavesOf(level1, std::atoi(member.name.GetString())), expectedLeaves(member.value));
    }
}

TEST_P(Golden, StepsAndGoodputAreThoseWorkedOutByHand)
{
    if (const Value* steps = find("expect_steps")) {
        for (const auto& member : steps->GetObject()) {
            const auto step = std::ranges::find_if(result_.steps, [&](const StepInfo& s) {
                return std::to_string(s.step) + "/" + std::to_string(s.attempt) == member.name.GetString();
            });
            ASSERT_NE(step, result_.steps.end()) << member.name.GetString();
            const char* states[] = { "committed", "provisional", "lost" };
            EXPECT_STREQ(states[static_cast<int>(step->state)], member.value["state"].GetString());
            EXPECT_EQ(step->begin, member.value["window"][0].GetInt64());
            EXPECT_EQ(step->end, member.value["window"][1].GetInt64());
            for (const RankInput& rank : golden_.input.ranks) {
                const std::string name = std::to_string(rank.rank);
                if (!member.value.HasMember(name.c_str()))
                    continue;
                const auto index = static_cast<std::int32_t>(step - result_.steps.begin());
                EXPECT_EQ(leavesOf(result_, rank.rank, index), expectedLeaves(member.value[name.c_str()]));
            }
        }
    }
    if (const Value* goodput = find("expect_goodput")) {
        const std::map<std::string, std::int64_t> found{ { "total_ns", result_.goodput.total },
            { "start_ns", result_.goodput.start }, { "committed_ns", result_.goodput.committed },
            { "provisional_ns", result_.goodput.provisional }, { "lost_ns", result_.goodput.lost },
            { "down_ns", result_.goodput.down }, { "ettr_ppm", result_.goodput.ettrPpm },
            { "ettr_firm_ppm", result_.goodput.ettrFirmPpm } };
        for (const auto& member : goodput->GetObject())
            EXPECT_EQ(found.at(member.name.GetString()), member.value.GetInt64()) << member.name.GetString();
    }
}

TEST_P(Golden, SplitOfEveryPartAndItsRangeAreThoseWorkedOutByHand)
{
    const auto partOf = [&](const std::string& name) -> const SplitPart* {
        const auto dot = name.find('.');
        const int rank = std::atoi(name.substr(0, dot).c_str());
        const std::size_t instance = golden_.instanceOf.at(name.substr(dot + 1));
        for (std::size_t r = 0; r < golden_.input.ranks.size(); ++r) {
            for (std::size_t p = 0; golden_.input.ranks[r].rank == rank && p < golden_.input.ranks[r].parts.size();
                 ++p) {
                if (golden_.input.ranks[r].parts[p].instance == instance)
                    return &result_.ranks[r].parts[p];
            }
        }
        return nullptr;
    };
    if (const Value* full = find("expect_full")) {
        for (const auto& member : full->GetObject()) {
            const SplitPart* part = partOf(member.name.GetString());
            ASSERT_TRUE(part) << member.name.GetString();
            EXPECT_EQ(part->wait, member.value["wait"].GetInt64()) << member.name.GetString();
            EXPECT_EQ(part->exit - part->entry - part->wait, member.value["transfer"].GetInt64())
                << member.name.GetString();
        }
    }
    if (const Value* overlap = find("expect_overlap_ns")) {
        for (const auto& member : overlap->GetObject()) {
            const auto r = std::ranges::find(result_.ranks, std::atoi(member.name.GetString()), &RankLedger::rank);
            EXPECT_EQ(r->overlap, member.value.GetInt64());
        }
    }
}

TEST_P(Golden, CountersAreThoseWorkedOutByHand)
{
    const auto expectCount = [&](const char* key, std::int64_t found) {
        if (const Value* value = find(key)) {
            EXPECT_EQ(found, value->GetInt64()) << key;
        }
    };
    expectCount("expect_order_violations", result_.orderViolations);
    expectCount("expect_beyond_error", result_.violationsBeyondError);
    expectCount("expect_flop_violations", result_.flopViolations);
}

TEST_P(Golden, WithoutAnySingleEventTheSumStaysTheWindow)
{
    for (std::size_t r = 0; r < golden_.input.ranks.size(); ++r) {
        const auto without = [&](auto member) {
            for (std::size_t i = 0; i < (golden_.input.ranks[r].*member).size(); ++i) {
                LedgerInput input = golden_.input;
                auto& ops = input.ranks[r].*member;
                ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
                expectResidualZero(input, computeLedger(input));
            }
        };
        without(&RankInput::compute);
        without(&RankInput::parts);
        without(&RankInput::copies);
        without(&RankInput::annotations);
    }
}

std::string nameOf(const testing::TestParamInfo<std::string>& info)
{
    return std::filesystem::path(info.param).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Ledger, Golden, testing::ValuesIn(goldenFiles()), nameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Golden);

TEST(LedgerGolden, CasesAreThere)
{
    if (goldenFiles().empty())
        GTEST_SKIP() << "no ledger_golden under " << goldenFolder()
                     << "; set RANKSCOPE_TRACES to the folder of real traces";
    EXPECT_GE(goldenFiles().size(), 7u);
}

TEST(LedgerEnvelope, FiveNsOfErrorOnEachClockMoveAWaitByTen)
{
    // The oldest golden case with eps 5 on each rank: wait of rank 0 is 190 to 210, of rank 1 290 to 310, of rank 2
    // none.
    LedgerInput input;
    input.instances.push_back({ 1, 0, CollectiveOp::AllReduce, Dimension::Data, { 0, 1, 2 }, {}, {}, {}, {}, 0 });
    const std::pair<Ns, Ns> parts[] = { { 400, 700 }, { 300, 702 }, { 600, 698 } };
    for (std::int32_t r = 0; r < 3; ++r) {
        RankInput rank;
        rank.rank = r;
        rank.stretches = { { 0, 1000, {} } };
        rank.parts = { { parts[r].first, parts[r].second, 0, {}, {}, false } };
        rank.clockError = 5;
        input.ranks.push_back(rank);
    }
    const LedgerResult result = computeLedger(input);
    const auto range
        = [&](std::size_t r) { return std::pair(result.ranks[r].parts[0].waitLow, result.ranks[r].parts[0].waitHigh); };
    EXPECT_EQ(range(0), std::pair(Ns{ 190 }, Ns{ 210 }));
    EXPECT_EQ(range(1), std::pair(Ns{ 290 }, Ns{ 310 }));
    EXPECT_EQ(range(2), std::pair(Ns{ 0 }, Ns{ 0 }));
    EXPECT_EQ(result.ranks[0].parts[0].culprits, (std::vector<std::int32_t>{ 2 }));
}

} // namespace
} // namespace rankscope::tracing::ledger
