"""Media: each renders the pieces of a view (:mod:`anabranch.media.pieces`), whatever they are about."""
