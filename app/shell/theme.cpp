#include "app/shell/theme.h"

#include "app/session/look.h"
#include "tracing/model/check.h"

#include <QFile>
#include <QPalette>
#include <QProxyStyle>
#include <QStyleFactory>

#include <array>
#include <utility>

// Resources of a static library are not linked in by themselves; Qt wants this call outside of any namespace.
static void keepThemes() { Q_INIT_RESOURCE(themes); }

namespace rankscope::app {
namespace {

/// Fusion without lines under the menus' letters; Alt still finds them.
class PlainMenuStyle : public QProxyStyle {
public:
    PlainMenuStyle()
        : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion")))
    {
    }
    int styleHint(
        StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* data) const override
    {
        return hint == SH_UnderlineShortcut ? 0 : QProxyStyle::styleHint(hint, option, widget, data);
    }
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override
    {
        // The rail's mark of the chosen page stands at the window's edge.
        return metric == PM_ToolBarItemMargin || metric == PM_ToolBarFrameWidth
            ? 0
            : QProxyStyle::pixelMetric(metric, option, widget);
    }
};

QPalette paletteOf(Theme theme)
{
    const Roles& colors = roles(theme);
    QPalette palette;
    palette.setColor(QPalette::Window, toQColor(colors.canvas));
    palette.setColor(QPalette::Base, toQColor(colors.panel));
    palette.setColor(QPalette::AlternateBase, toQColor(colors.alternate));
    palette.setColor(QPalette::Button, toQColor(colors.panel));
    palette.setColor(QPalette::ToolTipBase, toQColor(colors.panel));
    for (const auto role : { QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText })
        palette.setColor(role, toQColor(colors.text));
    palette.setColor(QPalette::PlaceholderText, toQColor(colors.dim));
    palette.setColor(QPalette::Highlight, toQColor(colors.link));
    palette.setColor(QPalette::HighlightedText, toQColor(colors.canvas));
    palette.setColor(QPalette::Link, toQColor(colors.link));
    for (const auto role : { QPalette::WindowText, QPalette::Text, QPalette::ButtonText })
        palette.setColor(QPalette::Disabled, role, toQColor(colors.dim));
    return palette;
}

} // namespace

QString styleSheet(Theme theme)
{
    keepThemes();
    QFile file(QStringLiteral(":/rankscope/themes/rankscope.qss"));
    const bool opened = file.open(QIODevice::ReadOnly);
    RS_CHECK(opened, "the style sheet is part of the program");
    QString sheet = QString::fromUtf8(file.readAll());
    const Roles& colors = roles(theme);
    const std::array<std::pair<const char*, Color>, 7> words{ {
        { "@canvas@", colors.canvas },
        { "@panel@", colors.panel },
        { "@line@", colors.line },
        { "@text@", colors.text },
        { "@dim@", colors.dim },
        { "@link@", colors.link },
        { "@wait@", leafStyle(Leaf::Wait, theme).ink },
    } };
    for (const auto& [word, color] : words)
        sheet.replace(QLatin1String(word), toQColor(color).name());
    return sheet;
}

void applyTheme(QApplication& application, Theme theme)
{
    application.setStyle(new PlainMenuStyle); // the application owns it
    application.setFont(textFont(13));
    application.setPalette(paletteOf(theme));
    application.setStyleSheet(styleSheet(theme));
}

} // namespace rankscope::app
