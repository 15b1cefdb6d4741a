# How a folder becomes a target. One folder is one target; DEPS names our own targets and is also the permission to
# include them; LIBS are packages. The edges go to rankscope_edges.txt in the build folder, where tests/arch reads them.

include(resources/setup/precompiled.cmake)

add_library(rs_warnings INTERFACE)
target_compile_options(rs_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion>
    # At -O3 GCC 12 warns about joining two strings, in its own library (its bug 105651).
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
# GCC's own advice: the sanitizers make these see faults where there are none (here in std::regex and std::string).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}" MATCHES "-fsanitize")
    target_compile_options(rs_warnings INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds)
endif()

define_property(GLOBAL PROPERTY RS_EDGES BRIEF_DOCS "one line a target: name|folder|kind|deps|sources")

function(rs_register name kind deps sources)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    list(JOIN deps "," depList)
    list(JOIN sources "," sourceList)
    set_property(GLOBAL APPEND PROPERTY RS_EDGES "${name}|${folder}|${kind}|${depList}|${sourceList}")
    # What is not built here is listed all the same: tests/arch sees its edges on every machine.
    if(TARGET ${name})
        target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    endif()
endfunction()

# rs_add_library(tracing_store [SHARED] SOURCES a.cpp a.h [DEPS tracing_model ...] [LIBS SQLite::SQLite3 ...])
function(rs_add_library name)
    cmake_parse_arguments(ARG "SHARED" "" "SOURCES;DEPS;LIBS" ${ARGN})
    set(kind STATIC)
    if(ARG_SHARED)
        set(kind SHARED)
    endif()
    add_library(${name} ${kind} ${ARG_SOURCES})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_LIBS} rs_warnings)
    rs_register(${name} library "${ARG_DEPS}" "${ARG_SOURCES}")
endfunction()

# rs_add_program(rankscope SOURCES main.cpp [DEPS ...] [LIBS ...])
function(rs_add_program name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${ARG_LIBS} rs_warnings)
    rs_register(${name} program "${ARG_DEPS}" "${ARG_SOURCES}")
    if(NOT name MATCHES "^(test|bench)_")
        install(TARGETS ${name})
    else()
        # Tests of one program may have helpers of the same name.
        set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
    endif()
endfunction()

# What the presets asan and tsan build.
add_custom_target(unit_tests)
# What tests/bench.sh runs; the preset bench builds this one, since benchmarks borrow the tests' support.
add_custom_target(benchmarks)

# What the sources of tests are compiled with. RS_TEST_OPTIONS: see the presets asan and tsan.
function(rs_set_test_options name)
    # Sign conversions inside gtest's macros are not ours to fix.
    target_compile_options(${name} PRIVATE -Wno-sign-conversion ${RS_TEST_OPTIONS})
endfunction()

# rs_add_test(test_tracing_store SOURCES x_test.cpp DEPS tracing_store [LIBS ...] [LABELS unit] [TIMEOUT 60])
# Each TEST() becomes a ctest case of its own. Unit and arch tests run beside each other; the others start several
# processes or need the machine to themselves, and run alone.
function(rs_add_test name)
    cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LIBS;LABELS" ${ARGN})
    if(NOT ARG_LABELS)
        set(ARG_LABELS unit)
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    rs_add_program(${name} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS} LIBS ${ARG_LIBS} GTest::gtest GTest::gtest_main)
    rs_set_test_options(${name})
    rs_precompile(${name} tests)
    set(alone OFF)
    if(ARG_LABELS MATCHES "mpi|gpu|gui|real|slow")
        set(alone ON)
    endif()
    if("unit" IN_LIST ARG_LABELS)
        add_dependencies(unit_tests ${name})
    endif()
    # gtest_discover_tests takes a list apart three times before it sets it.
    list(JOIN ARG_LABELS [[\\\\\\\;]] labels)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
        # Tests share the cores: threads that wait for one another must not spin.
        PROPERTIES LABELS "${labels}" TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${alone} ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()

# rs_add_benchmark(bench_tracing_store SOURCES x_bench.cpp DEPS tracing_store [LIBS ...])
# Built only in the preset bench, by tests/bench.sh; its includes are checked in every preset.
function(rs_add_benchmark name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
    if(RS_WITH_BENCHMARKS)
        rs_add_program(${name} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS} LIBS ${ARG_LIBS} benchmark::benchmark_main)
        add_dependencies(benchmarks ${name})
    else()
        rs_register(${name} program "${ARG_DEPS}" "${ARG_SOURCES}")
    endif()
endfunction()

function(rs_write_edges)
    get_property(edges GLOBAL PROPERTY RS_EDGES)
    list(JOIN edges "\n" text)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/rankscope_edges.txt CONTENT "${text}\n" @ONLY)
endfunction()
