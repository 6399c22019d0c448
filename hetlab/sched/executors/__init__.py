"""Executors: they act, and report what happened.  Each runs the same scheduler and policies."""
