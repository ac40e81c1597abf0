"""``anabranch`` and ``python -m anabranch`` are the command line."""

# Nothing else is imported before Ctrl-C is seen to: it would show a traceback. Python has this already.
import _signal as signal  # type: ignore[import-not-found]


def main() -> None:
    """Runs the command line. Ctrl-C during its imports ends it without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _answers_a_shell():
        return
    from anabranch.terminal.garbage import spare_collections  # noqa: PLC0415 - see above

    spare_collections()
    from anabranch.terminal.start_up import spare_resources  # noqa: PLC0415 - see above

    spare_resources()
    from anabranch.terminal.cli import main as run  # noqa: PLC0415 - see above

    run()


def _answers_a_shell() -> bool:
    """Whether a shell has asked what may stand at its cursor, and was told; a Tab imports nothing else."""
    import os  # noqa: PLC0415 - see above

    if not os.environ.get("_ANABRANCH_COMPLETE", "").startswith("complete_"):
        return False
    from anabranch.terminal.completion import answer  # noqa: PLC0415 - see above

    return answer()


if __name__ == "__main__":
    main()
