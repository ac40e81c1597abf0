"""``anabranch`` and ``python -m anabranch`` are the command line."""

# The module signal imports enum first: a Ctrl-C in that millisecond would show a traceback.
import _signal as signal  # type: ignore[import-not-found]
import os


def main() -> None:
    """Runs the command line. Ctrl-C during its imports ends it without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Threads of linear algebra take longer to start than any command has for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from anabranch.start_up import spare_resources  # noqa: PLC0415 - see above

    spare_resources()
    from anabranch.cli import main as run  # noqa: PLC0415 - see above

    run()


if __name__ == "__main__":
    main()
