"""The attributes of a file: what they mean, which of them are read, and what is said of the rest.

`spelling.py` and `units.py` say what a name and a value mean, `choices.py` what the user says, `reading.py`
makes nodes and links of them, and `unread.py` names what is left.
"""
