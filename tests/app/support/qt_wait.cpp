#include "tests/app/support/qt_wait.h"

#include <QCoreApplication>
#include <QElapsedTimer>

namespace rankscope::app {

bool waitFor(const std::function<bool()>& condition, int mostMs)
{
    QElapsedTimer clock;
    clock.start();
    while (!condition()) {
        if (clock.elapsed() > mostMs)
            return false;
        QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 10);
    }
    return true;
}

} // namespace rankscope::app
