#include "app/shell/silence_bar.h"

namespace rankscope::app {
namespace {

constexpr int kLookMs = 1000;
constexpr std::int64_t kOverNs = 30 * 60 * std::int64_t{ 1'000'000'000 }; ///< nobody waits that long for a rank

} // namespace

SilenceBar::SilenceBar(RunSession& session, QWidget* parent)
    : QLabel(parent)
    , session_(session)
{
    setObjectName(QStringLiteral("silence"));
    setWordWrap(true);
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
    hide();
    timer_.setInterval(kLookMs);
    connect(&timer_, &QTimer::timeout, this, &SilenceBar::look);
    connect(&session_, &RunSession::stateChanged, this, &SilenceBar::look);
    connect(&session_, &RunSession::snapshotChanged, this, [this] {
        if (!timer_.isActive() || session_.progress() == RunSession::Progress::Finished)
            look();
    });
}

void SilenceBar::look()
{
    const auto run = session_.snapshot();
    const std::int64_t behindNs = session_.behindNs();
    if (!run || run->run.finished || behindNs > kOverNs) {
        timer_.stop();
        slot_.forget();
        asked_ = false;
        hide();
        return;
    }
    timer_.start();
    if (asked_)
        return;
    asked_ = true;
    const std::int64_t nowNs = run->window.endNs + behindNs;
    session_.detailThread().post<std::vector<Silence>>(
        slot_, [run, nowNs](tracing::TraceReader& reader) { return readSilence(reader, *run, nowNs); }, this,
        [this, nowNs](tracing::Result<std::vector<Silence>> result) {
            asked_ = false;
            if (result) // a file that cannot be read for a moment changes nothing
                take(nowNs, *result);
        });
}

void SilenceBar::take(std::int64_t nowNs, const std::vector<Silence>& silent)
{
    const auto run = session_.snapshot();
    setText(run ? silenceText(silent, run->ranks.size(), nowNs) : QString());
    setVisible(!text().isEmpty());
}

} // namespace rankscope::app
