"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# On a build machine the same examples every time: a new one is a finding for a person, not for somebody else's change.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")
