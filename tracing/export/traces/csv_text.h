#pragma once

#include <string>
#include <string_view>

namespace rankscope::tracing {

/// First line of spans.csv; the README says what the columns are. An importer knows the file by it.
inline constexpr std::string_view kSpanColumns = "rank,lane,lane_kind,kind,name,begin_ns,end_ns,op,dimension,"
                                                 "communicator,members,sequence,instance,bytes,peer,pass,"
                                                 "micro_batch,step,depth,stage,phase,flop,work,cpu_ns,correlation,"
                                                 "threads,dtype,redundant_flop,launch_group\n";

/// RFC 4180: quoted where it holds a comma, a quote or a line break.
inline void appendCsvCell(std::string& text, std::string_view cell)
{
    if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
        text += cell;
        return;
    }
    text += '"';
    for (const char letter : cell) {
        if (letter == '"')
            text += '"';
        text += letter;
    }
    text += '"';
}

} // namespace rankscope::tracing
