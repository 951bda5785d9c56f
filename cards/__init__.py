"""SAYING what was written: reads the built folder and nothing else."""
