#include "app/launch/log_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace rankscope::app {
namespace {

constexpr int kMostLines = 10'000; // a long run must not fill the memory; the file holds its figures

} // namespace

LogPanel::LogPanel(RunProcess& process, QWidget* parent)
    : QWidget(parent)
    , process_(process)
    , state_(new QLabel(tr("No run was started from this window")))
    , stop_(new QPushButton(tr("Stop")))
    , text_(new QPlainTextEdit)
{
    text_->setReadOnly(true);
    text_->setMaximumBlockCount(kMostLines);
    stop_->setEnabled(false);
    state_->setProperty("look", "hint");
    state_->setTextFormat(Qt::PlainText);
    auto* head = new QHBoxLayout;
    head->addWidget(state_, 1);
    head->addWidget(stop_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 8, 16, 8);
    column->addLayout(head);
    column->addWidget(text_);
    connect(stop_, &QPushButton::clicked, this, [this] {
        process_.stop();
        state_->setText(tr("Stopping: the ranks finish their step and the file is closed"));
        stop_->setText(tr("Kill"));
        stop_->setToolTip(tr("The run did not stop yet; kill it at once"));
    });
    connect(&process_, &RunProcess::started, this, [this] {
        text_->clear();
        state_->setText(tr("Running"));
        stop_->setText(tr("Stop"));
        stop_->setToolTip({});
        stop_->setEnabled(true);
    });
    connect(&process_, &RunProcess::line, this, [this](const QString& line) { text_->appendPlainText(line); });
    connect(&process_, &RunProcess::finished, this, &LogPanel::finish);
}

QString LogPanel::text() const { return text_->toPlainText(); }

void LogPanel::finish(const QString& message)
{
    stop_->setEnabled(false);
    stop_->setText(tr("Stop"));
    if (!message.isEmpty())
        state_->setText(tr("Failed: %1").arg(message));
    else
        state_->setText(process_.wasAskedToStop() ? tr("Stopped") : tr("Finished"));
}

} // namespace rankscope::app
