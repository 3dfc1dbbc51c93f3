"""What a release needs beside the distributions: that its tag is right, and its notes. Never shipped."""
