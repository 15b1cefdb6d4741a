#pragma once

#include <QString>
#include <QVector>
#include <QWidget>

class QHBoxLayout;
class QLabel;
class QMenuBar;

namespace rankscope::app {

/// A fact about the run in a frame.
struct Chip {
    QString text;
    QString tip;
    bool isLive = false;
    bool operator==(const Chip&) const = default;
};

/// 44 px: the run's name, its chips, and the menus. Chips that find no room are left out, the last first.
class HeaderBar : public QWidget {
    Q_OBJECT

public:
    explicit HeaderBar(QWidget* parent = nullptr);

    void setRun(const QString& name, const QVector<Chip>& chips);
    QMenuBar* menuBar() const { return menuBar_; }
    QStringList chipTexts() const; ///< those that are visible

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitChips();

    QLabel* name_;
    QHBoxLayout* chipRow_;
    QVector<Chip> chips_;
    QVector<QLabel*> chipLabels_;
    QMenuBar* menuBar_;
};

} // namespace rankscope::app
