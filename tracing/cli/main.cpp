#include "tracing/analysis/check/metrics.h"
#include "tracing/analysis/what_if.h"
#include "tracing/cli/commands.h"
#include "tracing/cli/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <exception>
#include <functional>

namespace rankscope::tracing {

namespace {

/// The command that the arguments chose, to run once they are all understood.
using Chosen = std::function<int()>;

CLI::App* addCommand(CLI::App& app, const char* name, const char* does, const char* example)
{
    CLI::App* command = app.add_subcommand(name, does);
    command->footer(std::string("Example:\n  ") + example);
    return command;
}

void addTrain(CLI::App& app, TrainArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "train", "Trains under mpirun and records the run into one file",
        "rankscope train --config samples/quickstart.toml --out run.rsdb train.steps=200 parallel.pp=2");
    command->add_option("--config", arguments.config, "Configuration (TOML)")->type_name("F.toml");
    command->add_option("--out", arguments.out, "Where the run goes; a run file of that name is replaced")
        ->type_name("run.rsdb");
    command
        ->add_option("--rules", arguments.rules,
            "Thresholds that the run is started with, for rankscope check: kept in the file with their SHA-256. "
            "[[detector]] tables in it (kind, threshold, steps, owner, action = notify, mark, checkpoint, stop, "
            "restart) "
            "are watched while it runs")
        ->type_name("F.toml");
    command->add_flag("--json", arguments.json, "One JSON line a step on standard output, also on a terminal");
    command->add_option("settings", arguments.overrides, "Settings that override the configuration's")
        ->type_name("key=value");
    command->callback([&] { chosen = [&] { return trainCommand(arguments); }; });
}

void addCollect(CLI::App& app, CollectArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "collect", "Drains a session's rings into a file (train starts it by itself)",
        "rankscope collect --session /dev/shm/my-session --out run.rsdb");
    command->add_option("--session", arguments.session, "Session directory; RANKSCOPE_SESSION of the ranks")
        ->type_name("DIR")
        ->required();
    command->add_option("--out", arguments.out, "Where the run goes")->type_name("run.rsdb")->required();
    command->add_option("--name", arguments.name, "What the run is called; the file's name if left out");
    command->add_flag("--quiet", arguments.quiet, "Only say what goes wrong");
    command->add_option("--linger", arguments.lingerSeconds, "Seconds without writers until the run counts as over")
        ->type_name("SECONDS");
    command
        ->add_option("--launcher", arguments.launcher,
            "Process that may start ranks again; without it 2 s without writers are enough")
        ->type_name("PID");
    command->callback([&] { chosen = [&] { return collectCommand(arguments); }; });
}

void addImport(CLI::App& app, ImportArguments& arguments, Chosen& chosen)
{
    CLI::App* command
        = addCommand(app, "import", "Makes one run of other tools' traces: a rank a file, or as the files say",
            "rankscope import traces/ --out run.rsdb");
    CLI::Option* inputs = command
                              ->add_option("inputs", arguments.inputs,
                                  "Traces (PyTorch, Chrome, MindStudio, Nsight SQLite, CSV) and folders")
                              ->type_name("INPUT");
    command->add_option("--out", arguments.out, "Where the run goes; a run file of that name is replaced")
        ->type_name("run.rsdb");
    command
        ->add_option("--rules", arguments.rules,
            "Rules of your own (TOML) for what names mean: communication, stages, micro-batches, passes, steps; those "
            "in "
            "~/.config/rankscope/rules/ count always")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command->add_flag("--print-rules", arguments.printRules, "Print the built-in rules, which explain the form");
    command->callback([&, inputs] {
        if (inputs->count() == 0 && !arguments.printRules)
            throw CLI::RequiredError("INPUT");
        chosen = [&] { return importCommand(arguments); };
    });
}

void addInfo(CLI::App& app, InfoArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(
        app, "info", "Says what a run file holds: ranks, rows, losses, provenance", "rankscope info run.rsdb --json");
    CLI::Option* file
        = command->add_option("file", arguments.file, "Run file, or another tool's trace")->type_name("run.rsdb");
    command->add_flag("--json", arguments.json, "As JSON");
    CLI::Option* schema
        = command->add_flag("--schema", arguments.schema, "Print every table and column with its meaning and unit");
    command->callback([&, file, schema] {
        if (file->count() == 0 && schema->count() == 0)
            throw CLI::RequiredError("file");
        chosen = [&] { return infoCommand(arguments); };
    });
}

