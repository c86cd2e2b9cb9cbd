"""Commands that take a question or a text, whose words may begin with a dash: `-18 °C` is no option."""

from __future__ import annotations

from itertools import islice

import click

from deia.serve.cli.flags import is_word


class WordsCommand(click.Command):
    """A command that takes words, of which some only look like options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, words last; of an unknown short option, say how to type it as a word."""
        typed = tuple(args)  # click empties the list
        try:
            return super().parse_args(ctx, self._words_last(args))
        except click.NoSuchOption as error:
            if error.option_name.startswith("--"):
                raise
            word = next((word for word in typed if word.startswith(error.option_name)), error.option_name)
            advice = f"If it is a word, type: {ctx.command_path} -- {word}"
            raise click.UsageError(f"{error.format_message()} {advice}", ctx) from error

    def _words_last(self, args: list[str]) -> list[str]:
        """Return the arguments with the words after a `--`, if one of them looks like an option."""
        takes_value = {name: not getattr(option, "is_flag", False) for option in self.params for name in option.opts}
        options: list[str] = []
        words: list[str] = []
        rest = iter(args)
        for argument in rest:
            if argument == "--":
                words += rest
            elif not argument.startswith("-") or is_word(argument, takes_value):
                words.append(argument)
            else:
                options += [argument, *islice(rest, 1 if takes_value.get(argument) else 0)]
        return [*options, "--", *words] if any(word.startswith("-") for word in words) else args
