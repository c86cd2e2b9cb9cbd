"""The console script `deia`: has modules come in groups, at half of their price, and runs the command line."""

from __future__ import annotations

from deia.serve.importer import install


def main() -> int:
    """Run the command line; give its exit code."""
    install(__file__.replace("\\", "/").rpartition("/serve/")[0])
    from deia.serve.command_line import answer  # noqa: PLC0415 - what is imported before does not come in a group

    return answer()


if __name__ == "__main__":
    main()
