"""Lesson tracks: a folder of lessons, and the learner's work folder made from it."""
