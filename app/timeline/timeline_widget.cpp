#include "app/timeline/timeline_widget.h"

#include "app/timeline/scene_update.h"

#include <QDateTime>
#include <QPainter>
#include <QScrollBar>
#include <QSignalBlocker>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rankscope::app::timeline {
namespace {

constexpr int kPollMs = 100;
constexpr double kMarginShare = 0.5; ///< of the visible window, loaded on either side so that a pan shows data at once
constexpr std::int64_t kStaleNs = 30'000'000'000; ///< a run that has been silent for longer has no live head
constexpr double kHeadShare = 0.94; ///< where the head stands while it is followed
constexpr std::size_t kFoldFrom = 64; ///< more ranks than this begin as one row each

} // namespace

TimelineWidget::TimelineWidget(QWidget* parent)
    : QWidget(parent)
    , scrollBar_(new QScrollBar(Qt::Vertical, this))
{
    scrollBar_->setSingleStep(static_cast<int>(kFoldedPitch));
    scrollBar_->hide();
    connect(scrollBar_, &QScrollBar::valueChanged, this, [this](int value) { setScroll(static_cast<float>(value)); });
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    clock_.start();
    pollTimer_.setInterval(kPollMs);
    connect(&pollTimer_, &QTimer::timeout, this, [this] {
        if (loader_)
            loader_->poll();
    });
}

TimelineWidget::~TimelineWidget() = default;

void TimelineWidget::openFile(const QString& path)
{
    closeFile();
    loader_ = std::make_unique<Loader>(path.toStdString());
    connect(loader_.get(), &Loader::factsRead, this, &TimelineWidget::takeFacts);
    connect(loader_.get(), &Loader::laneLoaded, this, &TimelineWidget::takeContent);
    connect(loader_.get(), &Loader::ledgerLoaded, this, &TimelineWidget::takeLedger);
    connect(loader_.get(), &Loader::collectiveRead, this, &TimelineWidget::takeCollective);
    connect(loader_.get(), &Loader::failed, this, [this](const QString& message) {
        if (message == lastFailure_) // the next poll fails the same way
            return;
        lastFailure_ = message;
        emit failed(message);
    });
    connect(loader_.get(), &Loader::minimapRead, this, [this](const std::shared_ptr<const Minimap>& minimap) {
        scene_.minimap = minimap;
        update();
    });
    showsWhole_ = true;
    loader_->poll();
    pollTimer_.start();
}

void TimelineWidget::closeFile()
{
    pollTimer_.stop();
    loader_.reset();
    const Theme theme = scene_.theme;
    scene_ = Scene{};
    scene_.theme = theme;
    scene_.width = static_cast<float>(width());
    scene_.height = static_cast<float>(height());
    history_.clear();
    folded_.clear();
    ledger_.reset();
    shownJobs_.clear();
    shownLedgers_.clear();
    answersMissing_ = 0;
    requestPending_ = false;
    following_ = false;
    showsWhole_ = false;
    wantedWindow_.reset();
    topRank_.reset();
    lastFailure_.clear();
    minimapVersion_ = -1;
    update();
}

void TimelineWidget::releaseReaders()
{
    if (loader_)
        loader_->release();
}

void TimelineWidget::setTheme(Theme theme)
{
    scene_.theme = theme;
    update();
}

double TimelineWidget::plotWidth() const
{
    return std::max(16.0, width() - static_cast<double>(kTitleWidth + kRightMargin));
}

bool TimelineWidget::settled() const
{
    return loader_ && scene_.facts->dataVersion != 0 && answersMissing_ == 0 && !requestPending_ && scene_.minimap;
}

void TimelineWidget::takeFacts(const FactsPtr& facts)
{
    const bool isFirst = scene_.facts->dataVersion == 0;
    scene_.facts = facts;
    if (isFirst && facts->ranks.size() > kFoldFrom) {
        for (const tracing::RankInfo& rank : facts->ranks)
            folded_.insert(rank.rank);
    }
    layOutLanes();
    if (facts->run.finished) {
        pollTimer_.stop();
        loader_->release(); // the collector may be waiting to fold the WAL in
        scene_.liveHeadNs.reset();
        scene_.behindNs.reset();
    } else {
        const std::int64_t nowNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
        const std::int64_t behind = nowNs - (facts->run.originUtcNs + facts->window.endNs);
        const bool alive = behind < kStaleNs;
        scene_.liveHeadNs = alive ? std::optional(facts->window.endNs) : std::nullopt;
        scene_.behindNs = alive ? std::optional(behind) : std::nullopt;
    }
    followHead();
    requestPending_ = true;
    requestData();
    requestMinimap();
    if (wantedWindow_)
        showWindow(*std::exchange(wantedWindow_, std::nullopt));
    update();
}

