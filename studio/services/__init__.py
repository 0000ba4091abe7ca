"""Use cases: load, decide, store in one commit, publish afterwards."""
