"""``anabranch`` and ``python -m anabranch`` are the command line."""

# The module signal imports enum first: a Ctrl-C in that millisecond would show a traceback.
import _signal as signal  # type: ignore[import-not-found]
import atexit
import gc
import os

_FIRST_COLLECTION = 200_000
"""Objects that a command makes before garbage is first looked for; a short one with its page has 120,000."""
_USUAL = gc.get_threshold()


def main() -> None:
    """Runs the command line. Ctrl-C during its imports ends it without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _answers_a_shell():
        return
    _spare_collections()
    # Threads of linear algebra take longer to start than any command has for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from anabranch.terminal.start_up import spare_resources  # noqa: PLC0415 - see above

    spare_resources()
    from anabranch.terminal.cli import main as run  # noqa: PLC0415 - see above

    run()


def _answers_a_shell() -> bool:
    """Whether a shell has asked what may stand at its cursor, and was told; a Tab imports nothing else."""
    if not os.environ.get("_ANABRANCH_COMPLETE", "").startswith("complete_"):
        return False
    from anabranch.terminal.completion import answer  # noqa: PLC0415 - as above

    return answer()


def _spare_collections() -> None:
    """Looks for garbage only where there can be some: not among what imports make, nor at the exit.

    Nearly all of those objects stay. Looking at them over and over was a fifth of a short command.
    """
    gc.set_threshold(_FIRST_COLLECTION)
    gc.callbacks.append(_collect_as_usual)
    # Files are closed where they are written; nothing waits for a collection at the exit.
    atexit.register(gc.freeze)


def _collect_as_usual(phase: str, _: object) -> None:
    """Ends the delay of the first collection, at which long commands arrive."""
    if phase == "stop":
        gc.callbacks.remove(_collect_as_usual)
        gc.freeze()
        gc.set_threshold(*_USUAL)


if __name__ == "__main__":
    main()
