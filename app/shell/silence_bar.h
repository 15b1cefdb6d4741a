#pragma once

#include "app/models/silence.h"
#include "app/session/run_session.h"

#include <QLabel>
#include <QTimer>

namespace rankscope::app {

/// Says above every page of a growing run which ranks deliver nothing any more, and what they did last. Looks once a
/// second; a file that nobody has written to for long is no growing run.
class SilenceBar : public QLabel {
    Q_OBJECT

public:
    explicit SilenceBar(RunSession& session, QWidget* parent = nullptr);

private:
    void look();
    void take(std::int64_t nowNs, const std::vector<Silence>& silent);

    RunSession& session_;
    JobSlot slot_;
    QTimer timer_;
    bool asked_ = false;
};

} // namespace rankscope::app
