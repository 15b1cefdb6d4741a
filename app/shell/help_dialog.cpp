#include "app/shell/help_dialog.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeySequence>
#include <QLabel>
#include <QVBoxLayout>

namespace rankscope::app {
namespace {

QLabel* label(const QString& text, const char* look)
{
    auto* made = new QLabel(text);
    made->setProperty("look", look);
    made->setTextFormat(Qt::PlainText);
    return made;
}

QLayout* table(const QString& title, const HelpDialog::Bindings& bindings)
{
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(20);
    grid->setVerticalSpacing(6);
    grid->addWidget(label(title, "title"), 0, 0, 1, 2);
    int row = 1;
    for (const auto& [key, meaning] : bindings) {
        grid->addWidget(label(key, "body"), row, 0);
        grid->addWidget(label(meaning, "dim"), row, 1);
        ++row;
    }
    grid->setRowStretch(row, 1);
    grid->setColumnStretch(1, 1);
    return grid;
}

} // namespace

HelpDialog::Bindings HelpDialog::bindingsOf(const QList<QAction*>& actions)
{
    Bindings bindings;
    for (const QAction* action : actions) {
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts())
            keys << key.toString(QKeySequence::NativeText);
        if (!keys.isEmpty() && action->isVisible())
            bindings << qMakePair(
                keys.join(QStringLiteral(", ")), action->text().remove(QLatin1Char('&')).remove(QStringLiteral("…")));
    }
    return bindings;
}

HelpDialog::HelpDialog(const QList<QAction*>& actions, const Bindings& canvas, QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(tr("Keys"));
    auto* tables = new QHBoxLayout;
    tables->setSpacing(40);
    tables->addLayout(table(tr("Everywhere"), bindingsOf(actions)));
    if (!canvas.isEmpty())
        tables->addLayout(table(tr("Timeline"), canvas));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 20, 20, 16);
    column->setSpacing(16);
    column->addLayout(tables);
    column->addWidget(buttons);
}

} // namespace rankscope::app
