#include "app/launch/samples.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

namespace rankscope::app {
namespace {

constexpr int kLevelsUp = 4; // build/release/bin lies three under the source tree

QString firstComment(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QString line = QString::fromUtf8(file.readLine()).trimmed();
    return line.startsWith(QLatin1Char('#')) ? line.mid(1).trimmed() : QString();
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
    for (const QFileInfo& file : dir.entryInfoList({ QStringLiteral("*.toml") }, QDir::Files, QDir::Name))
        samples.push_back({ file.completeBaseName(), firstComment(file.filePath()), file.filePath() });
    return samples;
}

QString findProgram(const QString& name, const QString& programFolder)
{
    const QFileInfo beside(QDir(programFolder).filePath(name));
    return beside.isExecutable() ? beside.canonicalFilePath() : QStandardPaths::findExecutable(name);
}

} // namespace rankscope::app
