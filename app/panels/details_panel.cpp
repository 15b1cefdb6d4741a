#include "app/panels/details_panel.h"

#include <QFormLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace rankscope::app {
namespace {

QLabel* line(const char* look)
{
    auto* label = new QLabel;
    label->setProperty("look", look);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

} // namespace

DetailsPanel::DetailsPanel(RunSession& session, const Look& look, QWidget* parent)
    : QScrollArea(parent)
    , session_(session)
    , title_(line("title"))
    , subtitle_(line("hint"))
    , fieldBox_(new QWidget)
    , fields_(new QFormLayout(fieldBox_))
    , parts_(new CollectiveParts(look))
    , conclusion_(line("body"))
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    auto* page = new QWidget;
    page->setObjectName(QStringLiteral("detailsPage"));
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(16, 10, 16, 10);
    column->setSpacing(6);
    column->addWidget(title_);
    column->addWidget(subtitle_);
    auto* body = new QHBoxLayout;
    body->setSpacing(24);
    fields_->setContentsMargins(0, 0, 0, 0);
    fields_->setHorizontalSpacing(16);
    fields_->setVerticalSpacing(3);
    body->addWidget(fieldBox_, 0, Qt::AlignTop);
    body->addWidget(parts_, 1, Qt::AlignTop);
    column->addLayout(body);
    column->addWidget(conclusion_);
    column->addStretch();
    setWidget(page);
    connect(&session_, &RunSession::selectionChanged, this, &DetailsPanel::load);
    clear(tr("Click a span on the timeline to see what the file says about it"));
}

QString DetailsPanel::title() const { return title_->text(); }

void DetailsPanel::load()
{
    const auto snapshot = session_.snapshot();
    const Selection selection = session_.selection();
    if (!snapshot || selection.isEmpty()) {
        slot_.forget();
        clear(tr("Click a span on the timeline to see what the file says about it"));
        return;
    }
    // An area is counted, which takes longer than to read one row.
    ReaderThread& thread
        = selection.kind == Selection::Kind::Area ? session_.analysisThread() : session_.detailThread();
    thread.post<Details>(
        slot_,
        [snapshot, selection](tracing::TraceReader& reader) { return readDetails(reader, *snapshot, selection); }, this,
        [this](tracing::Result<Details> result) {
            if (result)
                fill(*result);
            else
                clear(QString::fromStdString(result.error().message()));
            emit shown();
        });
}

void DetailsPanel::fill(const Details& details)
{
    title_->setText(details.title);
    subtitle_->setText(details.subtitle);
    while (fields_->rowCount() > 0)
        fields_->removeRow(0);
    for (const auto& [name, value] : details.fields) {
        auto* key = line("dim");
        key->setText(name);
        key->setWordWrap(false);
        auto* text = line("body");
        text->setText(value);
        text->setWordWrap(false);
        fields_->addRow(key, text);
    }
    fieldBox_->setVisible(!details.fields.empty());
    parts_->setRows(details.parts);
    parts_->setVisible(!details.parts.empty());
    conclusion_->setText(details.conclusion);
    conclusion_->setVisible(!details.conclusion.isEmpty());
}

void DetailsPanel::clear(const QString& hint) { fill({ tr("Nothing selected"), hint, {}, {}, {} }); }

} // namespace rankscope::app
