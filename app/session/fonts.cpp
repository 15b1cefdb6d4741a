#include "app/session/fonts.h"

#include "tracing/model/check.h"

#include <QFile>
#include <QFontDatabase>

// Resources of a static library are not linked in by themselves; Qt wants this call outside of any namespace.
static void keepResources() { Q_INIT_RESOURCE(fonts); }

namespace rankscope::app {
namespace {

QByteArray read(const QString& name)
{
    keepResources();
    QFile file(QStringLiteral(":/rankscope/fonts/") + name);
    const bool opened = file.open(QIODevice::ReadOnly);
    RS_CHECK(opened, "the fonts are part of the program");
    return file.readAll();
}

} // namespace

QByteArray regularFont() { return read(QStringLiteral("Roboto-Regular.ttf")); }
QByteArray mediumFont() { return read(QStringLiteral("Roboto-Medium.ttf")); }

void registerFonts()
{
    QFontDatabase::addApplicationFontFromData(regularFont());
    QFontDatabase::addApplicationFontFromData(mediumFont());
}

} // namespace rankscope::app
