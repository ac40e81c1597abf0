"""The systems of the five publications beside each other, on one network and workload.

``systems.py`` is the registry, ``workload.py`` the standard workload, ``subjects.py`` what systems are
compared on, ``measures.py`` what is measured; ``runs.py`` runs it all as studies, ``view.py`` says what came
out, ``output.py`` writes the folder.
"""

from anabranch_publications.comparison.added import added_systems
from anabranch_publications.comparison.measures import MEASURES, Measure
from anabranch_publications.comparison.runs import Comparison, compare
from anabranch_publications.comparison.subjects import Subject, subjects
from anabranch_publications.comparison.systems import SYSTEMS, System, chosen_systems

__all__ = [
    "MEASURES",
    "SYSTEMS",
    "Comparison",
    "Measure",
    "Subject",
    "System",
    "added_systems",
    "chosen_systems",
    "compare",
    "subjects",
]
