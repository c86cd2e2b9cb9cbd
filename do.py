"""One command for everything: it makes `.venv` where needed, and runs what is asked, quiet where all is well.

    python3 do.py demo           see a mistake held and a question answered
    python3 do.py test           style, types, the starter commons and all quick tests: nine minutes on two cores
    python3 do.py test --all     everything that must pass, with the slow tests, real installs and coverage
    python3 do.py lint           style, types and the starter commons only
    python3 do.py bench [NAME]   the benchmarks of bench/, or one of them with its own arguments
    python3 do.py frameworks [EXTRA…] [--newest]   the adapters of agent frameworks, each with its real package
    python3 do.py hosts [HOST…] [--all] real agent hosts, by npm, against a fake model on loopback; --help says more
    python3 do.py clients        the clients of other languages with which the server is tested, by npm
    python3 do.py page [--pictures]   the page in headless Chromium, driven by Node; or draw the pictures of docs/page
    python3 do.py docs           write docs/CLI.md, HOSTS.md and BOTS.md anew, from help, the hosts' tables and runs

It needs Python 3.11 and nothing else; it changes nothing outside this folder, and no state of an installed deia.
"""
# ruff: noqa: S603, T201 - it starts the commands that stand in it, and talks to a person

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    Step: TypeAlias = tuple[str, Callable[[], str | None]]  # its name, and what does it

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
BARE = os.path.join(VENV, "bare")  # the project as its users have it: no extras, no tools
STARTER = ROOT  # the starter commons is the commons of this repository
READY = os.path.join(STARTER, "ready")  # the starter as it was read and lowered once; a wheel brings the same
BENCHMARKS = ("hook", "scan", "search")  # the others need folders of labelled data
FRAMEWORKS = ("openai-agents", "langchain", "pydantic-ai", "litellm", "google-adk", "claude-agent-sdk")
CLIENTS = os.path.join(ROOT, "tests", "serve", "server", "clients")  # what npm installs, pinned
BROWSER = os.path.join(ROOT, "tests", "serve", "page", "browser")  # likewise
HOSTS = ("-m", "tests.hosts")
UNREACHED = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH")
PAGES = tuple(os.path.join("docs", name) for name in ("make_cli.py", "make_hosts.py", "make_bots.py"))
PINS = os.path.join("tests", "frameworks", "versions.json")  # the packages of each framework's real conversation
VERDICTS = os.path.join("docs", "frameworks.json")  # what these showed
NEWEST = "--newest"
OLDEST = (3, 11)
COVERAGE_FLOOR = 85  # percent, branches counted
CORES = ("-n", str(os.cpu_count() or 1), "--dist", "worksteal")
PIP_FLAGS = ("--quiet", "--disable-pip-version-check", "--no-input")


class Broken(Exception):  # noqa: N818 - it is the state of a step, shown to a person
    """A step failed; the message is what to show."""


# --- the environment -------------------------------------------------------------------------------------------------


def program(name: str, *, venv: str = VENV) -> str:
    """Return the path of a program in a virtual environment."""
    return os.path.join(venv, "Scripts", f"{name}.exe") if os.name == "nt" else os.path.join(venv, "bin", name)


def set_up(*, dev: bool) -> None:
    """Make `.venv` with the project in it, unless it is there and pyproject.toml has not changed since."""
    wanted = {"python": sys.version, "root": ROOT, "pyproject": digest("pyproject.toml")}
    known = read_marker()
    if known == {**wanted, "dev": True} or (known == {**wanted, "dev": False} and not dev):
        return
    if {**known, "pyproject": "", "dev": ""} != {**wanted, "pyproject": "", "dev": ""}:
        step("make .venv", lambda: make_venv(VENV))
    what = f"{ROOT}[dev]" if dev else ROOT
    step("install deia and its tools" if dev else "install deia", lambda: pip("install", "--editable", what))
    with open(marker(), "w", encoding="utf-8") as file:
        json.dump({**wanted, "dev": dev}, file)


