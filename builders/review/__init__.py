"""Reviewing excerpts by ear: a page to listen, and the decisions that come back from it."""
