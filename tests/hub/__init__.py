"""A stand-in for the Hub: real HTTP on the loopback, the routes that publishing and loading use, and faults."""
