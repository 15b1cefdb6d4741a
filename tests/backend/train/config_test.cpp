#include "backend/train/config.h"
#include "backend/train/config_keys.h"

#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace rankscope::backend {

namespace {

std::string writeToml(const std::string& text)
{
    static const support::TemporaryDirectory kFolder;
    return kFolder.write("config.toml", text).string();
}

std::string refusal(const std::vector<std::string>& overrides)
{
    const auto config = loadConfig("", overrides);
    return config ? "accepted" : config.error().message();
}

} // namespace

TEST(Config, ReadsTheFileAndThenTheOverrides)
{
    const std::string path = writeToml("[model]\nlayers = 8\nwidth = 64\n[optimizer]\nbetas = [0.8, 0.9]\nlr = 1\n"
                                       "[data]\npath = '/tmp/text'\n[[link]]\nfrom = 0\nto = 1\ngbit_s = 2.5\n");
    const auto config = loadConfig(path, { "model.width=32", "data.path=/var/other.txt.gz", "link.0.delay_us=40" });
    ASSERT_TRUE(config) << config.error().message();
    EXPECT_EQ(config->model.layers, 8);
    EXPECT_EQ(config->model.width, 32);
    EXPECT_EQ(config->optimizer.betas, (std::vector{ 0.8, 0.9 }));
    EXPECT_EQ(config->optimizer.lr, 1);
    EXPECT_EQ(config->data.path, "/var/other.txt.gz");
    ASSERT_EQ(config->links.size(), 1u);
    EXPECT_EQ(config->links[0].to, 1);
    EXPECT_EQ(config->links[0].gbitPerSecond, 2.5);
    EXPECT_EQ(config->links[0].delayUs, 40);
}

TEST(Config, AFlagIsTrueOrFalse)
{
    const auto config = loadConfig("", { "checkpoint.async=true" });
    ASSERT_TRUE(config) << config.error().message();
    EXPECT_TRUE(config->checkpoint.async);
    EXPECT_EQ(refusal({ "checkpoint.async=1" }), "checkpoint.async = 1: allowed is true, false");
}

TEST(Config, APathInTheFileIsRelativeToIt)
{
    const std::string path = writeToml("[data]\npath = \"texts/a.txt\"\n");
    const auto config = loadConfig(path, {});
    ASSERT_TRUE(config);
    EXPECT_EQ(config->data.path, (std::filesystem::path(path).parent_path() / "texts/a.txt").lexically_normal());
}

TEST(Config, RefusesUnknownKeysByNamingThoseThatExist)
{
    EXPECT_EQ(refusal({ "batch.size=4" }), "batch.size: unknown key; [batch] has micro_batch, micro_batches");
    EXPECT_EQ(refusal({ "modle.layers=4" }),
        "modle.layers: unknown section; there are model, parallel, batch, optimizer, train, data, checkpoint, "
        "recovery, link, fault");
    EXPECT_EQ(refusal({ "link.0.speed=4" }),
        "link.0.speed: unknown key; write link.0.KEY with one of from, to, gbit_s, delay_us");
    EXPECT_EQ(refusal({ "train.steps" }), "train.steps: write key=value, for example parallel.pp=2");
    const auto config = loadConfig(writeToml("[train]\nsteps = 3\nsped = 4\n"), {});
    ASSERT_FALSE(config);
    EXPECT_NE(config.error().message().find("train.sped: unknown key; [train] has steps, seed"), std::string::npos);
}

TEST(Config, RefusesValuesByNamingWhatIsAllowed)
{
    EXPECT_EQ(refusal({ "model.layers=0" }), "model.layers = 0: allowed is a whole number, 1 to 1000");
    EXPECT_EQ(refusal({ "model.layers=2.5" }), "model.layers = 2.5: allowed is a whole number, 1 to 1000");
    EXPECT_EQ(refusal({ "model.layers=many" }), "model.layers = many: allowed is a whole number, 1 to 1000");
    EXPECT_EQ(refusal({ "optimizer.lr=-1" }), "optimizer.lr = -1: allowed is a number, 0 to 10");
    EXPECT_EQ(refusal({ "optimizer.lr=nan" }), "optimizer.lr = nan: allowed is a number, 0 to 10");
    EXPECT_EQ(refusal({ "optimizer.betas=[0.9]" }),
        "optimizer.betas = [0.9]: allowed is two numbers, 0 to below 1: [0.9, 0.95]");
    EXPECT_EQ(refusal({ "train.dtype=fp16" }), "train.dtype = fp16: allowed is fp32, bf16");
    EXPECT_EQ(refusal({ "link.9000.from=1" }), "link.9000.from: there are 4096 links at most");
}

TEST(Config, SaysWhereAFileIsNoToml)
{
    const std::string path = writeToml("[model]\nlayers = = 3\n");
    const auto config = loadConfig(path, {});
    ASSERT_FALSE(config);
    EXPECT_TRUE(config.error().message().starts_with(path + ":2:")) << config.error().message();
    EXPECT_EQ(loadConfig("/no/such.toml", {}).error().message(),
        "/no/such.toml: cannot be read; name a run configuration (TOML)");
}

TEST(Config, EveryDefaultIsAllowedAndWrittenAsItIsRead)
{
    std::set<std::string_view> names;
    for (const auto& [name, value] : configValues(Config{})) {
        if (name == "data.path")
            continue; // empty until it is set
        const auto config = loadConfig("", { name + "=" + value });
        ASSERT_TRUE(config) << config.error().message();
        EXPECT_EQ(configValues(*config), configValues(Config{})) << name;
    }
    for (const ConfigKey& key : configKeys())
        EXPECT_TRUE(names.insert(key.name).second) << key.name << " stands twice in the table";
}

} // namespace rankscope::backend
