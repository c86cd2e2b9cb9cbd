"""The same triggers over files instead of calls: scripts, builds and migrations that would do what a trigger knows."""
