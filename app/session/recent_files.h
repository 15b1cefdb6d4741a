#pragma once

#include <QSettings>
#include <QString>
#include <QVector>

namespace rankscope::app {

/// Runs that were opened before, newest first, with the headline they had.
class RecentFiles {
public:
    struct Entry {
        QString path;
        QString headline; ///< empty until the run was analysed once
    };
    static constexpr int kMost = 10;

    explicit RecentFiles(QSettings& settings)
        : settings_(settings)
    {
    }

    QVector<Entry> entries() const;
    void add(const QString& path); ///< moves it to the front
    void setHeadline(const QString& path, const QString& headline);
    void remove(const QString& path);

private:
    void write(const QVector<Entry>& entries);

    QSettings& settings_;
};

} // namespace rankscope::app
