#pragma once

#include "tracing/model/pipeline_schedule.h"

namespace rankscope::backend {

// The lists stand on the ground floor: the ledger asks the same ones what a balanced pipeline idles.
using tracing::Action;
using tracing::ActionKind;
using tracing::peakActivations;
using tracing::Schedule;
using tracing::splitsBackward;

} // namespace rankscope::backend
