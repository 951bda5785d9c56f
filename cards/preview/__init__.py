"""One folder that opens from disk: every sample to see and to hear, without internet."""
