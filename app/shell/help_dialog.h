#pragma once

#include <QDialog>
#include <QList>
#include <QPair>
#include <QString>

class QAction;

namespace rankscope::app {

/// Keys and what they do, as they are bound right now.
class HelpDialog : public QDialog {
    Q_OBJECT

public:
    using Bindings = QList<QPair<QString, QString>>; ///< key, what it does

    /// `canvas`: keys that a canvas handles by itself.
    HelpDialog(const QList<QAction*>& actions, const Bindings& canvas, QWidget* parent = nullptr);

    static Bindings bindingsOf(const QList<QAction*>& actions);
};

} // namespace rankscope::app
