"""Scripts from a model through the openai client, from written dialogues, and from files that users have."""
