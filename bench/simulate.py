"""Show in a simulated world with a known truth that learning from use helps and does no harm.

    python bench/simulate.py [--rounds 8] [--drift 0.1] [--seed 1] [--svg FILE] [--json]

People ask in other words than the index uses, and some triggers are noisy; in the second half of the rounds things get
new names. Learning is compared with no learning, and with adding every word of every question as a keyword.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from simulation.rounds import draw, simulated, table


def main() -> None:
    """Run the rounds, print the figures, and draw them if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8, help="of use, propose and apply")
    parser.add_argument("--drift", type=float, default=0.1, help="share of the things renamed in each later round")
    parser.add_argument("--seed", type=int, default=1, help="another gives another world")
    parser.add_argument("--svg", metavar="FILE", help="draw the rounds into this file")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    figures = simulated(rounds=options.rounds, seed=options.seed, drift=options.drift, tell=_show_progress)
    print(json.dumps(figures) if options.json else "\n".join(table(figures)))
    if options.svg:
        Path(options.svg).write_text(draw(figures), encoding="utf-8")


def _show_progress(text: str) -> None:
    sys.stderr.write(f"\r\033[K{text}")


if __name__ == "__main__":
    main()
