"""Plans and networks for other programs and real devices: plain files that a person can read and load.

``formats.py`` has the registry of formats, ``write.py`` writes one. Each format is a module with a function
of an :class:`~anabranch.export.job.ExportJob` that answers with an :class:`~anabranch.export.job.Export`.
``layout.py`` has interfaces and addresses, which are the same in all of them; ``destinations.py`` finds
whether a plan can go by destination; ``own_flows.py`` has flows with routes of their own; ``added_load.py``
says what rounding costs.
"""
