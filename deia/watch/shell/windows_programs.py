"""Programs of Windows that run others: `powershell -Command`, `cmd /c`, `iex`, `Start-Process`."""

from __future__ import annotations

from deia.watch.shell.nodes import Inner


def run_by_powershell(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what powershell and pwsh run, with base64 decoded."""
    at = 1
    while at < len(words) and words[at][:1] in ("-", "/"):
        option = words[at][1:].lower()
        at += 1
        if option and "command".startswith(option):
            break
        if option in ("e", "ec") or (len(option) > 1 and "encodedcommand".startswith(option)):
            return _encoded(key, words[at : at + 1])
        if option.startswith("f"):
            return []  # a file
        at += option.startswith(("ex", "ep", "win", "w", "v", "config", "outputf", "inputf", "psc"))
    script = " ".join(words[at:])
    return [Inner(f"{key} -Command", script=stdin if script in ("", "-") else script, kind="powershell")]


def _encoded(key: str, words: list[str]) -> list[Inner]:
    from deia.watch.shell.obfuscation import decoded  # noqa: PLC0415 - hardly any line holds base64

    return [Inner(f"{key} -EncodedCommand", script=decoded("".join(words)), kind="powershell")]


def run_by_cmd(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return what `cmd /c` runs."""
    for at, word in enumerate(words[1:], 1):
        if word.lower() in ("/c", "/k", "//c", "//k", "/r"):
            return [Inner(f"{key} /c", script=" ".join(words[at + 1 :]), kind="cmd")]
    return []


def run_by_iex(key: str, words: list[str], stdin: str) -> list[Inner]:
    """Return what `Invoke-Expression` runs; the value of an expression in parentheses is unknown."""
    at = 1 + (words[1:2] != [] and words[1].lower() == "-command")
    first = "".join(words[at : at + 1])
    if first[:1] == "(":
        return [Inner(key, ["$" + " ".join(words[at:])])]
    return [Inner(key, script=" ".join(words[at:]) or stdin, kind="powershell")]


def run_by_start(key: str, words: list[str], _stdin: str) -> list[Inner]:
    """Return what `Start-Process program -ArgumentList 'x y'` runs, or cmd's `start "" /b program x`."""
    if key == "start":
        rest = [word for word in words[1:] if word and word[:1] != "/"]
        return [Inner(key, rest)]
    line_words = [
        word for word in words[1:] if (word[:1] != "-" or " " in word) and word.lower() not in ("runas", "hidden")
    ]
    return [Inner(key, script=" ".join(line_words), kind="powershell")]
