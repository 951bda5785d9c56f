"""Listening: a page on which people rate samples, and their answers as numbers for the card."""
