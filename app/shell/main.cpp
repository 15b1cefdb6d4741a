#include "app/session/fonts.h"
#include "app/session/look.h"
#include "app/shell/main_window.h"
#include "app/shell/render.h"
#include "app/shell/theme.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QTemporaryDir>

#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

namespace {

using namespace rankscope;
using namespace rankscope::app;

// INTERFACES: 0 good, 2 wrong usage, 3 an input could not be read, 4 our own fault.
constexpr int kWrongUsage = 2;
constexpr int kUnreadable = 3;
constexpr int kOurFault = 4;

int fail(int code, const std::string& message)
{
    std::fprintf(stderr, "rankscope-app: %s\n", message.c_str());
    return code;
}

bool hasDisplay()
{
    for (const char* name : { "DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM" }) {
        const QByteArray value = qgetenv(name);
        if (!value.isEmpty())
            return true;
    }
    return false;
}

/// Pictures, help and version need no display; Qt wants to know before it starts.
bool drawsNoWindow(int argc, char** argv)
{
    for (int i = 1; i < argc; ++i) {
        for (const char* option : { "--render", "--help", "-h", "--version", "-v" }) {
            if (std::strncmp(argv[i], option, std::strlen(option)) == 0)
                return true;
        }
    }
    return false;
}

/// Without a window Qt's remarks about windows and desktops help nobody, and hide the one line that an error has.
void dropRemarks(QtMsgType type, const QMessageLogContext&, const QString& message)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "rankscope-app: %s\n", qPrintable(message));
}

struct Options {
    QStringList files;
    QString live;
    std::optional<Theme> theme;
    RenderOptions render;
};

void describe(QCommandLineParser& parser)
{
    parser.setApplicationDescription("Shows where a distributed training run loses its compute.\n\n"
                                     "  rankscope-app run.rsdb\n"
                                     "  rankscope-app rank*.json.gz\n"
                                     "  rankscope-app --render overview.png --view overview run.rsdb");
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument("FILE", "run file to open, or traces and folders to import", "[FILE...]");
    parser.addOption({ "live", "Follow a file that is being recorded; waits until it exists.", "run.rsdb" });
    parser.addOption({ "render", "Draw a picture without a display, and exit.", "OUT.png" });
    parser.addOption({ "size", "Size of the picture, 1600x900 unless given.", "WIDTHxHEIGHT" });
    parser.addOption({ "view", "What to draw: overview, timeline, ledger, losses or welcome.", "VIEW" });
    parser.addOption({ "window", "What to count and show: BEGIN:END in ns, or \"steps A:B\".", "WINDOW" });
    parser.addOption({ "theme", "dark or light.", "THEME" });
}

template <typename T>
bool take(const QCommandLineParser& parser, const char* name, tracing::Result<T> (*parse)(const QString&),
    std::optional<T>& value, std::string& error)
{
    if (!parser.isSet(name))
        return true;
    auto parsed = parse(parser.value(name));
    if (!parsed) {
        error = parsed.error().message();
        return false;
    }
    value = std::move(*parsed);
    return true;
}

/// Empty: all is well; else what is wrong, in one line.
std::string readOptions(const QCommandLineParser& parser, Options& options)
{
    std::string error;
    std::optional<QSize> size;
    std::optional<MainWindow::View> view;
    std::optional<WindowChoice> window;
    if (!take(parser, "size", parseSize, size, error) || !take(parser, "view", parseView, view, error)
        || !take(parser, "window", parseWindow, window, error)
        || !take(parser, "theme", parseTheme, options.theme, error))
        return error;
    options.files = parser.positionalArguments();
    options.live = parser.value("live");
    options.render.output = parser.value("render");
    options.render.size = size.value_or(options.render.size);
    options.render.view = view.value_or(options.render.view);
    options.render.window = window.value_or(options.render.window);
    const bool needsFile = options.render.view != MainWindow::View::Welcome;
    if (!options.render.output.isEmpty() && options.files.size() != (needsFile ? 1 : 0))
        return "--render " + options.render.output.toStdString()
            + ": give the one run file, trace or folder to draw (the welcome page: none)";
    if (!options.live.isEmpty() && !options.files.isEmpty())
        return "--live " + options.live.toStdString() + ": give no other file";
    return {};
}

int run(int argc, char** argv)
{
    const bool noWindow = drawsNoWindow(argc, argv);
    if (noWindow && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    else if (!hasDisplay())
        return fail(kWrongUsage, "there is no display: set DISPLAY, or draw a picture with --render OUT.png FILE");
    if (noWindow)
        qInstallMessageHandler(dropRemarks);
    QApplication application(argc, argv);
    QApplication::setApplicationName("rankscope");
    QApplication::setOrganizationName("rankscope");
    QApplication::setApplicationVersion(RS_VERSION);
    QApplication::setDesktopFileName("org.rankscope.Rankscope");
    registerFonts();

    QCommandLineParser parser;
    describe(parser);
    if (!parser.parse(application.arguments()))
        return fail(kWrongUsage, parser.errorText().toStdString());
    if (parser.isSet("help"))
        parser.showHelp(0);
    if (parser.isSet("version"))
        parser.showVersion();
    Options options;
    if (const std::string error = readOptions(parser, options); !error.empty())
        return fail(kWrongUsage, error);

    QSettings settings;
    const bool light = !options.render.output.isEmpty() ? false : settings.value("theme") == "light";
    Look look(options.theme.value_or(light ? Theme::Light : Theme::Dark));
    applyTheme(application, look.theme());
    QObject::connect(&look, &Look::themeChanged, &application, [&] { applyTheme(application, look.theme()); });
    if (!options.render.output.isEmpty()) {
        // Pictures leave no trace in the list of recent runs. Settings are saved by renaming: never point them at a
        // device, root would replace it.
        const QTemporaryDir nowhere;
        QSettings unkept(nowhere.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
        MainWindow window(look, unkept);
        const auto done = renderToFile(window, options.files.value(0), options.render);
        return done ? 0 : fail(kUnreadable, done.error().message());
    }
    MainWindow window(look, settings);
    window.restoreGeometry(settings.value("window/geometry").toByteArray());
    window.show();
    if (!options.live.isEmpty())
        window.follow(options.live);
    window.openAll(options.files);
    return application.exec();
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        return fail(kOurFault, error.what());
    }
}
