"""What all tests of the project need of the process that runs them."""

import signal

# A shell without job control has what it starts in the background ignore Ctrl-C, which all children inherit.
# The tests of Ctrl-C would wait for ever, and a search that nothing ends takes all memory.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
