# Headers that most files of a kind of target include and that take longer to read than the file itself. They hold
# nothing but what each of those files includes anyway, so that a missing include still stops the build.

# rs_precompile(name tests|app|app_tests)
function(rs_precompile name kind)
    if(NOT RS_WITH_PRECOMPILED_HEADERS)
        return()
    endif()
    if(NOT TARGET precompiled_${kind})
        rs_add_precompiled(${kind})
    endif()
    # ccache keeps what was compiled with such a header, if this and CCACHE_SLOPPINESS (see CMakeLists.txt) say so.
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
    # Out of such a file the system's headers are not known as the system's, and GCC 12 shows its false alarms in
    # std::string (its bug 105329). The sanitizers' builds say so already, for all sources.
    if(NOT "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}" MATCHES "-fsanitize")
        target_compile_options(${name} PRIVATE
            "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
    endif()
    target_precompile_headers(${name} REUSE_FROM precompiled_${kind})
    # Targets that use OpenMP cannot take it, and read the headers themselves.
    set_target_properties(${name} PROPERTIES PCH_WARN_INVALID OFF)
endfunction()

# The target that the others borrow the header from: with their flags, and a source without content.
function(rs_add_precompiled kind)
    set(target precompiled_${kind})
    set(source ${CMAKE_BINARY_DIR}/${target}.cpp)
    if(kind STREQUAL "app")
        file(CONFIGURE OUTPUT ${source} CONTENT "\n")
        add_library(${target} STATIC EXCLUDE_FROM_ALL ${source})
        set(headers <QWidget>)
        set(packages Qt6::Widgets)
    else()
        file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
        add_executable(${target} EXCLUDE_FROM_ALL ${source})
        rs_set_test_options(${target})
        set(headers <gtest/gtest.h>)
        # What is compiled once more may take more: the preset dev has seen the missing includes.
        if("${CMAKE_CXX_FLAGS_RELWITHDEBINFO}" MATCHES "-fsanitize")
            list(APPEND headers <algorithm> <chrono> <filesystem> <fstream> <functional> <map> <numeric> <random> <thread>)
        endif()
        set(packages GTest::gtest)
        if(kind STREQUAL "app_tests")
            list(APPEND headers <QObject>)
            list(APPEND packages Qt6::Widgets)
        endif()
    endif()
    set_target_properties(${target} PROPERTIES AUTOMOC OFF UNITY_BUILD OFF)
    target_link_libraries(${target} PRIVATE ${packages} rs_warnings)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
    target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
