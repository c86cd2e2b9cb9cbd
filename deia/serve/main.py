"""The console script `deia`: installs the importer that loads modules in groups, and runs the command line."""

from __future__ import annotations

from deia.serve.startup.importer import install


def main() -> int:
    """Run the command line; return its exit code."""
    install(__file__.replace("\\", "/").rpartition("/serve/")[0])
    from deia.serve.cli.quick_path import answer  # noqa: PLC0415 - modules imported earlier are not loaded in groups

    return answer()


if __name__ == "__main__":
    main()
