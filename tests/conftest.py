"""What holds for all tests."""

import signal

# Where the tests run in the background of a shell, Ctrl-C is ignored, and so would be what the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
