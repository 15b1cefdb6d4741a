#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace rankscope::app {

/// One message across the page, with what can be done about it. Stays until it is dismissed.
class NoticeBar : public QFrame {
    Q_OBJECT

public:
    explicit NoticeBar(QWidget* parent = nullptr);

    void showMessage(const QString& message, bool hasLog);
    QString message() const;

signals:
    void logRequested();

private:
    QLabel* text_;
    QPushButton* log_;
};

} // namespace rankscope::app
