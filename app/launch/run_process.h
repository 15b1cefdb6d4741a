#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace rankscope::app {

/// A training run that this window started: `rankscope train`. The trace goes to a file that is read like any other;
/// only the run's words and its end come this way.
class RunProcess : public QObject {
    Q_OBJECT

public:
    explicit RunProcess(QObject* parent = nullptr);
    ~RunProcess() override; ///< stops the run and waits a moment, so that its file is closed

    void start(const QString& program, const QStringList& arguments);
    bool isRunning() const { return process_.state() != QProcess::NotRunning; }
    /// First an interrupt, on which the run stops its ranks and closes its file; the second time a kill.
    void stop();
    bool wasAskedToStop() const { return stops_ > 0; }

signals:
    void started();
    void line(const QString& text, bool isError); ///< what the run printed; a step's JSON as words
    /// The run is over. `message` is empty where all went well or somebody stopped it, else the run's own last words.
    void finished(const QString& message);

private:
    void readOutput();
    void readErrors();
    void end(const QString& message);

    QProcess process_;
    QByteArray output_;
    QByteArray errors_;
    QString lastError_;
    int stops_ = 0;
    bool ended_ = true;
};

/// `{"step":3,"loss":2.71,...}` as "step     3   loss   2.7100   time    412.0 ms", the same figure in the same column of every
/// line; any other line as it is.
QString readableLine(const QByteArray& line);

} // namespace rankscope::app
