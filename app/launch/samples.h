#pragma once

#include <QString>
#include <QVector>

namespace rankscope::app {

/// A run configuration that comes with the program.
struct Sample {
    QString name; ///< the file's name without its end
    QString line; ///< the first sentence of its first comment: what it shows
    QString path;
};

/// Folder with the samples: beside the installed program, or in the source tree it was built in. Empty: none.
QString sampleFolder(const QString& programFolder);

/// All .toml files of a folder, by name.
QVector<Sample> samplesIn(const QString& folder);

/// Path of one of our programs: beside this one, else on the PATH. Empty: not found.
QString findProgram(const QString& name, const QString& programFolder);

} // namespace rankscope::app
