#include "app/session/recent_files.h"

#include <QFileInfo>

#include <algorithm>

namespace rankscope::app {
namespace {

const auto kGroup = QStringLiteral("recent");
const auto kPath = QStringLiteral("path");
const auto kHeadline = QStringLiteral("headline");

auto find(QVector<RecentFiles::Entry>& entries, const QString& path)
{
    return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.path == path; });
}

QString absolute(const QString& path) { return QFileInfo(path).absoluteFilePath(); }

} // namespace

QVector<RecentFiles::Entry> RecentFiles::entries() const
{
    QVector<Entry> entries;
    const int count = settings_.beginReadArray(kGroup);
    for (int i = 0; i < count; ++i) {
        settings_.setArrayIndex(i);
        entries.push_back({ settings_.value(kPath).toString(), settings_.value(kHeadline).toString() });
    }
    settings_.endArray();
    return entries;
}

void RecentFiles::add(const QString& path)
{
    auto all = entries();
    Entry entry{ absolute(path), {} };
    if (const auto known = find(all, entry.path); known != all.end()) {
        entry = *known;
        all.erase(known);
    }
    all.prepend(entry);
    all.resize(std::min<qsizetype>(all.size(), kMost));
    write(all);
}

void RecentFiles::setHeadline(const QString& path, const QString& headline)
{
    auto all = entries();
    const auto known = find(all, absolute(path));
    if (known == all.end() || known->headline == headline)
        return;
    known->headline = headline;
    write(all);
}

void RecentFiles::remove(const QString& path)
{
    auto all = entries();
    all.removeIf([&](const Entry& entry) { return entry.path == absolute(path); });
    write(all);
}

void RecentFiles::write(const QVector<Entry>& entries)
{
    settings_.remove(kGroup);
    settings_.beginWriteArray(kGroup, static_cast<int>(entries.size()));
    for (int i = 0; i < entries.size(); ++i) {
        settings_.setArrayIndex(i);
        settings_.setValue(kPath, entries[i].path);
        settings_.setValue(kHeadline, entries[i].headline);
    }
    settings_.endArray();
}

} // namespace rankscope::app
