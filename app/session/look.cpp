#include "app/session/look.h"

namespace rankscope::app {

QFont textFont(int pixels)
{
    QFont font(QStringLiteral("Roboto"));
    font.setPixelSize(pixels);
    return font;
}

QFont mediumTextFont(int pixels)
{
    QFont font = textFont(pixels);
    font.setWeight(QFont::Medium);
    return font;
}

void Look::setTheme(Theme theme)
{
    if (theme == theme_)
        return;
    theme_ = theme;
    emit themeChanged();
}

} // namespace rankscope::app
