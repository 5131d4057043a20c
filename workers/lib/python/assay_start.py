"""Starts main.py of the folder that the argument names. Where Python is too old, or
what it is to install is missing, says so and ends as a worker that is not installed
does."""

import os
import sys


def lacking(message):
    print(message, file=sys.stderr)
    sys.exit(69)


if sys.version_info < (3, 10):
    lacking(f"this is Python {sys.version.split()[0]}, and the worker needs 3.10: set ASSAY_PYTHON to a newer one")
folder = os.path.abspath(sys.argv[1])
sys.path.insert(0, folder)
try:
    import main  # noqa: F401: it serves, and exits
except ModuleNotFoundError as error:
    if error.name == "_sqlite3":
        lacking(f"{error}: this Python was built without it; install another, and set ASSAY_PYTHON to its program")
    if not os.path.exists(f"{folder}/build") or os.path.exists(f"{folder}/interpreter"):
        raise  # all is installed that is to be
    lacking(f"{error}: assay build {os.path.basename(folder)} makes a worker that has all of its packages")
