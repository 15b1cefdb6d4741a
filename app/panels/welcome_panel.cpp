#include "app/panels/welcome_panel.h"

#include "app/panels/widgets/elided_label.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace rankscope::app {
namespace {

QLabel* label(const QString& text, const char* look)
{
    auto* made = new QLabel(text);
    made->setProperty("look", look);
    made->setWordWrap(true);
    return made;
}

QPushButton* entry(const WelcomePanel::Item& item)
{
    auto* button = new QPushButton;
    button->setProperty("look", "entry");
    button->setFixedHeight(52);
    button->setToolTip(item.path);
    button->setAccessibleName(item.name);
    auto* words = new QVBoxLayout(button);
    words->setContentsMargins(14, 6, 14, 6);
    words->setSpacing(2);
    auto* name = new ElidedLabel(item.name);
    name->setProperty("look", "title");
    auto* line = new ElidedLabel(item.line);
    line->setProperty("look", "hint");
    for (QLabel* each : { static_cast<QLabel*>(name), static_cast<QLabel*>(line) }) {
        each->setAttribute(Qt::WA_TransparentForMouseEvents);
        words->addWidget(each);
    }
    return button;
}

} // namespace

WelcomePanel::WelcomePanel(QWidget* parent)
    : QScrollArea(parent)
    , recent_(new QVBoxLayout)
    , samples_(new QVBoxLayout)
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* page = new QWidget;
    page->setObjectName(QStringLiteral("welcomePage"));
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(24, 24, 24, 24);
    column->setSpacing(16);
    column->addWidget(label(tr("See where a distributed training run loses its compute"), "headline"));
    column->addWidget(label(
        tr("Open a run file (.rsdb), finished or still being recorded, or traces of other tools: PyTorch and Chrome "
           "JSON (also .gz, .zst), exports of Nsight Systems (.sqlite), pipeline timelines (.csv), NCCL flight "
           "records (.pickle), and folders of these. Drop them on this window, or start a run and watch it live."),
        "cause"));
    auto* buttons = new QHBoxLayout;
    auto* open = new QPushButton(tr("Open…"));
    auto* folder = new QPushButton(tr("Open folder…"));
    auto* start = new QPushButton(tr("New run…"));
    start->setProperty("look", "primary");
    connect(open, &QPushButton::clicked, this, &WelcomePanel::openRequested);
    connect(folder, &QPushButton::clicked, this, &WelcomePanel::folderRequested);
    connect(start, &QPushButton::clicked, this, &WelcomePanel::newRunRequested);
    buttons->addWidget(start);
    buttons->addWidget(open);
    buttons->addWidget(folder);
    buttons->addStretch();
    column->addLayout(buttons);
    auto* lists = new QHBoxLayout;
    lists->setSpacing(32);
    const auto add = [&](const QString& title, QVBoxLayout* list) {
        auto* block = new QVBoxLayout;
        block->setSpacing(8);
        block->addWidget(label(title, "title"));
        list->setSpacing(6);
        block->addLayout(list);
        block->addStretch();
        lists->addLayout(block, 1);
    };
    add(tr("Recent runs"), recent_);
    add(tr("Samples to train on this machine"), samples_);
    column->addLayout(lists);
    column->addStretch();
    setWidget(page);
    setRecent({});
    setSamples({});
}

void WelcomePanel::setRecent(const QVector<Item>& items)
{
    fill(recent_, items, tr("None yet"), &WelcomePanel::recentChosen);
}

void WelcomePanel::setSamples(const QVector<Item>& items)
{
    fill(samples_, items, tr("This installation has no samples; New run takes a configuration file of yours"),
        &WelcomePanel::sampleChosen);
}

void WelcomePanel::fill(QVBoxLayout* list, const QVector<Item>& items, const QString& whenEmpty,
    void (WelcomePanel::*chosen)(const QString&))
{
    while (QLayoutItem* item = list->takeAt(0)) {
        if (item->widget()) {
            // It may be the entry whose click brought us here: it goes later, but must not be drawn meanwhile.
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    for (const Item& item : items) {
        auto* button = entry(item);
        connect(button, &QPushButton::clicked, this, [this, chosen, path = item.path] { emit(this->*chosen)(path); });
        list->addWidget(button);
    }
    if (items.isEmpty())
        list->addWidget(label(whenEmpty, "hint"));
}

} // namespace rankscope::app
