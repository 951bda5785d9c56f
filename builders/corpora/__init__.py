"""Readers of conversations that users bring themselves."""