void TimelineWidget::requestMinimap()
{
    constexpr qint64 leastAgeMs = 1000; // it covers the whole run: a tenth of a second more does not show
    const bool isFresh = scene_.minimap && minimapAge_.isValid() && minimapAge_.elapsed() < leastAgeMs;
    const std::int64_t version = scene_.facts->dataVersion;
    if (!isVisible() || version == minimapVersion_ || (isFresh && !scene_.facts->run.finished))
        return;
    minimapVersion_ = version;
    minimapAge_.start();
    loader_->requestMinimap(scene_.facts, static_cast<int>(plotWidth()));
}

void TimelineWidget::followHead()
{
    const tracing::Window run = scene_.facts->window;
    if (showsWhole_) {
        applyView(TimeMap::fit(run, static_cast<double>(kTitleWidth), plotWidth()));
    } else if (following_) {
        TimeMap map = scene_.map;
        map.beginNs = static_cast<double>(run.endNs) - kHeadShare * map.spanNs();
        applyView(map);
    }
}

void TimelineWidget::setFollowing(bool follow)
{
    if (following_ == follow)
        return;
    following_ = follow;
    followHead();
    emit followingChanged(follow);
}

void TimelineWidget::takeContent(quint64 job, const ContentPtr& content)
{
    quint64& shown = shownJobs_[content->lane];
    if (job >= shown) { // an answer to an earlier question may not take the place of a later one's
        shown = job;
        const float header = scene_.headerHeight();
        const auto known = scene_.laneLevels;
        putContent(scene_, content);
        if (known != scene_.laneLevels || header != scene_.headerHeight())
            layOutLanes();
    }
    countAnswer(job);
}

void TimelineWidget::takeLedger(quint64 job, std::int32_t rank, const ContentPtr& content)
{
    quint64& shown = shownLedgers_[rank];
    if (job >= shown) {
        shown = job;
        scene_.ledgers[rank] = content;
    }
    countAnswer(job);
}

void TimelineWidget::countAnswer(quint64 job)
{
    if (job == job_ && answersMissing_ > 0)
        --answersMissing_;
    if (answersMissing_ == 0 && requestPending_)
        requestData();
    update();
}

void TimelineWidget::takeCollective(const CollectiveDetails& details)
{
    if (details.instance != scene_.selection.instance())
        return;
    scene_.selection.parts = details.parts;
    scene_.selection.match = details.match;
    emit selectionChanged(scene_.selection);
    update();
}

Loader::Request TimelineWidget::wanted() const
{
    Loader::Request request;
    request.facts = scene_.facts;
    request.ledger = ledger_;
    std::vector<std::size_t> hidden;
    const float top = scene_.scroll;
    const float bottom = scene_.scroll + scene_.height;
    for (const Box& box : scene_.layout.boxes()) {
        const bool visible = box.bottom() >= top && box.top <= bottom;
        if (box.showsRankSummary() && visible)
            request.ledgers.push_back(box.rank);
        if (box.lane && box.kind == Box::Kind::Lane)
            (visible ? request.lanes : hidden).push_back(*box.lane);
    }
    // Marks and micro-batches of lanes just out of sight matter, those of a thousand ranks do not.
    hidden.resize(std::min<std::size_t>(hidden.size(), 64));
    request.lanes.insert(request.lanes.end(), hidden.begin(), hidden.end());
    return request;
}

void TimelineWidget::requestData()
{
    if (!loader_ || scene_.facts->dataVersion == 0 || !isVisible())
        return;
    const TimeMap& map = scene_.map;
    const double marginNs = kMarginShare * map.spanNs();
    const tracing::Window visible = map.window();
    const bool covered = requestedNsPerPx_ == map.nsPerPx && visible.beginNs >= requestedWindow_.beginNs
        && visible.endNs <= requestedWindow_.endNs;
    // A growing file asks again and again; a question must first be answered, or no answer would ever be shown.
    if (covered && (!requestPending_ || answersMissing_ > 0))
        return;
    requestedWindow_ = { static_cast<std::int64_t>(std::floor(map.beginNs - marginNs)),
        static_cast<std::int64_t>(std::ceil(map.endNs() + marginNs)) };
    requestedNsPerPx_ = map.nsPerPx;
    requestPending_ = false;
    Loader::Request request = wanted();
    request.window = requestedWindow_;
    request.nsPerPx = map.nsPerPx;
    requestedLedgers_ = { request.ledgers.begin(), request.ledgers.end() };
    answersMissing_ = request.lanes.size() + request.ledgers.size();
    loader_->requestLanes(++job_, request);
}

void TimelineWidget::setView(const TimeMap& map, bool jump)
{
    history_.leave(scene_.map, jump, clock_.elapsed());
    showsWhole_ = false;
    setFollowing(false);
    applyView(map);
}

