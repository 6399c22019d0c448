"""Benchmarks beside the peers: each peer in a process of its own, in turn, in one run."""
