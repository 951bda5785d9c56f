"""DOING: one verb a file, in the order of the flow."""