void TimelineWidget::applyView(const TimeMap& map)
{
    const TimeMap placed = map.resized(static_cast<double>(kTitleWidth), plotWidth());
    scene_.map = placed.clampedTo(scene_.facts->window);
    requestData();
    update();
    emit viewChanged(scene_.map.window());
}

void TimelineWidget::layOutLanes()
{
    layOut(scene_, folded_);
    placeScroll(topRank_ ? scene_.layout.extentOf(*topRank_).first : scene_.scroll);
}

void TimelineWidget::setScroll(float scroll)
{
    topRank_.reset();
    placeScroll(scroll);
}

void TimelineWidget::scrollToRank(std::int32_t rank)
{
    topRank_ = rank;
    placeScroll(scene_.layout.extentOf(rank).first);
}

void TimelineWidget::setEmphasis(Emphasis emphasis)
{
    scene_.emphasis = std::move(emphasis);
    update();
}

void TimelineWidget::setLedger(LedgerPtr ledger)
{
    if (ledger == ledger_)
        return;
    ledger_ = std::move(ledger);
    requestPending_ = true;
    requestData();
}

void TimelineWidget::setLateCounts(std::map<std::int32_t, std::int64_t> counts)
{
    scene_.lateCounts = std::move(counts);
    update();
}

void TimelineWidget::placeScroll(float scroll)
{
    const float room = scene_.layout.height() - (scene_.height - scene_.headerHeight());
    const float clamped = std::clamp(std::round(scroll), 0.0F, std::max(0.0F, room));
    const bool moves = clamped != scene_.scroll;
    scene_.scroll = clamped;
    updateScrollBar();
    if (!moves)
        return;
    const std::vector<std::int32_t> ledgers = wanted().ledgers;
    const bool newRank = std::any_of(
        ledgers.begin(), ledgers.end(), [&](std::int32_t rank) { return !requestedLedgers_.contains(rank); });
    requestPending_ |= newRank;
    requestData();
    update();
}

void TimelineWidget::updateScrollBar()
{
    const int header = static_cast<int>(scene_.headerHeight());
    const int page = std::max(0, height() - header);
    const int room = static_cast<int>(std::ceil(scene_.layout.height())) - page;
    const QSignalBlocker quiet(scrollBar_);
    scrollBar_->setGeometry(width() - static_cast<int>(kRightMargin), header, static_cast<int>(kRightMargin), page);
    scrollBar_->setRange(0, std::max(0, room));
    scrollBar_->setPageStep(page);
    scrollBar_->setValue(static_cast<int>(scene_.scroll));
    scrollBar_->setVisible(room > 0 && page > 0);
}

void TimelineWidget::showWindow(tracing::Window window)
{
    if (scene_.facts->dataVersion == 0) {
        wantedWindow_ = window;
        return;
    }
    const std::int64_t margin = window.durationNs() / 25;
    const tracing::Window shown{ window.beginNs - margin, window.endNs + margin };
    setView(TimeMap::fit(shown, static_cast<double>(kTitleWidth), plotWidth()), true);
}

void TimelineWidget::showWindow(tracing::Window window, const std::set<std::int32_t>& ranks)
{
    setEmphasis({ .ranks = ranks });
    showWindow(window);
    if (!ranks.empty())
        scrollToRank(*ranks.begin());
}

void TimelineWidget::select(const Hit& hit)
{
    scene_.selection = Selection{};
    scene_.selection.hit = hit;
    if (hit.span) {
        scene_.selection.name = scene_.facts->name(hit.span->name);
        if (loader_ && hit.span->row == RowKind::Collective && hit.span->instance >= 0)
            loader_->requestCollective(scene_.facts, *hit.span);
    }
    emit selectionChanged(scene_.selection);
    update();
}

void TimelineWidget::markArea(tracing::Window window)
{
    scene_.selection = Selection{};
    scene_.selection.area = window;
    emit selectionChanged(scene_.selection);
    update();
}

void TimelineWidget::clearSelection()
{
    scene_.selection = Selection{};
    emit selectionChanged(scene_.selection);
    update();
}

void TimelineWidget::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.drawImage(QPointF(0, 0), canvas_.draw(scene_, static_cast<float>(devicePixelRatioF())));
}

void TimelineWidget::showEvent(QShowEvent*)
{
    // Nothing is read for a canvas that nobody sees.
    requestData();
    if (loader_ && scene_.facts->dataVersion != 0)
        requestMinimap();
}

void TimelineWidget::resizeEvent(QResizeEvent*)
{
    scene_.width = static_cast<float>(width());
    scene_.height = static_cast<float>(height());
    if (showsWhole_)
        followHead();
    else
        applyView(scene_.map);
    placeScroll(topRank_ ? scene_.layout.extentOf(*topRank_).first : scene_.scroll);
}

} // namespace rankscope::app::timeline
