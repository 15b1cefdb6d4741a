#include "app/launch/plan.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>

#include <algorithm>

namespace rankscope::app {
namespace {

constexpr int kPauseMs = 150;

QString wordOf(const QJsonValue& value)
{
    if (value.isDouble())
        return QString::number(value.toDouble(), 'g', 12);
    if (value.isBool())
        return value.toBool() ? QStringLiteral("true") : QStringLiteral("false");
    return value.toString();
}

Plan::Fault faultOf(const QJsonValue& value)
{
    if (value.isObject())
        return { value.toObject()["key"].toString(), value.toObject()["message"].toString() };
    // "parallel.pp = 3: allowed is ..."
    const QString message = value.toString();
    const qsizetype end = message.indexOf(QLatin1String(" = "));
    const QString key = end > 0 ? message.left(end) : QString();
    return { key.contains(QLatin1Char(' ')) ? QString() : key, message };
}

} // namespace

const Plan::Key* Plan::key(const QString& name) const
{
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& each) { return each.name == name; });
    return found == keys.end() ? nullptr : &*found;
}

QString Plan::faultsOf(const QString& name) const
{
    QStringList lines;
    for (const Fault& fault : faults) {
        if (fault.key == name)
            lines.push_back(fault.message);
    }
    return lines.join(QLatin1Char('\n'));
}

tracing::Result<Plan> parsePlan(const QByteArray& json)
{
    QJsonParseError fault;
    const QJsonDocument document = QJsonDocument::fromJson(json, &fault);
    if (!document.isObject())
        return tracing::Error("read the plan: " + fault.errorString().toStdString() + " at byte " + std::to_string(fault.offset));
    const QJsonObject object = document.object();
    Plan plan;
    plan.ranks = object["ranks"].toInt();
    for (const QJsonValue& line : object["summary"].toArray())
        plan.summary.push_back(line.toString());
    for (const QJsonValue& each : object["keys"].toArray()) {
        const QJsonObject key = each.toObject();
        plan.keys.push_back({ key["key"].toString(), key["meaning"].toString(), key["allowed"].toString(), wordOf(key["value"]) });
    }
    for (const QJsonValue& each : object["errors"].toArray())
        plan.faults.push_back(faultOf(each));
    return plan;
}

PlanQuery::PlanQuery(QString program, QObject* parent)
    : QObject(parent)
    , program_(std::move(program))
{
    pause_.setSingleShot(true);
    pause_.setInterval(kPauseMs);
    connect(&pause_, &QTimer::timeout, this, &PlanQuery::run);
    connect(&process_, &QProcess::finished, this, &PlanQuery::read);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            emit failed(QStringLiteral("start %1: %2").arg(program_, process_.errorString()));
    });
}

PlanQuery::~PlanQuery()
{
    process_.disconnect(this);
    process_.kill();
    process_.waitForFinished();
}

void PlanQuery::ask(const QString& configuration, const QStringList& settings)
{
    arguments_ = { QStringLiteral("--plan") };
    if (!configuration.isEmpty())
        arguments_ << configuration;
    arguments_ << settings << QStringLiteral("--json");
    pause_.start();
}

void PlanQuery::run()
{
    if (program_.isEmpty()) {
        emit failed(QStringLiteral("rankscope-train is neither beside this program nor on the PATH; build or install it"));
        return;
    }
    if (process_.state() != QProcess::NotRunning) {
        askAgain_ = true;
        process_.kill();
        return;
    }
    process_.start(program_, arguments_);
}

void PlanQuery::read()
{
    if (askAgain_) {
        askAgain_ = false;
        run();
        return;
    }
    const auto plan = parsePlan(process_.readAllStandardOutput());
    if (plan)
        emit planned(*plan);
    else
        emit failed(QString::fromUtf8(process_.readAllStandardError()).trimmed() + QString::fromStdString(plan.error().message()));
}

} // namespace rankscope::app
