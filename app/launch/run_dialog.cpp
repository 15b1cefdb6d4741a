#include "app/launch/run_dialog.h"

#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QStyle>
#include <QVBoxLayout>

namespace rankscope::app {
namespace {

const auto kDp = QStringLiteral("parallel.dp");
const auto kPp = QStringLiteral("parallel.pp");
const auto kSteps = QStringLiteral("train.steps");
const auto kRanks = QStringLiteral("ranks");
constexpr int kMost = 1'000'000;

QString runFolder()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + "/rankscope/runs";
}

} // namespace

QString freshRunPath(const QString& folder, const QString& name)
{
    const QDir dir(folder);
    for (int i = 1;; ++i) {
        const QString path = dir.filePath(QStringLiteral("%1-%2.rsdb").arg(name).arg(i));
        if (!QFileInfo::exists(path))
            return path;
    }
}

RunDialog::RunDialog(const QVector<Sample>& samples, const QString& trainProgram, QWidget* parent)
    : QDialog(parent)
    , query_(trainProgram)
    , source_(new QComboBox)
    , sourceLine_(new QLabel)
    , ranks_(new QSpinBox)
    , more_(new QLineEdit)
    , output_(new QLineEdit)
    , summary_(new QLabel)
    , otherFaults_(new QLabel)
    , start_(new QPushButton(tr("Start")))
{
    setWindowTitle(tr("New run"));
    setMinimumWidth(620);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(16);
    form->setVerticalSpacing(10);
    addField(form, tr("Configuration"), buildSource(samples), QStringLiteral("data.path"));
    ranks_->setRange(1, kMost);
    ranks_->setButtonSymbols(QAbstractSpinBox::NoButtons);
    ranks_->setEnabled(false);
    addField(form, tr("Ranks"), ranks_, kRanks);
    connect(ranks_, &QSpinBox::valueChanged, this, &RunDialog::ranksEdited);
    addNumber(form, tr("Replicas (dp)"), kDp);
    addNumber(form, tr("Pipeline stages (pp)"), kPp);
    addNumber(form, tr("Steps"), kSteps);
    more_->setPlaceholderText(tr("batch.micro_batches=8 optimizer.lr=0.001"));
    addField(form, tr("More settings"), more_, QStringLiteral("more"));
    connect(more_, &QLineEdit::textChanged, this, &RunDialog::ask);
    auto* outputRow = new QWidget;
    auto* outputLayout = new QHBoxLayout(outputRow);
    outputLayout->setContentsMargins(0, 0, 0, 0);
    auto* browse = new QPushButton(tr("Browse…"));
    connect(browse, &QPushButton::clicked, this, &RunDialog::browseOutput);
    outputLayout->addWidget(output_, 1);
    outputLayout->addWidget(browse);
    addField(form, tr("Run file"), outputRow, QStringLiteral("out"));

    summary_->setProperty("look", "dim");
    otherFaults_->setProperty("look", "fault");
    for (QLabel* label : { summary_, otherFaults_ }) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
    }
    otherFaults_->hide();
    auto* buttons = new QHBoxLayout;
    auto* cancel = new QPushButton(tr("Cancel"));
    start_->setProperty("look", "primary");
    start_->setDefault(true);
    start_->setEnabled(false);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(start_, &QPushButton::clicked, this, &QDialog::accept);
    buttons->addStretch();
    buttons->addWidget(cancel);
    buttons->addWidget(start_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 20, 20, 16);
    column->setSpacing(14);
    column->addLayout(form);
    column->addWidget(otherFaults_);
    column->addWidget(summary_);
    column->addStretch();
    column->addLayout(buttons);

    connect(&query_, &PlanQuery::planned, this, &RunDialog::show);
    connect(&query_, &PlanQuery::failed, this, &RunDialog::showFailure);
    connect(source_, &QComboBox::currentIndexChanged, this, [this] { chooseConfiguration(configuration()); });
    chooseConfiguration(configuration());
}

QWidget* RunDialog::buildSource(const QVector<Sample>& samples)
{
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    auto* row = new QHBoxLayout;
    for (const Sample& sample : samples) {
        source_->addItem(sample.name, sample.path);
        source_->setItemData(source_->count() - 1, sample.line, Qt::ToolTipRole);
    }
    auto* browse = new QPushButton(tr("Browse…"));
    connect(browse, &QPushButton::clicked, this, &RunDialog::browseConfiguration);
    row->addWidget(source_, 1);
    row->addWidget(browse);
    sourceLine_->setProperty("look", "hint");
    sourceLine_->setWordWrap(true);
    column->addLayout(row);
    column->addWidget(sourceLine_);
    return box;
}

void RunDialog::addField(QFormLayout* form, const QString& title, QWidget* field, const QString& key)
{
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(3);
    auto* fault = new QLabel;
    fault->setProperty("look", "fault");
    fault->setWordWrap(true);
    fault->setTextFormat(Qt::PlainText);
    fault->hide();
    column->addWidget(field);
    column->addWidget(fault);
    auto* name = new QLabel(title);
    name->setBuddy(field);
    form->addRow(name, box);
    fields_[key] = field;
    faults_[key] = fault;
}