void addReport(CLI::App& app, ReportArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "report",
        "Says where the time went: split and overlap per rank, collectives, kernels, findings",
        "rankscope report run.rsdb --steps 10:20\n  rankscope report before.rsdb after.rsdb");
    command
        ->add_option("files", arguments.files,
            "Run file, or other tools' traces of one run; two runs give a table of differences")
        ->type_name("run.rsdb [other.rsdb]")
        ->required();
    CLI::Option* json = command->add_flag("--json", arguments.json, "As JSON");
    command->add_flag("--text", arguments.brief, "At most 20 lines, to paste into a message")->excludes(json);
    command->add_option("--steps", arguments.steps, "Count steps A to B only")->type_name("A:B");
    command
        ->add_flag("--hta{rounded}", arguments.hta,
            "Holistic Trace Analysis' quantities by its own rules; --hta=unrounded without its rounding of times")
        ->check(CLI::IsMember({ "rounded", "unrounded" }));
    command->callback([&] { chosen = [&] { return reportCommand(arguments); }; });
}

void addLedger(CLI::App& app, LedgerArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "ledger", "Accounts for every ns of every rank: one leaf each, with its cause",
        "rankscope ledger run.rsdb --steps 10:20\n  rankscope ledger run.rsdb --by rank");
    command->add_option("file", arguments.file, "Run file, or another tool's trace")->type_name("run.rsdb")->required();
    command->add_flag("--json", arguments.json, "As JSON");
    command->add_option("--steps", arguments.steps, "Steps A to B only")->type_name("A:B");
    command->add_option("--by", arguments.by, "What to tell apart: rank, step, leaf (JSON: all, else leaf)")
        ->type_name("rank,step,leaf");
    command->callback([&] { chosen = [&] { return ledgerCommand(arguments); }; });
}

void addCheck(CLI::App& app, CheckArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "check", "Holds a run against thresholds; ends with 1 where one is broken",
        "rankscope train --config samples/quickstart.toml --out run.rsdb --rules samples/rules.toml\n"
        "  rankscope check run.rsdb --rules samples/rules.toml --junit check.xml");
    command->add_option("files", arguments.files, "Run files")->type_name("run.rsdb ...")->required();
    command
        ->add_option("--rules", arguments.rules,
            "[[rule]] tables with name, metric, at_most or at_least, and if wanted steps = \"A:B\", runs = "
            "[\"NAME\"] (that it is about, all of which must be shown), owner, and held_out = true for steps or runs "
            "that "
            "are looked at once. Metrics:\n"
                + metricHelp())
        ->type_name("F.toml")
        ->required();
    command->add_option("--junit", arguments.junit, "Writes the result as JUnit's XML")->type_name("F.xml");
    command->add_option("--markdown", arguments.markdown, "Writes a summary in Markdown")->type_name("F.md");
    command->callback([&] { chosen = [&] { return checkCommand(arguments); }; });
}

void addWatch(CLI::App& app, WatchArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "watch",
        "Watches a run that somebody else has started; ends with it, with 1 where there was an alert",
        "rankscope watch run.rsdb --rules samples/rules.toml");
    command
        ->add_option("file", arguments.file, "Run file that grows, or a finished one: what would the rules have said")
        ->type_name("run.rsdb")
        ->required();
    command
        ->add_option("--rules", arguments.rules,
            "[[detector]] tables as for train --rules. To start ranks again is for whoever has started them: restart "
            "only tells. Alerts go into the run's file where it is recorded on this machine")
        ->type_name("F.toml")
        ->required();
    command->add_flag("--json", arguments.json, "One JSON line an alert");
    command->callback([&] { chosen = [&] { return watchCommand(arguments); }; });
}

void addWhatIf(CLI::App& app, WhatIfArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "what-if", "Replays a run with changes and predicts the time of a step",
        "rankscope what-if run.rsdb fix=2 link.dp=4\n  rankscope what-if AR.csv.gz --published");
    command->add_option("file", arguments.file, "Run file, or another tool's trace")->type_name("run.rsdb")->required();
    CLI::Option* changes
        = command->add_option("changes", arguments.changes, "What is changed, all at once:\n" + whatIfHelp())
              ->type_name("CHANGE");
    command
        ->add_flag("--published", arguments.published,
            "The slowdown of a pipeline timeline by the published rules of StragglerAnalysis instead: S, M_W, M_S, "
            "and what each replica, stage and operation explains")
        ->excludes(changes);
    command->add_flag("--json", arguments.json, "As JSON");
    command->callback([&, changes] {
        if (changes->count() == 0 && !arguments.published)
            throw CLI::RequiredError("a CHANGE, such as fix=2,");
        chosen = [&] { return whatIfCommand(arguments); };
    });
}

