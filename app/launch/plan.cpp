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
    // "parallel.pp = 3: allowed is ...", "model.foo: unknown key; ..."
    const QString message = value.toString();
    const QString key = message.section(QLatin1Char(':'), 0, 0).section(QLatin1String(" = "), 0, 0);
    return { key.contains(QLatin1Char(' ')) ? QString() : key, message };
}

double number(const QJsonObject& object, const char* key) { return object[QLatin1String(key)].toDouble(); }

/// "2 ranks: dp 1, tp 1, pp 2, ep 1 · 1 thread each", what a rank keeps, the schedule, and the backend's warnings.
QStringList summaryOf(const QJsonObject& plan)
{
    QStringList lines;
    const QJsonObject layout = plan["layout"].toObject();
    if (!layout.isEmpty()) {
        const int ranks = plan["ranks"].toInt();
        const int threads = plan["threads"].toInt();
        QString line = QStringLiteral("%1: dp %2, tp %3, pp %4, ep %5 · %6 each")
                           .arg(ranks == 1 ? QStringLiteral("1 rank") : QStringLiteral("%1 ranks").arg(ranks))
                           .arg(number(layout, "dp"))
                           .arg(number(layout, "tp"))
                           .arg(number(layout, "pp"))
                           .arg(number(layout, "ep"))
                           .arg(threads == 1 ? QStringLiteral("1 thread") : QStringLiteral("%1 threads").arg(threads));
        if (plan["ranks_share_cores"].toBool())
            line += QStringLiteral(" · they share %1 cores").arg(plan["cores"].toInt());
        lines << line;
        double most = 0;
        for (const QJsonValue& rank : layout["ranks"].toArray())
            most = std::max(most, number(rank.toObject(), "memory_bytes"));
        lines << QStringLiteral("%1 million parameters · at most %2 MB a rank")
                     .arg(number(plan, "parameters") / 1e6, 0, 'g', 3)
                     .arg(most / 1e6, 0, 'f', 0);
    }
    const QJsonObject schedule = plan["schedule"].toObject();
    if (!schedule.isEmpty() && number(layout, "pp") > 1) {
        lines << QStringLiteral("%1, %2 micro-batches · a balanced pipeline is idle for %3 % of a step")
                     .arg(schedule["name"].toString())
                     .arg(schedule["micro_batches"].toInt())
                     .arg(100 * number(schedule, "bubble_share"), 0, 'f', 1);
    }
    for (const QJsonValue& warning : plan["warnings"].toArray())
        lines << warning.toString();
    return lines;
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
        return tracing::Error(
            "read the plan: " + fault.errorString().toStdString() + " at byte " + std::to_string(fault.offset));
    const QJsonObject object = document.object();
    Plan plan;
    plan.ranks = object["ranks"].toInt();
    plan.summary = summaryOf(object);
    for (const QJsonValue& each : object["keys"].toArray()) {
        const QJsonObject key = each.toObject();
        plan.keys.push_back(
            { key["key"].toString(), key["meaning"].toString(), key["allowed"].toString(), wordOf(key["value"]) });
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
        emit failed(
            QStringLiteral("rankscope-train is neither beside this program nor on the PATH; build or install it"));
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
        emit failed(QString::fromUtf8(process_.readAllStandardError()).trimmed()
            + QString::fromStdString(plan.error().message()));
}

} // namespace rankscope::app
