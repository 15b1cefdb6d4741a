#include "app/shell/notice_bar.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

namespace rankscope::app {

NoticeBar::NoticeBar(QWidget* parent)
    : QFrame(parent)
    , text_(new QLabel)
    , log_(new QPushButton(tr("Show log")))
{
    setObjectName(QStringLiteral("notice"));
    text_->setProperty("look", "fault");
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* copy = new QPushButton(tr("Copy details"));
    auto* dismiss = new QPushButton(tr("Dismiss"));
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(text_->text()); });
    connect(log_, &QPushButton::clicked, this, &NoticeBar::logRequested);
    connect(dismiss, &QPushButton::clicked, this, &QWidget::hide);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(24, 8, 24, 8);
    row->addWidget(text_, 1);
    row->addWidget(log_);
    row->addWidget(copy);
    row->addWidget(dismiss);
    hide();
}

void NoticeBar::showMessage(const QString& message, bool hasLog)
{
    text_->setText(message);
    log_->setVisible(hasLog);
    show();
}

QString NoticeBar::message() const { return isHidden() ? QString() : text_->text(); }

} // namespace rankscope::app
