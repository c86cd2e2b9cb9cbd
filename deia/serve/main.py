"""The console script `deia`: has modules come in groups, at half of their price, and runs the command line."""

from __future__ import annotations

from deia.serve.startup.importer import install


def main() -> int:
    """Run the command line; give its exit code."""
    install(__file__.replace("\\", "/").rpartition("/serve/")[0])
    from deia.serve.cli.quick_path import answer  # noqa: PLC0415 - what is imported before does not come in a group

    return answer()


if __name__ == "__main__":
    main()
