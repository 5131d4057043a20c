"""Starts main.py of the folder that the argument names. Where a package is
missing, says so and ends as a worker that is not installed does."""

import os
import sys

sys.path.insert(0, sys.argv[1])
try:
    import main  # noqa: F401: it serves, and exits
except ModuleNotFoundError as error:
    name = os.path.basename(os.path.abspath(sys.argv[1]))
    print(f"{error}: assay build {name} makes a worker that has all of its packages", file=sys.stderr)
    sys.exit(69)
