#pragma once

#include "app/launch/plan.h"
#include "app/launch/samples.h"

#include <QDialog>
#include <QHash>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace rankscope::app {

/// Chooses what to train and how it is split. What a value means, what is allowed and what is wrong comes from the
/// backend and stands at the field.
class RunDialog : public QDialog {
    Q_OBJECT

public:
    RunDialog(const QVector<Sample>& samples, const QString& trainProgram, QWidget* parent = nullptr);

    void chooseConfiguration(const QString& path);
    QString configuration() const; ///< path of the TOML file
    QStringList settings() const; ///< "parallel.dp=2": what differs from the configuration
    QString output() const; ///< path of the run file
    QString faultAt(const QString& key) const; ///< what is shown at a field
    const Plan& plan() const { return plan_; }

signals:
    void planShown();

private:
    QWidget* buildSource(const QVector<Sample>& samples);
    void addField(QFormLayout* form, const QString& title, QWidget* field, const QString& key);
    QSpinBox* addNumber(QFormLayout* form, const QString& title, const QString& key);
    void browseConfiguration();
    void browseOutput();
    void ask(); ///< asks for the plan of what stands in the fields
    void ranksEdited();
    void show(const Plan& plan);
    void showFailure(const QString& message);
    void setFault(const QString& key, const QString& message);
    void updateStart();

    PlanQuery query_;
    Plan plan_;
    QComboBox* source_;
    QLabel* sourceLine_;
    QSpinBox* ranks_;
    QHash<QString, QSpinBox*> numbers_; ///< by key
    QHash<QString, QString> touched_; ///< keys that a person changed, with their value
    QLineEdit* more_;
    QLineEdit* output_;
    QHash<QString, QWidget*> fields_;
    QHash<QString, QLabel*> faults_;
    QLabel* summary_;
    QLabel* otherFaults_;
    QPushButton* start_;
    bool filling_ = false;
    bool answered_ = false;
};

/// A path for a new run's file that does not exist yet: the sample's name and a number.
QString freshRunPath(const QString& folder, const QString& name);

} // namespace rankscope::app
