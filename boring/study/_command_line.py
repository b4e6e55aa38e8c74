"""The words that the command ``boring`` understands, and its help."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import boring

from . import _commands
from ._command_input import UsageError

__all__ = ["parsed"]

DEFAULT_WAIT = 60.0
"""Seconds for which a command waits for its turn (chosen here: an ask may take some)."""

DESCRIPTION = """\
Find the best settings of something that is slow or costly to try.

A study is one file. Ask it for the next settings, try them, tell it the value;
it proposes better settings as it learns which of them matter.
Several machines may work on one file: commands take turns, no number is given
twice, and a value is on disk when 'tell' comes back.
"""

EPILOG = """\
A loop in a shell, for a program that reads its settings as JSON and prints its loss:

  boring init run.jsonl --direction minimize --space '{"gain": [0.1, 10], "angle": [-90, 90]}'
  for i in $(seq 30); do
    asked=$(boring ask run.jsonl --json)
    number=$(echo "$asked" | jq '.suggestions[0].number')
    parameters=$(echo "$asked" | jq -c '.suggestions[0].parameters')
    if value=$(./try-it "$parameters"); then
      boring tell run.jsonl "$number" "$value"
    else
      boring tell run.jsonl "$number" --failed "try-it ended with an error"
    fi
  done
  boring best run.jsonl
  boring report run.jsonl                      # in words
  boring report run.jsonl -o report.html       # with figures, for a browser

'boring COMMAND --help' says more of each.

With --json a command prints one JSON object; numbers that JSON does not know are
written "nan", "inf" and "-inf". Errors then are JSON on standard error, {"error": ...},
and so are notes, {"note": ...}; each is one line.

Exit codes:
    0  done
    1  refused: wrong input, or a file that cannot be read or written
    2  the command line is not understood
    3  another process has the study open, and did not finish within --wait seconds
    4  there is nothing to show yet: no best value, or no subspace
  130  interrupted
"""

INIT_EPILOG = """\
What --space takes: JSON, or a file of it, or a TOML file of the same forms.
  {"gain": [0.1, 10], "angle": [-90, 90]}                   real numbers between bounds
  {"layers": [1, 8]}                                        the same: 3.7 may be asked
  {"layers": {"type": "integer", "low": 1, "high": 8}}      whole numbers
  {"optics": ["old", "new"]}                                choices
  {"gain": {"type": "real", "low": 0.1, "high": 10, "log": true, "unit": "dB"}}
                                                            equal ratios, and a unit
  {"parameters": {"gain": [0.1, 10], "layers": [1, 8]}, "constraints": ["2 * gain <= layers"]}
                                                            what every setting has to meet
The answer says how it was understood.
"""

PLOT_EPILOG = """\
Kinds:
  convergence  best value over the evaluations
  slices       what the model expects along each parameter, through the best settings
  parallel     all settings as lines, coloured by their values
  summary      values over the one or two directions that decide
  loadings     which parameters make up these directions
  importance   share of each parameter
  spectrum     how much each direction decides
  dimension    evidence for each number of directions
"""

TELL_EPILOG = """\
What to say after FILE:
  3 0.25                                  number 3 has the value 0.25
  3 --failed "the lamp broke"             number 3 has none
  --parameters '{"gain": 2}' 0.25         settings that were never asked for
  3 0.25 --constraints -1.5 0.2           and values of two constraints
"""

KINDS = (
    "convergence",
    "importance",
    "loadings",
    "spectrum",
    "dimension",
    "slices",
    "summary",
    "parallel",
)


NEGATIVE = re.compile(r"-(\.?\d|(inf|infinity|nan)$)", re.IGNORECASE)
"""Words that are values and no options, such as -1e-5 or -inf."""


class _Parser(argparse.ArgumentParser):
    def __init__(self, prog: str | None = None, **options: Any) -> None:
        # An option cut short would be understood here, and not where a word is looked for.
        super().__init__(prog, allow_abbrev=False, **options)
        self._negative_number_matcher = NEGATIVE  # argparse's own knows no exponents

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. Say '{self.prog} --help'.")


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command; of ``tell``, words may follow options."""
    found, more = _parser().parse_known_args(words)
    is_tell = getattr(found, "act", None) is _commands.tell
    if more and not (is_tell and not any(map(_is_option, more))):
        raise UsageError(f"unrecognized arguments: {' '.join(more)}")
    if more:
        found.number_and_value += more
    return found


def _is_option(word: str) -> bool:
    return word.startswith("-") and not NEGATIVE.match(word)


