from collections.abc import Iterable


def module_names(paths: Iterable[str]) -> dict[str, str]:
    return {}
