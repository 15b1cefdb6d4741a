#pragma once

#include <QScrollArea>
#include <QString>
#include <QVector>

class QVBoxLayout;

namespace rankscope::app {

/// What stands here when nothing is open: what can be opened, recent runs with their headline, samples to train.
class WelcomePanel : public QScrollArea {
    Q_OBJECT

public:
    struct Item {
        QString name; ///< shown in bold
        QString line; ///< one line about it
        QString path;
    };

    explicit WelcomePanel(QWidget* parent = nullptr);

    void setRecent(const QVector<Item>& items);
    void setSamples(const QVector<Item>& items);

signals:
    void openRequested();
    void folderRequested();
    void newRunRequested();
    void recentChosen(const QString& path);
    void sampleChosen(const QString& path);

private:
    void fill(QVBoxLayout* list, const QVector<Item>& items, const QString& whenEmpty,
        void (WelcomePanel::*chosen)(const QString&));

    QVBoxLayout* recent_;
    QVBoxLayout* samples_;
};

} // namespace rankscope::app
