#pragma once

#include <cstdint>
#include <type_traits>

namespace rankscope::tracing {

/// Ids are types, so that a lane cannot be passed where a rank is meant. Absent is std::optional, never -1.
enum class RankId : std::int32_t { }; ///< 0 .. world size - 1
enum class LaneId : std::int32_t { }; ///< a row that is drawn; primary key of table lane
enum class NameId : std::int32_t { }; ///< an interned string; primary key of table name
enum class SignatureId : std::int32_t { }; ///< a kernel's name, FLOPs, bytes, dtype, pass; primary key of table signature
enum class CommunicatorId : std::int32_t { }; ///< a process group; primary key of table communicator
enum class InstanceId : std::int64_t { }; ///< one collective over all its ranks; primary key of table collective_match

template <typename Id> constexpr auto raw(Id id) { return static_cast<std::underlying_type_t<Id>>(id); }

} // namespace rankscope::tracing