def _parser() -> _Parser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser("boring", description=DESCRIPTION, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"boring {boring.__version__}")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, act: Any, help: str, *, writes: bool = False) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help, formatter_class=raw)
        sub.add_argument("file", metavar="FILE", help="of the study, such as run.jsonl")
        sub.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object"
        )
        if writes:
            sub.add_argument(
                "--wait",
                type=float,
                default=DEFAULT_WAIT,
                metavar="SECONDS",
                help="how long to wait while another process has the study (default: %(default)g)",
            )
        sub.set_defaults(act=act)
        return sub

    init = command("init", _commands.init, "Make a new study.", writes=True)
    init.epilog = INIT_EPILOG
    init.add_argument(
        "--space",
        required=True,
        help='names and what they may hold, such as {"gain": [0.1, 10]}; see below',
    )
    init.add_argument(
        "--direction",
        required=True,
        choices=("minimize", "maximize"),
        help="whether small or large values are good",
    )
    init.add_argument(
        "--optimizer",
        default="boring",
        metavar="NAME",
        help="what proposes; an unknown name gets the list of all (default: boring)",
    )
    init.add_argument(
        "--seed", type=int, metavar="INTEGER", help="makes the study repeatable (default: chance)"
    )
    init.add_argument(
        "--n-initial",
        type=int,
        metavar="N",
        help="points that fill the space before it learns (default: as the optimiser says)",
    )
    init.add_argument(
        "--n-constraints",
        type=int,
        default=0,
        metavar="N",
        help="how many values beside the main one must be <= 0 (default: 0)",
    )
    init.add_argument(
        "--noise-std",
        type=float,
        metavar="SD",
        help="standard deviation of one value, if it is known",
    )
    init.add_argument(
        "--options",
        metavar="JSON",
        help='what else the optimiser takes, such as {"effective_dim": 2}',
    )

    ask = command(
        "ask", _commands.ask, "Print the next settings to try: number, tab, JSON.", writes=True
    )
    ask.add_argument("-n", type=int, default=1, metavar="N", help="how many (default: 1)")
    ask.add_argument(
        "--fixed",
        metavar="JSON",
        help='what the settings have to hold, such as {"gain": 2}; the rest is sought for it. '
        "All of them given, they are asked as they are",
    )

    tell = command("tell", _commands.tell, "Record a value, or a failure.", writes=True)
    tell.epilog = TELL_EPILOG
    tell.add_argument(
        "number_and_value",
        nargs="*",
        metavar="NUMBER VALUE",
        help="number that was asked, and its value; VALUE alone with --parameters",
    )
    tell.add_argument("--parameters", metavar="JSON", help="settings, in place of a number")
    tell.add_argument(
        "--constraints",
        nargs="+",
        type=float,
        metavar="C",
        help="values that must be <= 0; give them last",
    )
    tell.add_argument("--failed", metavar="REASON", help="there is no value, and why")

    withdraw = command(
        "withdraw", _commands.withdraw, "Take back a number that nobody will try.", writes=True
    )
    withdraw.add_argument("number", type=int, metavar="NUMBER", help="number that was asked")

    command(
        "status",
        _commands.status,
        "Show how many values there are, and the settings that are outstanding.",
    )
    best = command(
        "best", _commands.best, "Print the best value and its settings: value, tab, JSON."
    )
    best.add_argument(
        "--by-mean",
        action="store_true",
        help="of noisy values: what is best on average, by the model; mean, tab, standard "
        "deviation, tab, JSON",
    )
    predict = command(
        "predict",
        _commands.predict,
        "Print what the model expects of settings: mean, tab, standard deviation.",
    )
    predict.add_argument(
        "--parameters", metavar="JSON", required=True, help="settings, tried or not"
    )
    command(
        "subspace",
        _commands.subspace,
        "Describe the directions that decide, and how far to trust them.",
    )
    plot = command("plot", _commands.plot, "Draw a picture; needs matplotlib.")
    plot.epilog = PLOT_EPILOG
    plot.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT.png",
        help="of the picture: .png, .svg or .pdf",
    )
    plot.add_argument(
        "--kind",
        choices=KINDS,
        default="convergence",
        metavar="KIND",
        help="which one, see below (default: %(default)s)",
    )
    plot.add_argument(
        "--value-label", metavar="TEXT", help='what the values are, such as "loss (m)"'
    )
    export = command(
        "export", _commands.export, "Write all values to a file that ends in .csv or .json."
    )
    export.add_argument("-o", "--output", required=True, metavar="DATA.csv", help="or DATA.json")
    add = command(
        "import", _commands.add, "Add earlier values from a CSV file or another study.", writes=True
    )
    add.add_argument(
        "data",
        metavar="DATA",
        help="CSV file with a column for each parameter and one of values; or a study",
    )
    add.add_argument(
        "--fill",
        metavar="JSON",
        help='values of parameters that the data do not know, such as {"gain": 2}',
    )
    add.add_argument(
        "--skip-outside",
        action="store_true",
        help="leave out what the space does not hold, such as values beyond a narrower range",
    )
    add.add_argument(
        "--value", default="value", metavar="COLUMN", help="column of values (default: value)"
    )
    report = command(
        "report",
        _commands.report,
        "Say what was found: in words here, or as a page of HTML with figures.",
    )
    report.add_argument(
        "-o", "--output", metavar="REPORT.html", help="write the page; it needs no other file"
    )
    report.add_argument(
        "--watch",
        type=float,
        metavar="SECONDS",
        help="write the page again whenever the study changes, until Ctrl-C; browsers follow",
    )
    report.add_argument(
        "--quick",
        action="store_true",
        help="leave out the subspace, which takes longest: minutes for 100 parameters",
    )
    report.add_argument("--title", help="of the page (default: the name of FILE)")
    report.add_argument(
        "--value-label",
        default="value",
        metavar="TEXT",
        help='what the values are, such as "loss (m)"',
    )
    return parser
