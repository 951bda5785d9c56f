"""What a folder must be before it is published, and what a publication would change."""