QSpinBox* RunDialog::addNumber(QFormLayout* form, const QString& title, const QString& key)
{
    auto* number = new QSpinBox;
    // What is allowed is the backend's to say: its words stand at the field, the box itself refuses nothing.
    number->setRange(0, kMost);
    number->setButtonSymbols(QAbstractSpinBox::NoButtons);
    number->setEnabled(false); // until its value is known
    connect(number, &QSpinBox::valueChanged, this, [this, key](int value) {
        if (filling_)
            return;
        touched_[key] = QString::number(value);
        ask();
    });
    numbers_[key] = number;
    addField(form, title, number, key);
    return number;
}

void RunDialog::chooseConfiguration(const QString& path)
{
    int index = source_->findData(path);
    if (index < 0 && !path.isEmpty()) {
        source_->addItem(QFileInfo(path).fileName(), path);
        index = source_->count() - 1;
    }
    source_->setCurrentIndex(index);
    sourceLine_->setText(source_->currentData(Qt::ToolTipRole).toString());
    touched_.clear();
    answered_ = false;
    output_->setText(
        freshRunPath(runFolder(), path.isEmpty() ? QStringLiteral("run") : QFileInfo(path).completeBaseName()));
    ask();
}

QString RunDialog::configuration() const { return source_->currentData().toString(); }
QString RunDialog::output() const { return output_->text(); }
QString RunDialog::faultAt(const QString& key) const
{
    return faults_.contains(key) ? faults_[key]->text() : QString();
}

QStringList RunDialog::settings() const
{
    QStringList settings;
    for (const QString& key : { kDp, kPp, kSteps }) {
        if (touched_.contains(key))
            settings << key + "=" + touched_[key];
    }
    return settings + more_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

void RunDialog::browseConfiguration()
{
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open a configuration"), configuration(), tr("Configurations (*.toml)"));
    if (!path.isEmpty())
        chooseConfiguration(path);
}

void RunDialog::browseOutput()
{
    const QString path = QFileDialog::getSaveFileName(this, tr("Write the run to"), output(), tr("Runs (*.rsdb)"));
    if (!path.isEmpty())
        output_->setText(path);
}

void RunDialog::ask()
{
    start_->setEnabled(false);
    query_.ask(configuration(), settings());
}

/// Ranks is the product of the mesh: more ranks are more replicas of the same pipeline.
void RunDialog::ranksEdited()
{
    if (filling_)
        return;
    const int stages = std::max(1, numbers_[kPp]->value());
    if (ranks_->value() % stages != 0) {
        setFault(kRanks,
            tr("%1 ranks do not divide into pipelines of %2 stages; take a multiple of %2")
                .arg(ranks_->value())
                .arg(stages));
        start_->setEnabled(false);
        return;
    }
    numbers_[kDp]->setValue(ranks_->value() / stages);
}

void RunDialog::show(const Plan& plan)
{
    plan_ = plan;
    answered_ = true;
    filling_ = true;
    for (auto field = numbers_.begin(); field != numbers_.end(); ++field) {
        const Plan::Key* key = plan.key(field.key());
        if (!key)
            continue;
        // A plan that was refused says nothing about the other fields.
        if (plan.isRunnable() && !touched_.contains(field.key()))
            field.value()->setValue(key->value.toInt());
        field.value()->setEnabled(true);
        field.value()->setToolTip(key->meaning + "\n" + tr("allowed: %1").arg(key->allowed));
    }
    if (plan.ranks > 0) {
        ranks_->setEnabled(true);
        ranks_->setValue(plan.ranks);
    }
    filling_ = false;
    for (const QString& key : faults_.keys())
        setFault(key, plan.faultsOf(key));
    QStringList others;
    for (const Plan::Fault& fault : plan.faults) {
        if (!faults_.contains(fault.key))
            others << fault.message;
    }
    if (QStandardPaths::findExecutable(QStringLiteral("mpirun")).isEmpty() && plan.ranks > 1)
        others
            << tr("mpirun is not on the PATH, and %1 ranks need it; install the package openmpi-bin").arg(plan.ranks);
    otherFaults_->setText(others.join(QLatin1Char('\n')));
    otherFaults_->setVisible(!others.isEmpty());
    summary_->setText(plan.summary.join(QLatin1Char('\n')));
    updateStart();
    emit planShown();
}

void RunDialog::showFailure(const QString& message)
{
    answered_ = false;
    otherFaults_->setText(message);
    otherFaults_->show();
    summary_->clear();
    updateStart();
    emit planShown();
}

void RunDialog::setFault(const QString& key, const QString& message)
{
    faults_[key]->setText(message);
    faults_[key]->setVisible(!message.isEmpty());
    QWidget* field = fields_[key];
    field->setProperty("fault", !message.isEmpty());
    field->style()->unpolish(field);
    field->style()->polish(field);
}

void RunDialog::updateStart() { start_->setEnabled(answered_ && plan_.isRunnable() && !output().isEmpty()); }

} // namespace rankscope::app
