#pragma once

#include "app/launch/run_process.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace rankscope::app {

/// What the run prints while it goes on, and the button that stops it.
class LogPanel : public QWidget {
    Q_OBJECT

public:
    explicit LogPanel(RunProcess& process, QWidget* parent = nullptr);

    QString text() const;

private:
    void finish(const QString& message);

    RunProcess& process_;
    QLabel* state_;
    QPushButton* stop_;
    QPlainTextEdit* text_;
};

} // namespace rankscope::app
