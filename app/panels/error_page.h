#pragma once

#include <QWidget>

class QLabel;

namespace rankscope::app {

/// Stands where a result would stand: what went wrong, with which value, and what to do.
class ErrorPage : public QWidget {
    Q_OBJECT

public:
    explicit ErrorPage(QWidget* parent = nullptr);

    /// `message` is one line as Result gives it; `path` the file concerned.
    void setError(const QString& path, const QString& message);
    QString details() const { return details_; }

signals:
    void openRequested();

private:
    QLabel* title_;
    QLabel* message_;
    QLabel* advice_;
    QString details_;
};

} // namespace rankscope::app