def marker() -> str:
    """Return the file that says what `.venv` was made from."""
    return os.path.join(VENV, "made-from.json")


def read_marker() -> dict[str, object]:
    """Return what `.venv` was made from; empty where it is not there, or its making did not end."""
    if not os.path.exists(program("python")):
        return {}
    try:
        with open(marker(), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def digest(name: str) -> str:
    """Return the SHA-256 of a file of the project."""
    with open(os.path.join(ROOT, name), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def make_venv(folder: str) -> None:
    """Make a virtual environment anew; where Python comes without pip for it, pip of outside serves."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        output_of([sys.executable, "-m", "venv", folder])
    except Broken as error:
        try:
            output_of([sys.executable, "-m", "pip", "--version"])
        except Broken:
            raise Broken(f"{error}\nInstall your system's package for venv (python3-venv), and try again.") from error
        output_of([sys.executable, "-m", "venv", "--clear", "--without-pip", folder])


def pip(*arguments: str, venv: str = VENV) -> None:
    """Run pip for a virtual environment; its words are shown only where it fails."""
    python = program("python", venv=venv)
    inside = os.path.exists(program("pip", venv=venv))
    command = [python, "-m", "pip"] if inside else [sys.executable, "-m", "pip", "--python", python]
    output_of([*command, arguments[0], *PIP_FLAGS, *arguments[1:]])


# --- steps -----------------------------------------------------------------------------------------------------------


def step(name: str, work: Callable[[], str | None]) -> None:
    """Do one thing and say on one line how it went; what it returns is shown in brackets.

    Raises:
        SystemExit: it failed; its output is shown.
    """
    if not attempt(name, work):
        raise SystemExit(1)


def attempt(name: str, work: Callable[[], str | None]) -> bool:
    """Do one thing, say how it went, and return whether it went well."""
    print(f"{name:<44}", end=" ", flush=True)
    went_well, told = outcome(work)
    print(told, flush=True)
    return went_well


def outcome(work: Callable[[], str | None]) -> tuple[bool, str]:
    """Do one thing, and return whether it went well and what to say of it."""
    began = time.monotonic()
    try:
        note = work()
    except (Broken, OSError) as error:
        return False, f"FAILED {time.monotonic() - began:6.1f} s\n\n{error}\n"
    return True, f"ok     {time.monotonic() - began:6.1f} s{f'  ({note})' if note else ''}"


def attempt_all(*lanes: Sequence[Step]) -> bool:
    """Do the steps of several lanes, those of each in their order and the lanes at the same time."""

    def one_after_another(lane: Sequence[Step]) -> bool:
        """Return whether every step of a lane went well; each is reported when it ends."""
        went_well = True
        for name, work in lane:
            is_sound, told = outcome(work)
            print(f"{name:<44} {told}", flush=True)
            went_well = went_well and is_sound
        return went_well

    with ThreadPoolExecutor(len(lanes)) as pool:
        return all([*pool.map(one_after_another, lanes)])


def output_of(
    command: Sequence[str], *, folder: str = ROOT, environ: Mapping[str, str] | None = None, given: str = ""
) -> str:
    """Run a command and return what it printed.

    Raises:
        Broken: it is not there, or exits with anything but 0.
    """
    try:
        done = subprocess.run(
            command,
            input=given.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **(environ or {})},
            check=False,
        )
    except OSError as error:
        raise Broken(f"{command[0]}: {error}") from error
    printed = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode:
        raise Broken(f"$ {' '.join(command)}\n{printed}\n(exit code {done.returncode})")
    return printed


def private(folder: str, *, commons: str = "") -> dict[str, str]:
    """Return an environment in which deia keeps its state in `folder`, so that a person's own stays as it is."""
    return {
        "DEIA_STATE": os.path.join(folder, "state"),
        "DEIA_CACHE": os.path.join(folder, "cache"),
        "DEIA_COMMONS": commons,
        "DEIA_OFF": "",
        "PYTHONIOENCODING": "utf-8",
    }


# --- demo ------------------------------------------------------------------------------------------------------------


def demo() -> int:
    """Show a first injection, a held command and a first search."""
    set_up(dev=False)
    return subprocess.call([program("deia"), "demo"])


# --- checks ----------------------------------------------------------------------------------------------------------


def lint() -> int:
    """Run the checks of style and types, and those of the starter commons."""
    set_up(dev=True)
    return int(not attempt_all(code_checks(), starter_checks()))


def code_checks() -> list[Step]:
    """Return the checks of the code that need no test run, each with its name."""
    return [
        ("ruff check", lambda: quiet(program("ruff"), "check")),
        ("ruff format --check", lambda: quiet(program("ruff"), "format", "--check")),
        ("mypy --strict", lambda: quiet(program("mypy"))),
        ("mypy --strict do.py docs/", lambda: quiet(program("mypy"), "do.py", *PAGES)),
    ]


def starter_checks() -> list[Step]:
    """Return the checks of the starter commons, each with its name."""
    return [
        ("read the starter commons, once for all", prepare_starter),
        ("deia lint, starter commons", lambda: starter("lint")),
        ("deia trigger test, starter commons", lambda: starter("trigger", "test")),
    ]


def quiet(*command: str) -> None:
    """Run a command of which nothing matters but whether it succeeds."""
    output_of(command)


def prepare_starter() -> None:
    """Write into `ready/` what a wheel brings along of the starter: a compile then takes a third of the time."""
    output_of(
        [
            program("python"),
            "-c",
            "import sys; from deia.compile import ready_starter as it; it.make_ready(sys.argv[1])",
            READY,
        ]
    )


def starter(*arguments: str) -> str:
    """Run a deia command on the starter commons; return the last line it prints, without its full stop."""
    with tempfile.TemporaryDirectory() as folder:
        printed = output_of([program("deia"), *arguments], environ=private(folder, commons=STARTER))
    lines = [line for line in printed.splitlines() if line]
    return next((line for line in lines if line[0].isdigit()), "").rstrip(".")


def test(*arguments: str) -> int:
    """Run the checks and the quick tests, or with `--all` everything that must pass.

    The quick tests come last, so that the closing line of most tests ends the output. They alone are measured for
    coverage, which makes tests three times as slow.
    """
    everything = arguments == ("--all",)
    if arguments and not everything:
        raise Broken(f"Unknown: {' '.join(arguments)}. Type: python3 do.py test, or python3 do.py test --all")
    set_up(dev=True)
    wheel = os.path.join(VENV, "wheel")
    lanes = [code_checks() + (package_checks(wheel) if everything else [])]
    lanes += [starter_checks() + (npm_checks() if everything else [])]
    steps = sum(map(len, lanes))
    print(f"Running {steps} checks, two at a time, then the {'' if everything else 'quick '}tests.\n", flush=True)
    passed = [attempt_all(*lanes)]
    if everything:
        os.environ["WHEEL_FOLDER"] = wheel
        passed.append(pytest("slow"))
        passed.append(pytest("not slow", "--cov", f"--cov-fail-under={COVERAGE_FLOOR}", "--cov-report="))
    else:
        passed.append(pytest("not slow"))
        print("Slow tests and real installs were left out; python3 do.py test --all runs them, as CI does.", flush=True)
    return int(not all(passed))


def pytest(which: str, *flags: str) -> bool:
    """Run the tests that are `slow`, or `not slow`, and return whether all passed."""
    print(f"\npytest -m '{which}'", flush=True)
    command = [program("python"), "-m", "pytest", "-m", which, *flags, "--no-header", *CORES]
    return not subprocess.run(command, cwd=ROOT, check=False).returncode


def package_checks(wheel: str) -> list[Step]:
    """Return the checks that install what is built here, each with its name."""
    return [
        ("build the wheel", lambda: build(wheel)),
        ("bare install", lambda: smoke(wheel)),
        ("word forms, nlp extra", forms),
    ]


def npm_checks() -> list[Step]:
    """Return the checks that npm installs something for, each with its name."""
    return [
        ("two real hosts, by npm", quick_hosts),
        ("clients of other languages, by npm", lambda: install_clients() or "not tested: npm is not here or offline"),
        ("what drives a browser, by npm", lambda: install_browser() or "not tested: npm is not here or offline"),
    ]


def build(folder: str) -> str:
    """Build the wheel into `folder`, alone there; return its name."""
    shutil.rmtree(folder, ignore_errors=True)
    pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    return os.listdir(folder)[0]


def smoke(wheel: str) -> None:
    """Install the wheel as a user would, and see that the command, a search and the hook work.

    Raises:
        Broken: one of them does not.
    """
    if not os.path.exists(os.path.join(BARE, digest("pyproject.toml"))):
        make_venv(BARE)
    path = os.path.join(wheel, *os.listdir(wheel))
    pip("install", path, venv=BARE)
    pip("install", "--no-deps", "--force-reinstall", path, venv=BARE)  # the same version may hold other files
    with open(os.path.join(BARE, digest("pyproject.toml")), "w", encoding="utf-8"):
        pass
    deia = program("deia", venv=BARE)
    with tempfile.TemporaryDirectory() as folder:
        environ = private(folder)
        wanted = {
            "search": output_of([deia, "--help"], folder=folder, environ=environ),
            "The call is denied once": output_of([deia, "demo"], folder=folder, environ=environ),
        }
    for word, printed in wanted.items():
        if word not in printed:
            raise Broken(f"The bare install should have said {word!r}. It said:\n{printed}")


def forms() -> str:
    """Test word forms against their table with the `nlp` extra, which other tests run without."""
    import tomllib  # noqa: PLC0415 - an older Python, which is told here what it lacks, does not have it

    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        wanted = tomllib.load(file)["project"]["optional-dependencies"]["nlp"]
    folder = os.path.join(VENV, f"nlp-{digest('pyproject.toml')[:8]}")
    if not os.path.exists(folder):
        pip("install", "--no-deps", "--target", folder, *wanted)
    tests = os.path.join("tests", "compile", "triggers", "test_word_forms.py")
    printed = output_of([program("python"), "-m", "pytest", "-q", tests], environ={**os.environ, "PYTHONPATH": folder})
    if "skipped" in printed:
        raise Broken(f"The nlp extra was installed and is not found:\n{printed}")
    return printed.splitlines()[-1]


def install_clients() -> str:
    """Install the clients of other languages into `.venv/clients`."""
    return install_packages(CLIENTS, "clients")


def install_browser() -> str:
    """Install what drives the browser into `.venv/browser`; the browser itself is the machine's."""
    return install_packages(BROWSER, "browser")


def install_packages(pinned: str, name: str) -> str:
    """Install pinned packages of npm into a folder of `.venv`; nothing of theirs runs before the tests start it.

    Returns where they are, or the empty text where there is no npm, or nothing that it reaches.
    """
    folder, npm = os.path.join(VENV, name), shutil.which("npm")
    wanted = [os.path.join(pinned, name) for name in ("package.json", "package-lock.json")]
    marker_of = os.path.join(folder, digest(wanted[1]))
    if npm is None or os.path.exists(marker_of):
        return os.path.relpath(folder, ROOT) if npm else ""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path in wanted:
        shutil.copy(path, folder)
    flags = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1")
    try:
        output_of([npm, "ci", *flags], folder=folder)
    except Broken as error:
        if any(word in str(error) for word in UNREACHED):
            return ""
        raise
    with open(marker_of, "w", encoding="utf-8"):
        pass
    return os.path.relpath(folder, ROOT)


# --- the rest --------------------------------------------------------------------------------------------------------


def bench(*arguments: str) -> int:
    """Run every benchmark, or the one that is named with its arguments."""
    set_up(dev=False)
    named = [arguments] if arguments else [(name,) for name in BENCHMARKS]
    codes = []
    for name, *rest in named:
        print(f"\n{name}\n", flush=True)
        path = os.path.join("bench", f"{name}.py")
        codes.append(subprocess.run([program("python"), path, *rest], cwd=ROOT, check=False).returncode)
    return max(codes)


def docs() -> int:
    """Write the generated documents anew."""
    set_up(dev=False)
    step("docs/CLI.md", lambda: quiet(program("python"), PAGES[0]))
    step("docs/HOSTS.md", lambda: quiet(program("python"), PAGES[1]))
    step("docs/BOTS.md", lambda: quiet(program("python"), PAGES[2]))
    return 0


def clients() -> int:
    """Install the clients of other languages, and run the server's tests with them, none of which may be skipped."""
    set_up(dev=True)
    step("clients of other languages, by npm", install_clients)
    step("the server and its clients", client_tests)
    return 0


def page(*arguments: str) -> int:
    """Install what drives a browser, and run the page's tests in it, none of which may be skipped; or draw it."""
    set_up(dev=True)
    step("what drives a browser, by npm", install_browser)
    if "--pictures" in arguments:
        step("docs/page", lambda: output_of([program("python"), "-m", "tests.serve.page.pictures"]))
    else:
        step("the page in a browser", lambda: unskipped_tests(os.path.join("tests", "serve", "page")))
    return 0


def hosts(*arguments: str) -> int:
    """Try deia in real agent hosts, which npm installs."""
    set_up(dev=False)
    return subprocess.run([program("python"), *HOSTS, *arguments], cwd=ROOT, check=False).returncode


def quick_hosts() -> str:
    """Try the two hosts that install fastest; return how that went, or why nothing was tried."""
    done = subprocess.run([program("python"), *HOSTS], cwd=ROOT, capture_output=True, text=True, check=False)
    printed = f"{done.stdout}{done.stderr}".strip()
    if done.returncode == 3 and (shutil.which("npm") is None or any(word in printed for word in UNREACHED)):
        return "not tested: npm is not here or offline"
    if done.returncode:
        raise Broken(printed)
    return printed.splitlines()[-1]


def client_tests() -> str:
    """Run the tests with the clients of other languages; return how they went.

    Raises:
        Broken: they fail, or are skipped since the clients are not here.
    """
    return unskipped_tests(os.path.join("tests", "serve", "server", "test_other_clients.py"))


def unskipped_tests(tests: str) -> str:
    """Run some tests and return how they went; raise Broken if they fail, or are skipped."""
    printed = output_of([program("python"), "-m", "pytest", "-q", "-rs", tests])
    if "skipped" in printed:
        raise Broken(f"Node, npm, what npm reaches packages by, and for the page Chromium are needed:\n{printed}")
    return printed.splitlines()[-1]


def frameworks(*arguments: str) -> int:
    """Test each framework's adapter with its own package, in an environment of its own: they do not agree.

    The verdicts of the runs against a scripted model go into docs/frameworks.json, and from there into docs/BOTS.md.
    With `--newest`, the newest packages are taken and pinned instead of those that are pinned.
    """
    newest = NEWEST in arguments
    named = [name for name in arguments if name != NEWEST]
    unknown = [name for name in named if name not in FRAMEWORKS]
    if unknown:
        raise Broken(f"There is no extra {', '.join(unknown)}. Known are: {', '.join(FRAMEWORKS)}.")
    steps = [(name, framework_test(name, newest=newest)) for name in named or FRAMEWORKS]
    passed = [attempt(name, work) for name, work in steps]
    output_of([sys.executable, PAGES[2]])
    return int(not all(passed))


def framework_test(extra: str, *, newest: bool) -> Callable[[], str]:
    """Return the step that installs an extra, runs its adapter's test and a real conversation, and measures a turn."""

    def run() -> str:
        venv = framework_venv(extra, newest=newest)
        name = extra.replace("-", "_")
        test = os.path.join("tests", "frameworks", f"test_{name}.py")
        printed = output_of([program("python", venv=venv), "-m", "pytest", "-q", "-p", "no:cacheprovider", test])
        if "skipped" in printed:
            raise Broken(f"The extra {extra} was installed and is not found:\n{printed}")
        keep_verdicts(output_of([program("python", venv=venv), "-m", "tests.frameworks.verdicts", extra]))
        cost = output_of([program("python", venv=venv), os.path.join("bench", "frameworks.py"), "--only", name])
        passed = next(line for line in reversed(printed.splitlines()) if " passed" in line)
        return f"{passed}; {cost.splitlines()[-1]}"

    return run


def framework_venv(extra: str, *, newest: bool) -> str:
    """Return the environment with an extra and the packages that its real conversation needs, as they are pinned."""
    pinned = read_json(PINS)
    wanted = [pin.partition("==")[0] if newest else pin for pin in pinned[extra]]
    digest_of = hashlib.sha256(repr((digest("pyproject.toml"), wanted)).encode()).hexdigest()
    venv = os.path.join(VENV, "frameworks", f"{extra}-{digest_of[:8]}")
    if newest or not os.path.exists(os.path.join(venv, "ready")):
        make_venv(venv)
        tools = ("pytest>=8.2", "hypothesis>=6.100")
        pip("install", "--editable", f"{ROOT}[{extra}]", *wanted, *tools, venv=venv)
        with open(os.path.join(venv, "ready"), "w", encoding="utf-8"):
            pass
    if newest:
        listed = output_of([program("python", venv=venv), "-m", "pip", "list", "--format=json"])
        found = {package["name"].lower(): package["version"] for package in json.loads(listed.splitlines()[-1])}
        pins = [f"{name}=={found[name.partition('[')[0]]}" for name in wanted]
        write_json(PINS, {**pinned, extra: pins})
    return venv


def keep_verdicts(printed: str) -> None:
    """Keep what the last line of an output says about the runs of a framework."""
    kept = read_json(VERDICTS) if os.path.exists(os.path.join(ROOT, VERDICTS)) else {}
    write_json(VERDICTS, dict(sorted({**kept, **json.loads(printed.splitlines()[-1])}.items())))


def read_json(name: str) -> dict[str, list[str]]:
    """Return the content of a JSON file of the project."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        content: dict[str, list[str]] = json.load(file)
    return content


def write_json(name: str, content: object) -> None:
    """Write a JSON file of the project."""
    with open(os.path.join(ROOT, name), "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(content, indent=2) + "\n")


COMMANDS: dict[str, Callable[..., int]] = {
    "demo": demo, "test": test, "lint": lint, "bench": bench, "frameworks": frameworks, "clients": clients,
    "docs": docs, "hosts": hosts, "page": page,
}  # fmt: skip


def main() -> int:
    """Run what the command line names; return the exit code."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        wanted = ".".join(map(str, OLDEST))
        print(f"deia needs Python {wanted} or newer; this is {found} ({sys.executable}). Try: python3.13 do.py demo")
        return 2
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    typed = sys.argv[1 : sys.argv.index("#") if "#" in sys.argv else None]  # zsh passes on a comment that is typed
    name, arguments = "".join(typed[:1]), typed[1:]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # thousands of processes would each compile what they import
    if name not in COMMANDS or (arguments and name not in {"bench", "frameworks", "hosts", "page", "test"}):
        print((__doc__ or "").strip())
        return 0 if name in {"-h", "--help", "help"} else 2
    try:
        return COMMANDS[name](*arguments)
    except Broken as error:
        print(f"\n{error}")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # a reader such as `head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 1


if __name__ == "__main__":
    sys.exit(main())
