#include "tests/backend/train/mpi_job.h"

#include <rapidjson/document.h>

#include <filesystem>
#include <sstream>

namespace rankscope::backend {

namespace {

std::string tinyText()
{
    std::string text;
    for (int line = 0; line < 400; ++line)
        text += "line " + std::to_string(line * line % 97) + " of a text that is easy to learn\n";
    return text;
}

std::vector<double> valuesOf(const std::string& output, const std::string& key, bool ofSteps)
{
    std::vector<double> values;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        rapidjson::Document object;
        object.Parse(line.c_str());
        if (object.HasParseError() || !object.IsObject())
            continue;
        const bool isValidation = object.HasMember("event") && object["event"] == "validation";
        if ((ofSteps ? !object.HasMember("event") : isValidation) && object.HasMember(key.c_str()))
            values.push_back(object[key.c_str()].GetDouble());
    }
    return values;
}

} // namespace

MpiJob::MpiJob(int ranks)
    : ranks_(ranks)
    , words_{ "train.threads=1", "train.peak_gflops=10", "data.path=" + folder_.write("text.txt", tinyText()).string() }
{
    std::filesystem::create_directory(session());
}

MpiJob::MpiJob(int ranks, const std::vector<std::string>& words)
    : MpiJob(ranks)
{
    words_.insert(words_.end(),
        { "model.layers=4", "model.width=32", "model.heads=2", "model.sequence=16", "batch.micro_batch=1",
            "optimizer.lr=3e-3", "optimizer.warmup=5", "train.steps=20", "train.validate_every=10" });
    words_.insert(words_.end(), words.begin(), words.end());
}

MpiJob::MpiJob(int ranks, const Sample& sample, const std::vector<std::string>& words)
    : MpiJob(ranks)
{
    words_.insert(words_.begin(), RS_SAMPLES "/" + sample.name + ".toml");
    words_.emplace_back("train.validate_every=0");
    words_.insert(words_.end(), words.begin(), words.end());
}

support::Command MpiJob::command() const
{
    support::Command command{ .words
        = { RS_MPIEXEC, "-n", std::to_string(ranks_), "--oversubscribe", "--bind-to", "none", "--mca",
            "btl_vader_single_copy_mechanism", "none", "--mca", "mpi_yield_when_idle", "1", RS_TRAIN_PROGRAM },
        .environment = { { "OMPI_ALLOW_RUN_AS_ROOT", "1" }, { "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1" } } };
    if (!recordedIn_.empty())
        command.environment.emplace_back("RANKSCOPE_SESSION", recordedIn_);
    command.words.insert(command.words.end(), words_.begin(), words_.end());
    return command;
}

std::vector<double> stepValues(const std::string& output, const std::string& key)
{
    return valuesOf(output, key, true);
}
std::vector<double> heldOutLosses(const std::string& output) { return valuesOf(output, "loss", false); }

} // namespace rankscope::backend
