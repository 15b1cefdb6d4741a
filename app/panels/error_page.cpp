#include "app/panels/error_page.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace rankscope::app {
namespace {

/// What can be done about a file that cannot be read, from the state of the file itself.
QString advice(const QFileInfo& file)
{
    if (!file.exists())
        return QStringLiteral(
            "There is no such file. It may have been moved, renamed or deleted; open it from where it is now.");
    if (file.isDir())
        return QStringLiteral(
            "A folder is read for traces: JSON (.json, .json.gz, .json.zst), exports of Nsight Systems "
            "(.sqlite) and pipeline timelines (.csv). Open another one, or a run’s .rsdb file.");
    if (!file.isReadable())
        return QStringLiteral("You may not read this file. Ask its owner, or copy it to where you may.");
    if (file.size() == 0)
        return QStringLiteral("The file has 0 bytes: its run never started to record, or the copy failed.");
    return QStringLiteral(
        "Rankscope opens .rsdb files, as “rankscope train” and “rankscope record” write them, traces (.json, .json.gz, "
        ".json.zst), exports of Nsight Systems (.sqlite), pipeline timelines (.csv), and folders of these. If this is "
        "one of them, it is damaged: copy it again from where it was recorded.");
}

} // namespace

ErrorPage::ErrorPage(QWidget* parent)
    : QWidget(parent)
    , title_(new QLabel)
    , message_(new QLabel)
    , advice_(new QLabel)
{
    title_->setProperty("look", "headline");
    advice_->setProperty("look", "dim");
    for (QLabel* label : { title_, message_, advice_ }) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        label->setMaximumWidth(720);
    }
    auto* copy = new QPushButton(tr("Copy details"));
    auto* open = new QPushButton(tr("Open…"));
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(details_); });
    connect(open, &QPushButton::clicked, this, &ErrorPage::openRequested);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(copy);
    buttons->addWidget(open);
    buttons->addStretch();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 24, 24, 24);
    column->setSpacing(12);
    column->addWidget(title_);
    column->addWidget(message_);
    column->addWidget(advice_);
    column->addLayout(buttons);
    column->addStretch();
}

void ErrorPage::setError(const QString& path, const QString& message)
{
    const QFileInfo file(path);
    title_->setText(tr("%1 cannot be opened").arg(file.fileName()));
    message_->setText(message);
    // A newer schema's message says itself what to do.
    if (message.contains(QLatin1String("newer than")))
        advice_->clear();
    else if (message.contains(QLatin1String("both hold rank")))
        advice_->setText(
            tr("Files that are opened together become one run, with the ranks of each. These are two runs: "
               "open one of them."));
    else
        advice_->setText(advice(file));
    details_ = QStringLiteral("%1\nfile: %2\nsize: %3\nRankscope %4")
                   .arg(message, file.absoluteFilePath(),
                       file.exists() ? QStringLiteral("%1 bytes").arg(file.size()) : QStringLiteral("no such file"),
                       QCoreApplication::applicationVersion());
}

} // namespace rankscope::app
