"""The studio: a scenario in a browser, which runs again with each change (docs/studio.md).

A page asks and gets answers, and does not know who answers: here, the server of this machine does. All of it
is files (``pages.py``), none of which names an address, so that another answerer can stand behind them.
"""
