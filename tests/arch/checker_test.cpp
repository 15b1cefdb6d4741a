#include "tests/arch/rules.h"

#include <gtest/gtest.h>

#include <fstream>

namespace rankscope::arch {
namespace {

namespace fs = std::filesystem;

/// A small tree in a temporary folder: model under store under analysis, and the app's session above. It has no fault.
class PlantedTree : public testing::Test {
protected:
    void SetUp() override
    {
        std::string name = (fs::temp_directory_path() / "rankscope_arch_XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        root_ = name;
        write("tracing/model/span.h", "#include <vector>\n");
        write("tracing/store/store.h", "#include \"tracing/model/span.h\"\n");
        write("tracing/store/store.cpp", "#include \"tracing/store/store.h\"\n#include <sqlite3.h>\n");
        write("tracing/analysis/overlap.h", "#include \"tracing/model/span.h\"\n");
        write("app/session/run.h", "#include \"tracing/model/span.h\"\n#include <QObject>\n");
        write("tests/tracing/store/store_test.cpp", "#include \"tracing/store/store.h\"\n#include <sqlite3.h>\n");
        edges_ = "tracing_model|tracing/model|library||span.h\n"
                 "tracing_store|tracing/store|library|tracing_model|store.cpp,store.h\n"
                 "tracing_analysis|tracing/analysis|library|tracing_model,tracing_store|overlap.h\n"
                 "app_session|app/session|library|tracing_model|run.h\n"
                 "test_tracing_store|tests/tracing/store|program|tracing_store|store_test.cpp\n";
    }

    void TearDown() override { fs::remove_all(root_); }

    void write(const std::string& path, const std::string& text)
    {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }

    void plant(const std::string& path, const std::string& text, const std::string& edge)
    {
        write(path, text);
        edges_ += edge + "\n";
    }

    /// The faults of the tree, one "where: what" a line.
    std::string faults() const
    {
        std::string text;
        for (const auto& fault : checkTree({ parseTargets(edges_, root_), readTree(root_) }))
            text += fault.where + ": " + fault.what + "\n";
        return text;
    }

    fs::path root_;
    std::string edges_;
};

TEST_F(PlantedTree, WithoutAFaultIsClean) { EXPECT_EQ(faults(), ""); }

TEST_F(PlantedTree, IncludeOfAFolderThatDepsDoNotNameIsFound)
{
    write("tracing/model/span.h", "#include <vector>\n#include \"tracing/store/store.h\"\n");
    EXPECT_EQ(faults(),
        "tracing/model/span.h:2: includes tracing/store/store.h, but the DEPS of tracing_model do not name "
        "tracing_store\n");
}

TEST_F(PlantedTree, DepsAreNotPassedOn)
{
    // The test names the store, and the store names the model; that does not let the test include the model.
    write("tests/tracing/store/store_test.cpp", "#include \"tracing/model/span.h\"\n");
    EXPECT_EQ(faults(),
        "tests/tracing/store/store_test.cpp:1: includes tracing/model/span.h, but the DEPS of "
        "test_tracing_store do not name tracing_model\n");
}

TEST_F(PlantedTree, IncludeThatIsNoPathFromTheRootIsFound)
{
    write("tracing/store/store.cpp", "#include \"store.h\"\n");
    EXPECT_EQ(
        faults(), "tracing/store/store.cpp:1: \"store.h\" is no path from the root; libraries are included with <>\n");
}

TEST_F(PlantedTree, QtOutsideTheAppIsFound)
{
    write("tracing/analysis/overlap.h", "#include <QString>\n");
    EXPECT_EQ(faults(), "tracing/analysis/overlap.h:1: <QString>: Qt only in app/\n");
}

TEST_F(PlantedTree, ImGuiOutsideTheTimelineIsFound)
{
    write("app/session/run.h", "#include <imgui/imgui.h>\n");
    EXPECT_EQ(faults(), "app/session/run.h:1: <imgui/imgui.h>: Dear ImGui only in app/timeline/\n");
}

TEST_F(PlantedTree, SqlOutsideTheStoreIsFound)
{
    write("tracing/analysis/overlap.h", "#  include <sqlite3.h>\n");
    EXPECT_EQ(faults(), "tracing/analysis/overlap.h:1: <sqlite3.h>: SQLite only in tracing/store/\n");
}

TEST_F(PlantedTree, SqlInTheNsightImporterIsAllowed)
{
    plant("tracing/import/nsight_reader.cpp", "#include <sqlite3.h>\n",
        "tracing_import|tracing/import|library||nsight_reader.cpp");
    EXPECT_EQ(faults(), "");
}

TEST_F(PlantedTree, MpiAndNcclOutsideCommAreFound)
{
    plant(
        "backend/comm/mpi.cpp", "#include <mpi.h>\n#include <nccl.h>\n", "backend_comm|backend/comm|library||mpi.cpp");
    EXPECT_EQ(faults(), "");
    plant("backend/train/loop.cpp", "#include <mpi.h>\n#include <nccl.h>\n",
        "backend_train|backend/train|library||loop.cpp");
    EXPECT_EQ(faults(),
        "backend/train/loop.cpp:1: <mpi.h>: MPI only in backend/comm/\n"
        "backend/train/loop.cpp:2: <nccl.h>: NCCL only in backend/comm/\n");
}

TEST_F(PlantedTree, CuptiOutsideItsCollectorIsFound)
{
    plant("tracing/collect/cupti/activity.cpp", "#include <cupti.h>\n",
        "collect_cupti|tracing/collect/cupti|library||activity.cpp");
    EXPECT_EQ(faults(), "");
    write("tracing/store/store.h", "#include <cupti.h>\n");
    EXPECT_EQ(faults(), "tracing/store/store.h:1: <cupti.h>: CUPTI only in tracing/collect/cupti/\n");
}

TEST_F(PlantedTree, CudaOutsideItsFoldersIsFound)
{
    plant("kernels/cuda/gelu.cu", "#include <cuda_runtime.h>\n", "kernels|kernels|library||cuda/gelu.cu");
    EXPECT_EQ(faults(), "");
    write("app/session/run.h", "#include <cuda_runtime.h>\n");
    plant("backend/model/gpt.cu", "\n", "backend_model|backend/model|library||gpt.cu");
    EXPECT_EQ(faults(),
        "app/session/run.h:1: <cuda_runtime.h>: CUDA only in kernels/\n"
        "backend/model/gpt.cu: CUDA sources live only in kernels/\n");
}

TEST_F(PlantedTree, AppThatNamesTheBackendIsFound)
{
    plant("backend/schedule/actions.h", "", "backend_schedule|backend/schedule|library||actions.h");
    plant("app/launch/dialog.cpp", "#include \"backend/schedule/actions.h\"\n",
        "app_launch|app/launch|library|backend_schedule|dialog.cpp");
    EXPECT_EQ(faults(), "app_launch: app/launch must not use backend/schedule\n");
}

TEST_F(PlantedTree, ImportIsForTheSessionAlone)
{
    plant("tracing/import/reader.h", "", "tracing_import|tracing/import|library||reader.h");
    plant("app/session/open.cpp", "", "app_open|app/session|library|tracing_import|open.cpp");
    EXPECT_EQ(faults(), "");
    plant("app/panels/open.cpp", "", "app_panels|app/panels|library|tracing_import|open.cpp");
    EXPECT_EQ(faults(), "app_panels: app/panels must not use tracing/import\n");
}

TEST_F(PlantedTree, BackendMayUseOfTracingOnlyRecordAndModel)
{
    plant("tracing/record/ring.h", "", "tracing_record|tracing/record|library||ring.h");
    plant("backend/comm/a.cpp", "", "backend_comm|backend/comm|library|tracing_record,tracing_model|a.cpp");
    EXPECT_EQ(faults(), "");
    plant("backend/train/b.cpp", "", "backend_train|backend/train|library|tracing_store|b.cpp");
    EXPECT_EQ(faults(), "backend_train: backend/train must not use tracing/store\n");
}

TEST_F(PlantedTree, FolderWithoutAFloorIsFound)
{
    plant("tracing/utils/misc.h", "", "tracing_utils|tracing/utils|library||misc.h");
    EXPECT_EQ(faults(), "tracing/utils: has no floor; enter it into the table of tests/arch/deps.cpp\n");
}

TEST_F(PlantedTree, FileInNoTargetIsFound)
{
    write("tracing/store/forgotten.cpp", "");
    EXPECT_EQ(faults(), "tracing/store/forgotten.cpp: is in no target; add it to the SOURCES of its folder\n");
}

TEST_F(PlantedTree, CircleIsFoundOnce)
{
    edges_ += "a|tests/a|library|b|\nb|tests/b|library|c|\nc|tests/c|library|a|\n";
    EXPECT_EQ(faults(), "a: circle: a -> b -> c -> a\n");
}

TEST_F(PlantedTree, DepsThatAreNoTargetAreFound)
{
    edges_ += "a|tests/a|library|tracing_stroe|\n";
    EXPECT_EQ(faults(), "a: DEPS name tracing_stroe, which is no target\n");
}

TEST_F(PlantedTree, FileOf601LinesIsFound)
{
    std::string text;
    for (int line = 0; line < 600; ++line)
        text += "\n";
    write("tracing/analysis/overlap.h", text);
    EXPECT_EQ(faults(), "");
    write("tracing/analysis/overlap.h", text + "\n");
    EXPECT_EQ(faults(), "tracing/analysis/overlap.h: 601 lines; split it, 600 is the limit\n");
}

TEST(Packages, OneThatTheListLacksIsFound)
{
    const auto faults = checkPackages("rs_find_library(zlib zlib.h z zlib1g-dev)\n"
                                      "rs_find_headers(json json.h rapidjson-dev \"advice\")\n"
                                      "    rs_missing(libfmt-dev)\n"
                                      "    rs_missing(${package} ${ARGN})\n",
        "# comment\nbuild libfmt-dev text formatting\n");
    ASSERT_EQ(faults.size(), 2U);
    EXPECT_EQ(faults[0].what, "rapidjson-dev is not in debian-packages.txt");
    EXPECT_EQ(faults[1].what, "zlib1g-dev is not in debian-packages.txt");
}

TEST(Packages, LineWithoutAPurposeOrTwiceIsFound)
{
    const auto faults
        = checkPackages("", "build cmake\nbuild g++ the compiler\ntest g++ the compiler\nfun cowsay a cow\n");
    ASSERT_EQ(faults.size(), 3U);
    EXPECT_EQ(faults[0].what, "'build cmake' is not: group, package, purpose");
    EXPECT_EQ(faults[1].what, "g++ stands there twice");
    EXPECT_EQ(faults[2].what, "'fun cowsay a cow' is not: group, package, purpose");
}

} // namespace
} // namespace rankscope::arch
