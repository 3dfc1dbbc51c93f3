"""What is looked at before a model is written, since lists and maps change without being checked."""
