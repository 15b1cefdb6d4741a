#include "app/launch/run_process.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <array>
#include <csignal>

namespace rankscope::app {
namespace {

constexpr int kPatienceMs = 5000;

/// How a figure that every step prints is written, so that it stands in the same column in every line.
struct Column {
    QLatin1String key;
    QLatin1String word;
    int decimals;
    int width;
    double factor;
    QLatin1String unit;
};
constexpr std::array<Column, 6> kColumns{ {
    { QLatin1String("step"), QLatin1String("step"), 0, 5, 1, {} },
    { QLatin1String("loss"), QLatin1String("loss"), 4, 8, 1, {} },
    { QLatin1String("step_ms"), QLatin1String("time"), 1, 8, 1, QLatin1String(" ms") },
    { QLatin1String("tokens_per_s"), QLatin1String("tokens/s"), 0, 8, 1, {} },
    { QLatin1String("mfu"), QLatin1String("MFU"), 1, 5, 100, QLatin1String(" %") },
    { QLatin1String("grad_norm"), QLatin1String("gradient norm"), 3, 8, 1, {} },
} };

QString columnText(const Column& column, double value)
{
    return column.word + ' ' + QString::number(column.factor * value, 'f', column.decimals).rightJustified(column.width)
        + column.unit;
}

QString valueText(const QJsonValue& value)
{
    if (value.isDouble())
        return QString::number(value.toDouble(), 'g', 5);
    if (value.isBool())
        return value.toBool() ? QStringLiteral("yes") : QStringLiteral("no");
    if (value.isString())
        return value.toString();
    return QString::fromUtf8(
        QJsonDocument(value.isArray() ? QJsonDocument(value.toArray()) : QJsonDocument(value.toObject()))
            .toJson(QJsonDocument::Compact));
}

/// Takes whole lines off the front of a buffer.
template <typename Each> void takeLines(QByteArray& buffer, Each each)
{
    for (qsizetype end = buffer.indexOf('\n'); end >= 0; end = buffer.indexOf('\n')) {
        each(buffer.left(end));
        buffer.remove(0, end + 1);
    }
}

} // namespace

QString readableLine(const QByteArray& line)
{
    const QJsonDocument json = QJsonDocument::fromJson(line);
    if (!json.isObject())
        return QString::fromUtf8(line);
    const QJsonObject object = json.object();
    QStringList words;
    const auto add = [&](const QString& key) {
        if (!object[key].isNull())
            words.push_back(key + " " + valueText(object[key]));
    };
    // A JSON object has no order; what happened comes first, then a step's figures, the rest as it is called.
    QStringList rest = object.keys();
    rest.removeAll(QStringLiteral("schema"));
    if (rest.removeAll(QStringLiteral("event")) > 0)
        add(QStringLiteral("event"));
    for (const Column& column : kColumns) {
        if (rest.removeAll(QString(column.key)) > 0 && object[column.key].isDouble())
            words.push_back(columnText(column, object[column.key].toDouble()));
    }
    for (const QString& key : rest)
        add(key);
    return words.join(QStringLiteral("   "));
}

RunProcess::RunProcess(QObject* parent)
    : QObject(parent)
{
    connect(&process_, &QProcess::started, this, &RunProcess::started);
    connect(&process_, &QProcess::readyReadStandardOutput, this, &RunProcess::readOutput);
    connect(&process_, &QProcess::readyReadStandardError, this, &RunProcess::readErrors);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            end(QStringLiteral("start %1: %2").arg(process_.program(), process_.errorString()));
    });
    connect(&process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        readOutput();
        readErrors();
        if (!errors_.isEmpty())
            lastError_ = QString::fromUtf8(errors_);
        if (stops_ > 0 || (status == QProcess::NormalExit && code == 0))
            return end({});
        if (status == QProcess::CrashExit)
            return end(QStringLiteral("the run was killed. %1").arg(lastError_).trimmed());
        end(lastError_.isEmpty() ? QStringLiteral("the run ended with exit code %1 and said nothing").arg(code)
                                 : lastError_);
    });
}

RunProcess::~RunProcess()
{
    process_.disconnect(this);
    if (!isRunning())
        return;
    ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
    if (!process_.waitForFinished(kPatienceMs)) {
        process_.kill();
        process_.waitForFinished();
    }
}

void RunProcess::start(const QString& program, const QStringList& arguments)
{
    output_.clear();
    errors_.clear();
    lastError_.clear();
    stops_ = 0;
    ended_ = false;
    process_.start(program, arguments);
}

void RunProcess::stop()
{
    if (!isRunning())
        return;
    if (stops_++ == 0)
        ::kill(static_cast<pid_t>(process_.processId()), SIGINT);
    else
        process_.kill();
}

void RunProcess::readOutput()
{
    output_ += process_.readAllStandardOutput();
    takeLines(output_, [this](const QByteArray& text) { emit line(readableLine(text), false); });
}

void RunProcess::readErrors()
{
    errors_ += process_.readAllStandardError();
    takeLines(errors_, [this](const QByteArray& text) {
        const QString words = QString::fromUtf8(text);
        if (!words.trimmed().isEmpty())
            lastError_ = words.trimmed();
        emit line(words, true);
    });
}

void RunProcess::end(const QString& message)
{
    if (ended_)
        return;
    ended_ = true;
    emit finished(message);
}

} // namespace rankscope::app
