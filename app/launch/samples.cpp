#include "app/launch/samples.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include <algorithm>
#include <utility>

namespace rankscope::app {
namespace {

constexpr int kLevelsUp = 4; // build/release/bin lies three under the source tree

/// The first sentence of the comment that the file begins with.
QString firstSentence(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QStringList words;
    while (!file.atEnd()) {
        const QString line = QString::fromUtf8(file.readLine()).trimmed();
        if (!line.startsWith(QLatin1Char('#')) || line.size() == 1)
            break;
        words << line.mid(1).trimmed();
    }
    QString text = words.join(QLatin1Char(' '));
    const auto lead = QStringLiteral("What it shows: ");
    if (text.startsWith(lead))
        text.remove(0, lead.size());
    const qsizetype end = text.indexOf(QLatin1String(". "));
    if (end > 0)
        text.truncate(end + 1);
    return text.isEmpty() ? text : text.left(1).toUpper() + text.mid(1);
}

/// Rules for `rankscope check` lie beside the configurations, and cannot be trained.
bool areRules(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return false;
    while (!file.atEnd()) {
        const QByteArray line = file.readLine().trimmed();
        if (line.startsWith("[[rule]]") || line.startsWith("[[detector]]"))
            return true;
    }
    return false;
}

} // namespace

QString sampleFolder(const QString& programFolder)
{
    QDir folder(programFolder);
    const QString installed = folder.filePath(QStringLiteral("../share/rankscope/samples"));
    if (QFileInfo(installed).isDir())
        return QDir(installed).canonicalPath();
    for (int i = 0; i < kLevelsUp; ++i) {
        const QDir samples(folder.filePath(QStringLiteral("samples")));
        if (!samples.entryList({ QStringLiteral("*.toml") }, QDir::Files).isEmpty())
            return samples.canonicalPath();
        if (!folder.cdUp())
            break;
    }
    return {};
}

QVector<Sample> samplesIn(const QString& folder)
{
    QVector<Sample> samples;
    if (folder.isEmpty())
        return samples;
    const QDir dir(folder);
    for (const QFileInfo& file : dir.entryInfoList({ QStringLiteral("*.toml") }, QDir::Files, QDir::Name)) {
        if (!areRules(file.filePath()))
            samples.push_back({ file.completeBaseName(), firstSentence(file.filePath()), file.filePath() });
    }
    // What a newcomer should start with comes first; then by name, not by file name, which puts "a-4" before "a".
    const auto place = [](const Sample& sample) {
        return std::pair(!sample.name.startsWith(QLatin1String("quickstart")), sample.name);
    };
    std::sort(samples.begin(), samples.end(), [&](const Sample& a, const Sample& b) { return place(a) < place(b); });
    return samples;
}

QString findProgram(const QString& name, const QString& programFolder)
{
    const QFileInfo beside(QDir(programFolder).filePath(name));
    return beside.isExecutable() ? beside.canonicalFilePath() : QStandardPaths::findExecutable(name);
}

} // namespace rankscope::app
