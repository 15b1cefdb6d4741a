#pragma once

#include "tracing/model/result.h"

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <QVector>

namespace rankscope::app {

/// What `rankscope-train --plan` says about a configuration. The app knows nothing of it by itself.
struct Plan {
    struct Key {
        QString name; ///< "parallel.dp"
        QString meaning;
        QString allowed;
        QString value; ///< what it would be
    };
    struct Fault {
        QString key; ///< empty: concerns no single one
        QString message;
    };
    int ranks = 0; ///< 0: not known
    QStringList summary; ///< layout, memory, schedule: one line each
    QVector<Key> keys;
    QVector<Fault> faults;

    bool isRunnable() const { return faults.isEmpty(); }
    const Key* key(const QString& name) const; ///< nullptr: the backend has no such key
    /// The faults of one key, a line each; those of no key for an empty name.
    QString faultsOf(const QString& name) const;
};

tracing::Result<Plan> parsePlan(const QByteArray& json);

/// Asks the backend again whenever the configuration changes; only the newest answer counts.
class PlanQuery : public QObject {
    Q_OBJECT

public:
    explicit PlanQuery(QString program, QObject* parent = nullptr);
    ~PlanQuery() override;

    void ask(const QString& configuration, const QStringList& settings);

signals:
    void planned(const rankscope::app::Plan& plan);
    void failed(const QString& message); ///< there is no answer: program missing, or it said no JSON

private:
    void run();
    void read();

    QString program_;
    QStringList arguments_;
    QTimer pause_; ///< waits until the typing stops
    QProcess process_;
    bool askAgain_ = false;
};

} // namespace rankscope::app
