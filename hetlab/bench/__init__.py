"""Benchmarks, side by side with what people use otherwise."""