void addSql(CLI::App& app, SqlArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "sql", "Asks a run file in SQL, read only",
        "rankscope sql run.rsdb \"SELECT kind, count FROM loss_report\" --csv");
    command->add_option("file", arguments.file, "Run file")->type_name("run.rsdb")->required();
    command->add_option("query", arguments.text, "One SELECT; rankscope info --schema explains the tables")
        ->type_name("\"SELECT ...\"")
        ->required();
    CLI::Option* csv = command->add_flag("--csv", arguments.csv, "Comma-separated values (RFC 4180)");
    command->add_flag("--json", arguments.json, "As JSON")->excludes(csv);
    command->add_option("--rows", arguments.rows, "At most so many rows; 0 is all. On a terminal 1000 if not said")
        ->type_name("N");
    command->callback([&] { chosen = [&] { return sqlCommand(arguments); }; });
}

void addExport(CLI::App& app, ExportArguments& arguments, Chosen& chosen)
{
    CLI::App* command
        = addCommand(app, "export", "Writes a run for other tools: Perfetto, Chrome's trace viewer, tables",
            "rankscope export run.rsdb --perfetto run.pftrace\n  rankscope export run.rsdb --chrome run.json.gz --csv "
            "tables");
    command->add_option("file", arguments.file, "Run file, or another tool's trace")->type_name("run.rsdb")->required();
    command->add_option("--perfetto", arguments.perfetto, "Perfetto protobuf, for ui.perfetto.dev and trace_processor")
        ->type_name("F.pftrace");
    command->add_option("--chrome", arguments.chrome, "Chrome trace JSON; compressed where the name ends in .gz")
        ->type_name("F.json[.gz]");
    command->add_option("--csv", arguments.csv, "spans.csv, counters.csv, ranks.csv and run.csv in this folder")
        ->type_name("DIR");
    command->callback([&] {
        if (arguments.perfetto.empty() && arguments.chrome.empty() && arguments.csv.empty())
            throw CLI::RequiredError("one of --perfetto, --chrome and --csv");
        chosen = [&] { return exportCommand(arguments); };
    });
}

void addOpen(CLI::App& app, OpenArguments& arguments, Chosen& chosen)
{
    CLI::App* command = addCommand(app, "open", "Shows runs in the app", "rankscope open run.rsdb");
    command->add_option("files", arguments.files, "Run files, or other tools' traces")->type_name("FILE")->required();
    command->callback([&] { chosen = [&] { return openCommand(arguments); }; });
}

/// One line, also where CLI11 says it in several.
std::string oneLine(std::string text)
{
    for (char& letter : text) {
        if (letter == '\n')
            letter = ' ';
    }
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string commandNames(CLI::App& app)
{
    std::string names;
    for (const CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
        names += (names.empty() ? "" : ", ") + command->get_name();
    return names;
}

int run(int argc, char** argv)
{
    CLI::App app("Shows where a distributed training run loses its compute.", "rankscope");
    app.set_version_flag("--version", RS_VERSION);
    app.footer("Example:\n  rankscope train --config samples/quickstart.toml --out run.rsdb\n"
               "  rankscope report run.rsdb --text");
    TrainArguments train;
    CollectArguments collect;
    ImportArguments import;
    InfoArguments info;
    ReportArguments report;
    LedgerArguments ledger;
    CheckArguments check;
    WatchArguments watch;
    WhatIfArguments whatIf;
    SqlArguments sql;
    ExportArguments exported;
    OpenArguments open;
    Chosen chosen;
    addTrain(app, train, chosen);
    addCollect(app, collect, chosen);
    addImport(app, import, chosen);
    addInfo(app, info, chosen);
    addReport(app, report, chosen);
    addLedger(app, ledger, chosen);
    addCheck(app, check, chosen);
    addWatch(app, watch, chosen);
    addWhatIf(app, whatIf, chosen);
    addSql(app, sql, chosen);
    addExport(app, exported, chosen);
    addOpen(app, open, chosen);
    app.require_subcommand(1);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
            return app.exit(error);
        const std::string first = argc > 1 ? argv[1] : "";
        const auto commands = app.get_subcommands([&](CLI::App* command) { return command->get_name() == first; });
        const bool knowsCommand = !commands.empty();
        sayError(knowsCommand || first.empty() || first[0] == '-'
                ? fmt::format("{}; see rankscope {}--help", oneLine(error.what()), knowsCommand ? first + " " : "")
                : fmt::format("unknown command {}; expected one of {}", first, commandNames(app)));
        return kWrongUsage;
    }
    return chosen();
}

} // namespace

} // namespace rankscope::tracing

int main(int argc, char** argv)
{
    try {
        const int code = rankscope::tracing::run(argc, argv);
        const bool isLost = rankscope::tracing::sayWhetherOutputFailed();
        return code == rankscope::tracing::kGood && isLost ? rankscope::tracing::kOwnFault : code;
    } catch (const std::exception& error) {
        rankscope::tracing::sayError(error.what());
        return rankscope::tracing::kOwnFault;
    }
}
