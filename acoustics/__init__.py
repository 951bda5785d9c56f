"""HOW it sounds: pure functions on float32 arrays of shape (n,), one channel."""
